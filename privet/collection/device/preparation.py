"""Everything public that a device needs before it answers a round, fetched and checked against the manifest.

Nothing that the server sends here is believed: blobs are what their hashes say, the owner's own row of a table is
proved to be in the table that everybody is bound to, and no part of it carries a budget.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.collection.device.charges import NotAsked, Refusal
from privet.collection.study.chain import BrokenChain, Chain
from privet.collection.study.manifest import Study
from privet.errors import InvalidData, InvalidParameter
from privet.release import LocalRelease, Question
from privet.release.asks._base import OwnRow
from privet.release.blobs import array_of
from privet.release.tree import verify_row

__all__ = ["Prepared", "Source", "prepare"]

_NOTHING = "Nothing was made."
_LONGEST = 64  # hashes in a proof: enough for any table


class Source(Protocol):
    """Anything that hands out public data, such as :class:`privet.collection.device.client.Collector`."""

    def blob(self, digest: str) -> bytes:
        """Return the bytes with a SHA-256, given in hexadecimal; whoever asks checks it."""

    def invitation(self, study_id: str) -> bytes:
        """Return the owner's own rows of a round's tables, as JSON."""


@dataclass(frozen=True)
class Prepared:
    """A round that the device can answer.

    Attributes:
        chain: The rounds up to this one.
        node: The number of the owner.
        release: The questions with the public arrays, or the owner's rows of them.
        shows: True if the owner is in the panel, and is asked to show features and class as they are.
    """

    chain: Chain
    node: int
    release: LocalRelease
    shows: bool = False

    @property
    def study(self) -> Study:
        """The round that is answered."""
        return self.chain.newest


def prepare(study: Study, node: int, source: Source | None = None) -> Prepared:
    """Fetch and check what a round needs; a difference from the manifest is a refusal that says where it is.

    Args:
        study: The round, whose id the owner was given.
        node: The number of the owner.
        source: Where public data come from; a study of one round without tables needs none.
    """
    chain = Chain((*_earlier(study, source), study))
    if study.panel is not None and _listed(study.panel, node, "list of the panel", source):
        return Prepared(chain, node, study.release, shows=True)
    asked = study.people is None or _listed(study.people, node, "list of the people who are asked", source)
    if not asked or not study.release.questions:
        raise NotAsked("You are not among the people whom this round asks. Nothing was made, and nothing is spent.")
    invited = _Invitation(study, node, source)
    release = _attached(study.release, source, invited)
    for earlier in chain.rounds[:-1]:
        _check_beside(release, earlier.release, source)
    for question in release.questions:
        _check_asked(question, node)
    return Prepared(chain, node, release)


def _earlier(study: Study, source: Source | None) -> Iterator[Study]:
    for place, identity in enumerate(study.earlier):
        found = Study.from_bytes(_fetched(identity, f"description of round {place + 1}", source))
        if found.earlier != study.earlier[:place]:
            raise BrokenChain(f"Round {place + 1} of the study names other rounds before it than the ones given.")
        yield found


def _fetched(digest: str, what: str, source: Source | None) -> bytes:
    if source is None:
        raise Refusal(f"The {what} must be fetched from the collector. {_NOTHING}")
    content = source.blob(digest)
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise Refusal(f"The server's {what} is not the one that the study binds: {found}, not {digest}. {_NOTHING}")
    return content


def _array(digest: str, what: str, source: Source | None) -> NDArray[Any]:
    return array_of(_fetched(digest.removeprefix("sha256:"), what, source))


def _listed(digest: str, node: int, what: str, source: Source | None) -> bool:
    return bool((_array(digest, what, source) == node).any())


def _attached(release: LocalRelease, source: Source | None, invited: _Invitation | None) -> LocalRelease:
    """Return a release with its tables, and with the owner's rows if there is an invitation."""
    ready = []
    for question in release.questions:
        ask = question.ask
        for name in ask.attachments():
            value = getattr(ask, name)
            if value is None and not ask.needs(name):
                continue
            if not isinstance(value, str):
                raise Refusal(f"The study does not bind the '{name}' of the question '{ask.name}'. {_NOTHING}")
            if name in ask.per_person():
                if invited is not None:
                    own: dict[str, Any] = {name: invited.row(question, name, value)}
                    ask = replace(ask, **own)
            else:
                what = f"'{name}' of the question '{ask.name}'"
                ask = ask.attach(**{name: _fetched(value.removeprefix("sha256:"), what, source)})
        ready.append(replace(question, ask=ask))
    return replace(release, questions=tuple(ready))


def _check_beside(release: LocalRelease, earlier: LocalRelease, source: Source | None) -> None:
    """Make sure that what is charged once is asked once: no pair may be counted in two rounds."""
    for question in release.questions:
        for name in filter(earlier.asks, question.ask.other_pairs_than):
            before = replace(earlier, questions=(earlier.question(name),))
            try:
                question.ask.check_beside(_attached(before, source, None).questions[0].ask)
            except InvalidData as error:
                raise Refusal(f"A pair of people might be counted twice. {error} {_NOTHING}") from None


def _check_asked(question: Question, node: int) -> None:
    asked = question.ask.asks(node)
    if not asked:
        raise NotAsked(
            f"You are not asked the question '{question.name}' in this round. Nothing was made, and nothing is spent."
        )


class _Invitation:
    """The owner's rows, read when the first of them is needed."""

    def __init__(self, study: Study, node: int, source: Source | None) -> None:
        self._study, self._node, self._source = study, node, source
        self._rows: dict[str, Any] | None = None

    def row(self, question: Question, name: str, root: str) -> OwnRow:
        """Return the owner's row of a table, if its proof leads to the root that the manifest names."""
        given = self._read().get(question.name)
        entry = given.get(name) if isinstance(given, dict) else None
        if not isinstance(entry, dict) or set(entry) != {"row", "salt", "proof"}:
            raise Refusal(f"Your invitation lacks your row of the '{name}' of '{question.name}'. {_NOTHING}")
        row, salt, proof = entry["row"], entry["salt"], entry["proof"]
        small = isinstance(row, list) and all(type(value) is int and -(1 << 15) <= value < 1 << 15 for value in row)
        if not small or not isinstance(proof, list) or len(proof) > _LONGEST:
            raise Refusal(f"Your invitation is not one: a row of whole numbers with its proof is needed. {_NOTHING}")
        nodes = self._study.nodes
        values = np.array(row, dtype=np.int16)
        try:
            verify_row(root, nodes, self._node, values, salt, proof)
            own = OwnRow(self._node, values, nodes)
            attached: dict[str, Any] = {name: own}
            replace(question.ask, **attached).check_row(name, question.mechanism, self._study.population)
        except (InvalidData, InvalidParameter) as error:
            raise Refusal(f"Your invitation is not one of this study. {error} {_NOTHING}") from None
        return own

    def _read(self) -> dict[str, Any]:
        if self._rows is None:
            if self._source is None:
                raise Refusal(f"Your invitation must be fetched from the collector. {_NOTHING}")
            try:
                document = json.loads(self._source.invitation(self._study.id))
            except (ValueError, RecursionError):
                document = None
            if not isinstance(document, dict) or set(document) != {"study", "node", "rows"}:
                raise Refusal(f"Your invitation is not one: it must have study, node and rows only. {_NOTHING}")
            if document["study"] != self._study.id or document["node"] != self._node:
                raise Refusal(f"The server sent another person's invitation, or one of another round. {_NOTHING}")
            if not isinstance(document["rows"], dict):
                raise Refusal(f"Your invitation is not one: its rows are missing. {_NOTHING}")
            self._rows = document["rows"]
        return self._rows
