"""Recorded reports: write down what mechanisms draw, and give the same reports again whatever the private data are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp

from privet.mechanisms import Bits, Mechanism, SeededBits

__all__ = ["Call", "DifferentCalls", "Recording"]


class DifferentCalls(Exception):
    """A program that does not make the calls of the recorded run."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call of ``perturb``.

    Attributes:
        mechanism: The mechanism that drew the reports.
        values: The values that it randomised, one row a person.
        reports: The reports that it drew.
        bits: The source of randomness that it was given.
    """

    mechanism: Mechanism
    values: Any
    reports: Any
    bits: Bits


@dataclass(eq=False)
class Recording:
    """The calls of ``perturb`` in one run of a program.

    Attributes:
        earlier: The recording of an earlier run, whose reports are given again; None to draw new ones.
        calls: The calls of this run.
    """

    earlier: Recording | None = None
    calls: list[Call] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Stand between programs and every mechanism, wherever ``perturb`` is called from."""
        kinds = {kind: vars(kind)["perturb"] for kind in _kinds(Mechanism) if "perturb" in vars(kind)}
        inside = False

        def recorded(original: Callable[..., Any]) -> Callable[..., Any]:
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
                setattr(kind, "perturb", recorded(original))  # noqa: B010
            yield
        finally:
            for kind, original in kinds.items():
                setattr(kind, "perturb", original)  # noqa: B010

    def _answer(self, mechanism: Mechanism, values: Any, draw: Callable[[Bits], Any], bits: Bits) -> Any:
        """Return the reports of a call: recorded ones, or new ones, from bits of their own."""
        number, rows = len(self.calls), np.array(values.toarray() if sp.issparse(values) else values, copy=True)
        reports = draw(SeededBits(number))  # also if recorded ones are given: drawing may leave traces in the mechanism
        if self.earlier is not None:
            before = self.earlier.calls[number] if number < len(self.earlier.calls) else None
            if before is None or before.mechanism != mechanism or before.values.shape != rows.shape:
                raise DifferentCalls
            reports = before.reports
        self.calls.append(Call(mechanism, rows, reports, bits))
        return reports


def _kinds(kind: Any) -> Iterator[Any]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)
