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

from privet.collection.device.ledger import Ledger
from privet.collection.study import Study
from privet.data import Categories, Interval
from privet.errors import InvalidData, OutOfRangeWarning, PrivetError
from privet.mechanisms import Bits, SystemBits
from privet.release import PrivateData

__all__ = ["Participant", "PrivateAnswers", "Refusal", "Reply"]


class Refusal(PrivetError):
    """The device does not take part, and says why."""


@dataclass(frozen=True)
class PrivateAnswers:
    """The owner's raw answers. They exist on the device only.

    Attributes:
        features: The answers, in the order of the schema.
        label: The owner's class, if the study asks for it.
        neighbours: The ids of the owner's neighbours, if the study asks for them.
    """

    features: Sequence[float] = field(repr=False)
    label: int | None = field(default=None, repr=False)
    neighbours: Sequence[int] = field(default=(), repr=False)

    def checked(self, study: Study, node: int) -> PrivateData:
        """Return the answers as the study's questions read them; bad ones are found before anything is spent."""
        if not all(_is_number(value) for value in self.features):
            expected = f"{study.declared.dimension} numbers"
            raise InvalidData("answers' features", expected, f"{len(self.features)} values")
        others = [other for other in self.neighbours if other in range(study.nodes)]
        if study.declared.private_edges and len(others) != len(self.neighbours):
            raise InvalidData("answers' neighbours", f"other people's ids below {study.nodes}", "another")
        label = self.label if self.label is None or type(self.label) is int else -1
        private = PrivateData.one(node, study.nodes, self.features, label, others)
        study.release.check(private)
        return private


@dataclass(frozen=True)
class Reply:
    """A report that is stored on the device and may be sent."""

    study: Study
    body: bytes

    def symbols(self) -> dict[str, object]:
        """The report as plain values: all that anybody else will see."""
        return self.study.release.wire.to_json(self.body)


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
        """The owner was shown this study (see :mod:`privet.collection.device.consent`) and wants to take part."""
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
        checked = private.checked(study, node)
        return Reply(study, self.ledger.reserve(study, node, lambda: self._perturb(study, checked)))

    def _perturb(self, study: Study, private: PrivateData) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutOfRangeWarning)  # clipped on purpose; the owner sees it beforehand
            answers = study.release.perturb(private, self._bits)
        (body,) = study.release.wire.pack(answers)
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


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(-1e300 < value < 1e300)  # an integer may have more digits than a float can hold
