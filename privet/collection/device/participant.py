"""A device that takes part: it trusts nobody, least of all the server that it reports to.

It reports only for a manifest whose SHA-256 is the id that its owner was given, only after its owner was shown what is
asked, only within its owner's lifetime limit, and only once: every repetition is the same bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import scipy.sparse as sp

from privet.collection.answers import AnswerFormat, Answers
from privet.collection.device.ledger import Ledger
from privet.collection.study import Study
from privet.data import Categories, Interval
from privet.errors import InvalidData, OutOfRangeWarning, PrivetError
from privet.mechanisms import Bits, SystemBits

__all__ = ["Participant", "PrivateAnswers", "Refusal", "Reply"]


class Refusal(PrivetError):
    """The device does not take part, and says why."""


@dataclass(frozen=True)
class PrivateAnswers:
    """The owner's raw answers. They exist on the device only."""

    features: Sequence[float] = field(repr=False)
    label: int | None = field(default=None, repr=False)
    neighbours: Sequence[int] = field(default=(), repr=False)


@dataclass(frozen=True)
class Reply:
    """A report that is stored on the device and may be sent."""

    study: Study
    body: bytes

    def symbols(self) -> dict[str, object]:
        """The report as plain values: all that anybody else will see."""
        return AnswerFormat(self.study).to_json(self.body)


class Participant:
    """One owner's device with its ledger. ``bits`` is the operating system's source unless this is a simulation."""

    def __init__(self, ledger: Ledger, bits: Bits | None = None) -> None:
        self.ledger = ledger
        self._bits = SystemBits() if bits is None else bits

    def check(self, manifest: bytes, pinned: str) -> Study:
        """The study in a manifest that a server sent, if it is the one that the owner was told of."""
        found = hashlib.sha256(manifest).hexdigest()
        if not hmac.compare_digest(found.encode(), pinned.strip().lower().encode()):
            raise Refusal(f"The manifest's id must be {pinned}, as the owner was told. Got {found} instead.")
        return Study.from_bytes(manifest)

    def agree(self, study: Study) -> None:
        """The owner was shown this study (see :func:`privet.collection.device.consent.describe`) and wants to take part."""
        self.ledger.show(study)

    def answer(self, study: Study, node: int, private: PrivateAnswers, now: datetime | None = None) -> Reply:
        """Perturb once, store, and from then on give the same report, whatever is asked.

        The order matters: what was made is given again even after the study has closed; nothing is made for a study
        that was not shown, is not open or costs too much.
        """
        known = self.ledger.report(study, node)
        if known is not None:
            return Reply(study, known)
        self._require_shown(study)
        moment = datetime.now(UTC) if now is None else now
        if not study.is_open(moment):
            text = f"from {study.opens:%Y-%m-%d %H:%M} to {study.closes:%Y-%m-%d %H:%M} UTC"
            raise Refusal(f"The study must be open, which it is {text}. Got {moment:%Y-%m-%d %H:%M} UTC instead.")
        _check(study, node, private)
        return Reply(study, self.ledger.reserve(study, node, lambda: self._perturb(study, node, private)))

    def _perturb(self, study: Study, node: int, private: PrivateAnswers) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutOfRangeWarning)  # clipped on purpose; the owner sees it beforehand
            features = study.feature_mechanism.perturb(np.array([private.features], dtype=np.float64), self._bits)
        labels = neighbours = None
        if study.label_mechanism is not None:
            labels = study.label_mechanism.perturb(np.array([private.label]), self._bits)
        if study.neighbour_mechanism is not None:
            columns = np.unique(np.asarray(private.neighbours, dtype=np.int64))
            row = sp.csr_array((np.ones(len(columns)), columns, [0, len(columns)]), shape=(1, study.nodes))
            neighbours = study.neighbour_mechanism.perturb(row, self._bits, users=np.array([node]))
        (body,) = AnswerFormat(study).pack(Answers(np.array([node]), features, labels, neighbours))
        return body

    def _require_shown(self, study: Study) -> None:
        if self.ledger.was_shown(study.id):
            return
        for other in self.ledger.shown():
            if other.title == study.title and other.operator == study.operator:
                raise Refusal(_difference(study, other))
        raise Refusal(f"The study '{study.title}' must be shown to the owner before it is answered. It was not.")


def _difference(study: Study, shown: Study) -> str:
    """In one sentence, what a study asks that a manifest of the same name did not."""
    asked, seen = study.declared.features, shown.declared.features
    for column in range(max(len(asked), len(seen))):
        if column >= len(seen):
            return f"The study must ask for {len(seen)} features, as was shown. Got {len(asked)} instead."
        if column >= len(asked) or asked[column] != seen[column]:
            found = _domain(asked[column]) if column < len(asked) else "nothing"
            name = shown.question(column)
            return f"The range of {name} must be {_domain(seen[column])}, as was shown. Got {found} instead."
    if study.cost != shown.cost:
        return f"The study's epsilon must be {shown.cost:g}, as was shown. Got {study.cost:g} instead."
    return f"The study must be {shown.id}, as was shown. Got {study.id} instead."


def _domain(domain: Interval | Categories) -> str:
    return f"{domain.count} categories" if isinstance(domain, Categories) else f"[{domain.low:g}, {domain.high:g}]"


def _check(study: Study, node: int, private: PrivateAnswers) -> None:
    """Bad answers are the owner's to mend, and must not cost anything: they are found before a report is made."""
    expected = study.declared.dimension
    if not 0 <= node < study.nodes:
        raise InvalidData("node", f"an id below {study.nodes}", node)
    if len(private.features) != expected or not all(_is_number(value) for value in private.features):
        raise InvalidData("answers' features", f"{expected} numbers", f"{len(private.features)} values")
    for column, domain in enumerate(study.declared.features):
        if isinstance(domain, Categories) and private.features[column] not in range(domain.count):
            raise InvalidData(f"answer to {study.question(column)}", study.allowed(column), private.features[column])
    if study.labels is not None and private.label not in range(study.declared.classes):
        raise InvalidData("answers' label", f"a class below {study.declared.classes}", private.label)
    if study.neighbours is not None:
        others = [other for other in private.neighbours if other != node and other in range(study.nodes)]
        if len(others) != len(private.neighbours):
            raise InvalidData("answers' neighbours", f"other nodes' ids below {study.nodes}", "another")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(-1e300 < value < 1e300)  # an integer may have more digits than a float can hold
