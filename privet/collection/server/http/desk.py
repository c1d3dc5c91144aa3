"""The operator's desk: what a study's operator sees of it and does with it over HTTP, with the operator's key."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from privet.collection.server.http.downloads import FORMS, file_of, pieces
from privet.collection.server.http.intake import Refused, read_object
from privet.collection.server.http.replies import HEADERS, reply
from privet.collection.server.store.collector import Collector
from privet.collection.server.store.overview import overview
from privet.collection.server.store.screened import Screener
from privet.collection.server.store.successor import Successor
from privet.collection.study.asking import still_to_ask

__all__ = ["LONGEST_DAYS", "SHORTEST_DAYS", "Desk"]

SHORTEST_DAYS, LONGEST_DAYS = 0.001, 3650
_DAYS = 30.0
_BODY_BYTES = 1000


@dataclass(eq=False)
class Desk:
    """The operator's requests, each of which needs the operator's key.

    Attributes:
        collector: The service that the participants use.
        successor: Computes the next round.
        screener: Tests the reports against what honest devices could have sent.
    """

    collector: Collector
    successor: Successor
    screener: Screener = field(default_factory=Screener)

    async def summary(self, request: Request) -> Response:
        """Return what the operator's page shows."""
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
        if not still_to_ask(chain):
            raise Refused(
                409, "no more rounds", "All questions of the study's plan were asked: there is no next round."
            )
        if self.successor.command is None:
            raise Refused(409, "no next round", "This collector was started without a way to compute rounds.")
        number = chain.newest.round + 1
        if not await self.successor.start(number, days):
            raise Refused(409, "computing", "The next round is being computed already.")
        return reply(202, {"round": number, "running": True})

    async def erasures(self, request: Request) -> Response:
        """Return whose reports were erased, for the operator."""
        self.collector.check_operator(request)
        found = await asyncio.to_thread(self.collector.store.erasures)
        return reply(200, {"count": len(found), "erasures": [asdict(each) for each in found]})

    async def export(self, request: Request) -> Response:
        """Return a round's answers, what its panel shows, or the public record of all rounds as a file."""
        self.collector.check_operator(request)
        form, number = request.query_params.get("form", FORMS[0]), request.query_params.get("round")
        if form not in FORMS:
            raise Refused(422, "invalid export", f"The form must be one of {', '.join(FORMS)}.")
        rounds = {str(each.study.round): each.store for each in self.collector.rounds.values()}
        store = self.collector.newest.store if number is None else rounds.get(number)
        if store is None:
            raise Refused(404, "no such round", f"The round must be a number from 1 to {len(rounds)}.")
        if form == "record":
            store = self.collector.store
        file, name, kind = await asyncio.to_thread(file_of, store, form)
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(pieces(file), 200, headers, kind)

    def _summary(self) -> dict[str, Any]:
        self.collector.flush()
        stores = [each.store for each in self.collector.rounds.values()]
        next_round, screening = self.successor.facts(len(stores)), self.screener.of(stores)
        return {**overview(stores), "next": next_round, "screening": screening}


def _days(body: bytes) -> float:
    """Read how long the next round stays open from the body of a request, which may be empty."""
    days = read_object(body, {"days"})["days"] if body else _DAYS
    if isinstance(days, bool) or not isinstance(days, int | float) or not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        expected = f"from {SHORTEST_DAYS} to {LONGEST_DAYS}"
        raise Refused(422, "invalid days", f"The next round must stay open for a number of days {expected}.")
    return float(days)
