"""What every mechanism is: public parameters in a frozen object, data and randomness as call arguments."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.primitives.bits import Bits
from privet.privacy import Guarantee

__all__ = ["Distribution", "Mechanism", "check_count", "product_distribution"]

Enclosure: TypeAlias = tuple[Fraction, Fraction]
Distribution: TypeAlias = dict[Hashable, Enclosure]
"""Each possible report with rational bounds of its probability (equal bounds where it is rational itself)."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomiser that runs on one user's device, and what the server can make of its reports.

    Formal guarantee: for any two inputs x, x' adjacent in the sense of ``guarantee()`` and any set R of reports,
    Pr[perturb(x) in R] <= exp(epsilon) Pr[perturb(x') in R] + delta, where the probabilities are those of the
    *program*, as ``exact_distribution`` states them in rational numbers.
    """

    name: ClassVar[str]

    @abstractmethod
    def perturb(self, values: Any, bits: Bits) -> Any:
        """Each row's report, drawn with ``bits``: the only method that sees private values of real users."""

    @abstractmethod
    def estimate(self, reports: Any) -> AffineFeatures:
        """An unbiased estimate of what was perturbed, as an affine map of the sparse symbols."""

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What a device promises with these parameters."""

    @abstractmethod
    def log_likelihood(self, reports: Any, values: Any) -> NDArray[np.float64]:
        """log Pr[report | value] of each row."""

    @abstractmethod
    def variance(self, values: Any) -> NDArray[np.float64]:
        """The variance of each entry of :meth:`estimate`, given the true values."""

    @abstractmethod
    def exact_distribution(self, value: Any) -> Distribution:
        """The program's output distribution for one user's value, by exact arithmetic. For small domains."""

    @property
    @abstractmethod
    def num_reports(self) -> int:
        """How many different reports there are, so that an audit knows whether it can list them."""

    @abstractmethod
    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Ordered pairs of adjacent values among which the likelihood ratio is largest. For small domains."""

    @abstractmethod
    def report_key(self, reports: Any, row: int) -> Hashable:
        """The key of one user's report in :meth:`exact_distribution`."""

    def to_dict(self) -> dict[str, Any]:
        """The name and the public parameters, for JSON."""
        return {"mechanism": self.name, **asdict(self)}


def product_distribution(factors: list[Mapping[Hashable, Enclosure]]) -> Distribution:
    """The distribution of independent symbols, keyed by their tuple."""
    result: Distribution = {}
    for symbols in itertools.product(*(factor.items() for factor in factors)):
        lower, upper = Fraction(1), Fraction(1)
        for _, (below, above) in symbols:
            lower, upper = lower * below, upper * above
        result[tuple(key for key, _ in symbols)] = (lower, upper)
    return result


def check_count(value: object, name: str, owner: str, least: int, most: int | None = None) -> int:
    """An integer parameter within its bounds, or one clear sentence."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_integer and least <= int(value) and (most is None or int(value) <= most):  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload, no-any-return]
    expected = f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
    raise InvalidParameter(name, owner, expected, value)
