"""A tape of reports: what mechanisms drew is written down, and drawn again whatever the private data are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp

from privet.mechanisms import Bits, Mechanism, SeededBits

__all__ = ["OffTape", "Tape", "Written"]


class OffTape(Exception):
    """A program that does not make the calls that are on the tape."""


@dataclass(frozen=True, eq=False)
class Written:
    """One call of ``perturb``.

    Attributes:
        mechanism: The mechanism.
        values: The values that it randomised, one row a person.
        reports: The reports that it drew.
        bits: The source of randomness that it was given.
    """

    mechanism: Mechanism
    values: Any
    reports: Any
    bits: Bits


@dataclass(eq=False)
class Tape:
    """The calls of ``perturb`` in one run of a program.

    Attributes:
        played: The tape of an earlier run, whose reports are given again; None to draw new ones.
        calls: The calls of this run.
    """

    played: Tape | None = None
    calls: list[Written] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Stand between programs and every mechanism, wherever ``perturb`` is called from."""
        kinds = {kind: vars(kind)["perturb"] for kind in _kinds(Mechanism) if "perturb" in vars(kind)}
        inside = False

        def heard(original: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(original)
            def perturb(mechanism: Mechanism, values: Any, bits: Bits, **options: Any) -> Any:
                nonlocal inside
                if inside:  # a mechanism that is made of another one
                    return original(mechanism, values, bits, **options)
                inside = True
                try:
                    return self._answer(
                        mechanism, values, lambda own: original(mechanism, values, own, **options), bits
                    )
                finally:
                    inside = False

            return perturb

        try:
            for kind, original in kinds.items():
                setattr(kind, "perturb", heard(original))  # noqa: B010
            yield
        finally:
            for kind, original in kinds.items():
                setattr(kind, "perturb", original)  # noqa: B010

    def _answer(self, mechanism: Mechanism, values: Any, draw: Callable[[Bits], Any], bits: Bits) -> Any:
        """Return the reports of a call: those on the tape, or new ones, from bits of their own."""
        number, rows = len(self.calls), np.array(values.toarray() if sp.issparse(values) else values, copy=True)
        reports = draw(SeededBits(number))  # on the tape or not: it may leave traces in the mechanism
        if self.played is not None:
            before = self.played.calls[number] if number < len(self.played.calls) else None
            if before is None or before.mechanism != mechanism or before.values.shape != rows.shape:
                raise OffTape
            reports = before.reports
        self.calls.append(Written(mechanism, rows, reports, bits))
        return reports


def _kinds(kind: Any) -> Iterator[Any]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)
