"""The reader of requests: a token, the id of a round, and reports as JSON or packed; or a refusal in one sentence.

Many reports in one request are packed, for gateways that pass on what devices gave them:
"pvb1" | study id (32 bytes) | count (uint32) | tokens (24 bytes each) | lengths (uint32 each) | bodies
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from starlette.requests import ClientDisconnect, Request

from privet.collection.server.http.limits import address_of
from privet.collection.server.http.replies import Refused, UnknownStudy, try_later
from privet.collection.study.forms import RoundForm
from privet.collection.study.tokens import TOKEN_BYTES, InvalidToken, Tokens
from privet.errors import InvalidReports

__all__ = ["Batch", "Intake", "Revoked", "pack_batch", "read_object", "unpack_batch"]

_HEADER = struct.Struct("<4s32sI")
_MAGIC = b"pvb1"
MOST_REPORTS = 10_000


def pack_batch(study_id: str, tokens: Sequence[bytes], bodies: Sequence[bytes]) -> bytes:
    """Return the request body for some participants' packed tokens and report bodies."""
    lengths = struct.pack(f"<{len(bodies)}I", *map(len, bodies))
    return _HEADER.pack(_MAGIC, bytes.fromhex(study_id), len(bodies)) + b"".join(tokens) + lengths + b"".join(bodies)


def unpack_batch(data: bytes) -> tuple[str, bytes, list[bytes]]:
    """Return the study's id, the tokens end to end, and the bodies; a batch with a damaged frame is refused whole."""
    if len(data) < _HEADER.size:
        raise InvalidReports(f"The batch ends after {len(data)} bytes, within its header of {_HEADER.size} bytes.")
    magic, study, count = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise InvalidReports(f"The batch must begin with the bytes {_MAGIC.decode()}.")
    if not 1 <= count <= MOST_REPORTS:
        raise InvalidReports(f"A batch has 1 to {MOST_REPORTS} reports, and this one has {count}.")
    first = _HEADER.size + TOKEN_BYTES * count
    bodies = first + 4 * count
    if len(data) < bodies:
        raise InvalidReports(f"The batch ends after {len(data)} bytes, before its {count} tokens and lengths.")
    ends = list(accumulate(struct.unpack_from(f"<{count}I", data, first), initial=bodies))
    if ends[-1] != len(data):
        raise InvalidReports(f"The batch is {len(data)} bytes long, and its lengths add up to {ends[-1]}.")
    return study.hex(), data[_HEADER.size : first], [data[start:end] for start, end in pairwise(ends)]


Revoked = frozenset[tuple[int, int]]
"""The (node, serial) pairs of revoked tokens."""

REPORT_TYPE = "application/vnd.privet.report"
BATCH_TYPE = "application/vnd.privet.batch"
_BODY_SECONDS = 20
_HELD_BYTES = 64 << 20  # half of it for single reports, whose token is checked first, and half for batches
_JSON_BYTES = 1 << 20  # JSON costs many times its size while it is read; the packed form does not


@dataclass(frozen=True)
class Batch:
    """The reports of one request.

    Attributes:
        study: The id of the round.
        nodes: The nodes whose reports may be stored.
        bodies: Their reports.
        rows: The rows of the request that they came from.
        refused: The rows that are refused at once, and why.
    """

    study: str
    nodes: list[int]
    bodies: list[bytes]
    rows: Sequence[int]
    refused: list[tuple[int, Refused]]


class Intake:
    """The reader of one study's requests, each of which must name the id of a round.

    Args:
        tokens: Checks the participants' tokens.
        batch_bytes: The most bytes of a batch.
        proxied: Believe the last entry of X-Forwarded-For (default: no).
    """

    def __init__(self, tokens: Tokens, batch_bytes: int, proxied: bool = False) -> None:
        self.tokens, self.batch_bytes, self.proxied = tokens, batch_bytes, proxied
        self.forms: dict[str, RoundForm] = {}  # by the id of the round
        self._held: Counter[str] = Counter()  # bytes in memory, by the accounts that they count against

    def node(self, request: Request, revoked: Revoked) -> int:
        """Return the node that the token in the Authorization header speaks for."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise _unknown(
                InvalidToken("The Authorization header has no enrolment token. Send 'Bearer' and the token.")
            )
        try:
            return self.tokens.check(token.strip(), revoked)
        except InvalidToken as error:
            raise _unknown(error) from None

    async def report(self, request: Request) -> tuple[str, bytes]:
        """Return the id of the round and the body of a single report."""
        kind = media_type(request)
        longest = max((form.longest for form in self.forms.values()), default=0)
        if kind == REPORT_TYPE:
            data = await self.body(request, 32 + min(longest, self.batch_bytes))
            study = self._known(data[:32].hex())
            return study, data[32:]
        if kind != "application/json":
            raise Refused(415, "media type", f"The Content-Type must be application/json or {REPORT_TYPE}.")
        document = read_object(await self.body(request, min(256 + 16 * longest, _JSON_BYTES)), {"study", "report"})
        study = self._known(document["study"])
        return study, self._from_json(study, document["report"])

    async def batch(self, request: Request, revoked: Revoked) -> Batch:
        """Return many reports to one round with a token each."""
        kind = media_type(request)
        if kind not in ("application/json", BATCH_TYPE):
            raise Refused(415, "media type", f"The Content-Type must be application/json or {BATCH_TYPE}.")
        most = self.batch_bytes if kind == BATCH_TYPE else min(self.batch_bytes, _JSON_BYTES)
        data = await self.body(request, most, batch=True)
        entries: Iterable[tuple[Any, Any]]
        if kind == BATCH_TYPE:
            study, tokens, bodies = self._packed(data)
            nodes = self.tokens.check_many(tokens, revoked)
            if nodes is not None:
                return _distinct(Batch(study, nodes, bodies, range(len(nodes)), []))
            starts = range(0, len(tokens), TOKEN_BYTES)
            entries = zip((tokens[start : start + TOKEN_BYTES] for start in starts), bodies, strict=True)
        else:
            study, entries = self._listed(data)
        return _distinct(self._one_by_one(study, entries, revoked))

    def _one_by_one(self, study: str, entries: Iterable[tuple[Any, Any]], revoked: Revoked) -> Batch:
        nodes, bodies, rows, refused = [], [], [], []
        for row, (token, report) in enumerate(entries):
            try:
                packed = isinstance(token, bytes)
                node = self.tokens.check_bytes(token, revoked) if packed else self.tokens.check(str(token), revoked)
                bodies.append(report if packed else self._from_json(study, report))
            except InvalidToken as error:
                refused.append((row, _unknown(error)))
                continue
            except Refused as error:
                refused.append((row, error))
                continue
            nodes.append(node)
            rows.append(row)
        return Batch(study, nodes, bodies, rows, refused)

    def release(self, request: Request) -> None:
        """Forget a request's body."""
        for account, size in getattr(request.state, "held", {}).items():
            self._held[account] -= size
            if not self._held[account]:
                del self._held[account]  # an address is remembered no longer than its body

    async def body(self, request: Request, most: int, *, batch: bool = False) -> bytes:
        """Return the request's body, which may have ``most`` bytes and must arrive within some seconds.

        All bodies together have a limit too: many senders, each within its own, must not fill the memory. Anybody can
        begin a batch, so batches have a budget of their own, of which one address gets half: strangers who stall cannot
        keep a participant's report out.
        """
        pieces, size, half = [], 0, _HELD_BYTES // 2
        limits = {"batches": half, address_of(request, self.proxied): half // 2} if batch else {"reports": half}
        request.state.held = held = dict.fromkeys(limits, 0)
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for piece in request.stream():
                    size += len(piece)
                    if size > most:
                        raise Refused(413, "too large", f"The body must be at most {most} bytes long.")
                    if any(self._held[account] + len(piece) > limit for account, limit in limits.items()):
                        raise try_later(503, "busy", "The collector is busy; try again.")
                    for account in limits:
                        self._held[account] += len(piece)
                        held[account] += len(piece)
                    pieces.append(piece)
        except TimeoutError:
            text = f"The body must arrive within {_BODY_SECONDS} s."
            raise Refused(408, "too slow", text, Connection="close") from None
        except ClientDisconnect:
            raise Refused(400, "left", "The body must arrive whole.") from None
        return b"".join(pieces)

    def _packed(self, data: bytes) -> tuple[str, bytes, list[bytes]]:
        try:
            study, tokens, bodies = unpack_batch(data)
        except InvalidReports as error:
            raise Refused(422, "invalid batch", str(error)) from None
        return self._known(study), tokens, bodies

    def _listed(self, data: bytes) -> tuple[str, list[tuple[Any, Any]]]:
        document = read_object(data, {"study", "reports"})
        study, reports = self._known(document["study"]), document["reports"]
        if not isinstance(reports, list) or not 1 <= len(reports) <= MOST_REPORTS:
            raise Refused(422, "invalid batch", f"The reports must be a list of 1 to {MOST_REPORTS} objects.")
        if not all(isinstance(entry, dict) and set(entry) == {"token", "report"} for entry in reports):
            raise Refused(422, "invalid batch", "Every entry must be an object with the keys report, token.")
        return study, [(entry["token"], entry["report"]) for entry in reports]

    def _from_json(self, study: str, report: object) -> bytes:
        try:
            return self.forms[study].release.wire.from_json(report)
        except InvalidReports as error:
            raise Refused(422, "invalid report", str(error)) from None

    def _known(self, study: object) -> str:
        if not isinstance(study, str) or study not in self.forms:
            raise UnknownStudy(study, self.forms)
        return study


def _distinct(batch: Batch) -> Batch:
    if len(set(batch.nodes)) < len(batch.nodes):
        raise Refused(422, "invalid batch", "A batch must name every participant once.")
    return batch


def _unknown(error: InvalidToken) -> Refused:
    return Refused(401, "token", str(error), **{"WWW-Authenticate": "Bearer"})


def media_type(request: Request) -> str:
    """Return the media type of a request's body without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def read_object(data: bytes, keys: set[str]) -> dict[str, Any]:
    """Read a JSON object with exactly these keys."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise Refused(422, "not JSON", "The body must be JSON.") from None
    if not isinstance(document, dict) or set(document) != keys:
        raise Refused(422, "not JSON", f"The body must be an object with the keys {', '.join(sorted(keys))}.")
    return document
