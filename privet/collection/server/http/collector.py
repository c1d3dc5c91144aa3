"""The state of a running collector: its rounds, keys, counts and health, looked after once a second.

Nothing here writes a network address anywhere, and no report is ever logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter as Tally
from collections.abc import AsyncIterator, Callable
from dataclasses import KW_ONLY, dataclass, field

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from privet.collection.server.http.background import Housekeeping
from privet.collection.server.http.intake import Intake, Revoked
from privet.collection.server.http.limits import Limits, RateLimit, address_of
from privet.collection.server.http.monitoring import Events, Health, Metrics, Refusals, Troubles
from privet.collection.server.http.replies import HEADERS, Refused, UnknownStudy, reply, try_later
from privet.collection.server.store.served_round import ServedRound
from privet.collection.server.store.store import Store, StoreFailure
from privet.collection.study.tokens import Access, Tokens
from privet.errors import PrivetError

__all__ = ["SHA256", "CollectorState"]

SHA256 = re.compile("[0-9a-f]{64}")
_UNREADABLE = "The collector cannot read its keys, so it does not know which of the operator's are good; see its log."

_OVER = "This round is over, and a newer one has begun. If it asks you, use the link that you were sent for it."


@dataclass(eq=False)
class CollectorState:
    """The state of one study's collector with all its rounds, which the routes of :func:`create_app` share.

    Attributes:
        store: Where the reports to the first round are kept; the database has the other rounds.
        tokens: Checks the participants' tokens.
        operator_key: Opens the operator's page.
        limits: The most that is taken.
        events: The log.
        renew: Returns the tokens and keys that are good now; asked once a second.
        private_metrics: Show metrics to the operator only.
    """

    store: Store
    tokens: Tokens
    operator_key: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)
    _: KW_ONLY
    events: Events = field(default_factory=Events)
    renew: Callable[[], Access] | None = None
    private_metrics: bool = False

    def __post_init__(self) -> None:
        self.rounds: dict[str, ServedRound] = {}
        self.intake = Intake(self.tokens, self.limits.batch_bytes, self.limits.proxied)
        self.rate = RateLimit(self.limits.rate, self.limits.burst)
        self.access = Access(self.tokens, (self.operator_key,))
        self.store_trouble = Troubles(self.events)
        self.metrics, self.health, self.refusals = Metrics(), Health(self.events), Refusals(self.events)
        self.revoked: Revoked = frozenset()
        self.rejected: Tally[str] = Tally()
        self.keys_read = True

    @property
    def newest(self) -> ServedRound:
        """The last round."""
        return list(self.rounds.values())[-1]

    @contextlib.asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Write while the service lives; look for new rounds, revocations, closings and keys once a second."""
        self.rounds = {}
        tasks: list[asyncio.Task[None]] = []
        with self.health.look():
            self._adopt(self._look(), tasks)
        for each in self.rounds.values():
            self.events("start", study=each.study.id, open=each.is_open(), stored=each.store.count())
        housekeeping = Housekeeping(self.store, self.events)
        await asyncio.to_thread(housekeeping.once)
        tasks += [asyncio.create_task(self._watch(tasks)), asyncio.create_task(housekeeping.run())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(StoreFailure):
                await asyncio.to_thread(self.flush)
            self.refusals.tell(now=True)
            self.events("stop")

    async def figures(self, request: Request) -> Response:
        """Return counts and times in Prometheus' text form."""
        if self.private_metrics:
            self.check_operator(request)
        stored = await asyncio.to_thread(self.newest.store.count)
        waiting = sum(each.writer.waiting for each in self.rounds.values())
        text = self.metrics.text(waiting=waiting, stored=stored)
        return Response(text, media_type=CONTENT_TYPE_LATEST, headers=HEADERS)

    async def alive(self, _: Request) -> Response:
        """Answer as long as the process lives."""
        return reply(200, {"status": "alive"})

    async def ready(self, _: Request) -> Response:
        """Tell whether the store answers and the keys can be read, so that reports can be taken."""
        if not self.keys_read:
            return reply(503, {"status": "keys unreadable"})
        return reply(200, {"status": "ready"}) if self.health.ready else reply(503, {"status": "store away"})

    async def soon(self, unknown: UnknownStudy) -> Refused:
        """Ask for patience if a request is for a round that was just opened, perhaps by another collector."""
        known = isinstance(unknown.study, str) and SHA256.fullmatch(unknown.study) is not None
        if known and await asyncio.to_thread(self.store.blob, str(unknown.study)) is not None:
            # Not 503, after which a proxy would take every collector for broken.
            return try_later(429, "new round", "This round opens in a moment; try again.")
        return unknown

    def refuse(self, refused: Refused) -> Response:
        """Answer a refused request, and count it."""
        self.count(refused.reason)
        return reply(refused.status, {"error": str(refused)}, refused.headers)

    def slow_down(self, request: Request) -> None:
        """Refuse an address that asks too often."""
        wait = self.rate.wait(address_of(request, self.limits.proxied))
        if wait:
            seconds = int(wait) + 1
            raise try_later(429, "too many requests", f"Too many requests; try again in {seconds} s.", seconds)

    def round(self, request: Request) -> ServedRound:
        """Return the round that a request's path names."""
        found = self.rounds.get(request.path_params["study"])
        if found is None:
            raise UnknownStudy(request.path_params["study"], self.rounds)
        return found

    def why_closed(self, found: ServedRound) -> str:
        """Say in a sentence why a round takes no reports, as that another one has taken its place; empty if it does."""
        why = found.why_closed()
        return _OVER if why and found is not self.newest else why

    def node(self, request: Request) -> int:
        """Return the node that a request's token speaks for."""
        return self.intake.node(request, self.revoked)

    def check_operator(self, request: Request) -> None:
        """Refuse a request without a key of the operator, and every one while nobody knows which keys are retired."""
        if not self.keys_read:
            raise try_later(503, "keys unreadable", _UNREADABLE, 5)
        if not self.is_operator(request):
            raise Refused(401, "operator key", "The operator's key is needed.", **{"WWW-Authenticate": "Bearer"})

    def is_operator(self, request: Request) -> bool:
        """Tell whether a request has a key of the operator; nobody has while the keys cannot be read."""
        return self.keys_read and self.access.is_operator(
            request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        )

    def count(self, *reasons: str) -> None:
        """Count refusals by reason."""
        self.rejected.update(reasons)
        self.refusals.add(reasons)
        self.metrics.refuse(reasons)

    async def _watch(self, tasks: list[asyncio.Task[None]]) -> None:
        while True:
            await asyncio.sleep(1)
            with contextlib.suppress(Exception), self.health.look():  # a store that is away is asked again
                self._adopt(await asyncio.to_thread(self._look), tasks)
                await asyncio.to_thread(self.flush)
            self.refusals.tell()

    def _look(self) -> list[ServedRound]:
        """Look for keys, revocations and closings, and return the rounds that are new."""
        self._admit()
        self.revoked = self.store.revoked()
        for known in list(self.rounds.values()):
            was = known.is_open_now
            known.look()
            if was and not known.is_open_now:
                by = "operator" if known.closed else "time"
                self.events("closed", study=known.study.id, by=by, stored=known.store.count())
        new = [each for each in self.store.chain().rounds if each.id not in self.rounds]
        return [ServedRound(self.store.at(each), self.metrics.commit) for each in new]

    def _admit(self) -> None:
        """Use the tokens and keys that are good now; while they cannot be read, old tokens and no operator's key."""
        try:
            access = self.access if self.renew is None else self.renew()
        except (PrivetError, OSError, ValueError) as error:
            if self.keys_read:
                self.events("keys unreadable", error=type(error).__name__)
            self.keys_read = False
            return
        self.keys_read = True
        if access != self.access:
            self.events("keys", signing=1 + len(access.tokens.older), operator=len(access.operator))
            self.access = access
            self.tokens = self.intake.tokens = access.tokens

    def _adopt(self, found: list[ServedRound], tasks: list[asyncio.Task[None]]) -> None:
        """Serve new rounds from now on; in the thread of the event loop."""
        for each in found:
            if self.rounds:
                self.events("round", study=each.study.id, round=each.study.round)
            tasks.append(asyncio.create_task(each.writer.run()))
            self.rounds[each.study.id] = each
            self.intake.forms[each.study.id] = each.form

    def flush(self) -> None:
        """Write the counts of refused submissions down."""
        counted, self.rejected = self.rejected, Tally()
        try:
            self.newest.store.reject(counted)
        except BaseException:
            self.rejected.update(counted)  # for the next time
            raise
