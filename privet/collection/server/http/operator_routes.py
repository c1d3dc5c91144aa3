"""The routes of the operator's page: overview, closing, next round, erasures and downloads. Each needs the key."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from privet.collection.server.http.background import NextRound
from privet.collection.server.http.collector import CollectorState
from privet.collection.server.http.intake import read_object
from privet.collection.server.http.replies import HEADERS, Refused, pieces_of_file, reply
from privet.collection.server.store.overview import Screener, overview
from privet.collection.server.store.store import Store

__all__ = ["LONGEST_DAYS", "SHORTEST_DAYS", "Download", "OperatorRoutes"]

SHORTEST_DAYS, LONGEST_DAYS = 0.001, 3650
_DAYS = 30.0
_BODY_BYTES = 1000


@dataclass(frozen=True)
class Download:
    """A form in which an operator can download a study.

    Attributes:
        file: The name of the file.
        kind: Its media type.
        write: Writes the file from the store of a round.
        needs: What a round must have for it: "questions", "panel", or nothing for a file about all rounds.
    """

    file: str
    kind: str
    write: Callable[[Store, Path], object]
    needs: str = ""

    def make(self, store: Store) -> tuple[BinaryIO, str]:
        """Return the open file and its name; it was made in a temporary folder that is gone already.

        Args:
            store: The store of the round; for a file about all rounds, of the first one.
        """
        if self.needs == "panel" and not len(store.form.panel):
            raise Refused(404, "no panel", "This round has no panel.")
        if self.needs == "questions" and not store.study.release.questions:
            raise Refused(404, "no questions", "This round has a panel and no questions. Download the panel's answers.")
        with tempfile.TemporaryDirectory(prefix="privet-") as folder:
            out = Path(folder) / self.file
            self.write(store, out)
            file = out.open("rb")
        return file, f"round-{store.study.round}-{self.file}" if self.needs else self.file


@dataclass(eq=False)
class OperatorRoutes:
    """The requests that an operator makes of a collector.

    Attributes:
        next_round: Computes the next round.
        downloads: The forms of a download, by name; the first is the default.
        screener: Tests the reports against what honest devices could have sent.
    """

    collector: CollectorState
    next_round: NextRound
    downloads: Mapping[str, Download]
    screener: Screener = field(default_factory=Screener)

    async def summary(self, request: Request) -> Response:
        """Return the figures of the operator's page."""
        self.collector.check_operator(request)
        return reply(200, await asyncio.to_thread(self._summary))

    async def close(self, request: Request) -> Response:
        """End the newest round, for its operator."""
        self.collector.check_operator(request)
        newest = self.collector.newest
        await asyncio.to_thread(newest.store.close)
        newest.closed = True
        return reply(200, {"closed": True})

    async def next(self, request: Request) -> Response:
        """Close the newest round and compute the next one in the background; the summary tells how it goes."""
        self.collector.check_operator(request)
        days = _days(await self.collector.intake.body(request, _BODY_BYTES))
        chain = await asyncio.to_thread(self.collector.store.chain)
        if not chain.planned:
            raise Refused(
                409, "no more rounds", "All questions of the study's plan were asked: there is no next round."
            )
        if self.next_round.command is None:
            raise Refused(409, "no next round", "This collector was started without a way to compute rounds.")
        number = chain.newest.round + 1
        if not await self.next_round.start(number, days):
            raise Refused(409, "computing", "The next round is being computed already.")
        return reply(202, {"round": number, "running": True})

    async def erasures(self, request: Request) -> Response:
        """Return whose reports were erased, for the operator."""
        self.collector.check_operator(request)
        found = await asyncio.to_thread(self.collector.store.erasures)
        return reply(200, {"count": len(found), "erasures": [asdict(each) for each in found]})

    async def export(self, request: Request) -> Response:
        """Return a round's answers, its panel's answers, or the public record of all rounds as a file."""
        self.collector.check_operator(request)
        forms, number = list(self.downloads), request.query_params.get("round")
        download = self.downloads.get(request.query_params.get("form", forms[0]))
        if download is None:
            raise Refused(422, "invalid export", f"The form must be one of {', '.join(forms)}.")
        rounds = {str(each.study.round): each.store for each in self.collector.rounds.values()}
        store = self.collector.newest.store if number is None else rounds.get(number)
        if store is None:
            raise Refused(404, "no such round", f"The round must be a number from 1 to {len(rounds)}.")
        file, name = await asyncio.to_thread(download.make, store if download.needs else self.collector.store)
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(pieces_of_file(file), 200, headers, download.kind)

    def _summary(self) -> dict[str, Any]:
        self.collector.flush()
        stores = [each.store for each in self.collector.rounds.values()]
        facts, screening = self.next_round.facts(len(stores)), self.screener.screen(stores)
        return {**overview(stores), "next": facts, "screening": screening}


def _days(body: bytes) -> float:
    """Read how long the next round stays open from the body of a request, which may be empty."""
    days = read_object(body, {"days"})["days"] if body else _DAYS
    if isinstance(days, bool) or not isinstance(days, int | float) or not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        expected = f"from {SHORTEST_DAYS} to {LONGEST_DAYS}"
        raise Refused(422, "invalid days", f"The next round must stay open for a number of days {expected}.")
    return float(days)
