"""The base class of every mechanism: public parameters in a frozen object, data and randomness as call arguments."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidParameter, InvalidReports
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.extremes import influence_of, strongest_symbols, uniform_symbols
from privet.mechanisms.core.shapes import ListShape, SymbolShape
from privet.mechanisms.core.tally import Tally
from privet.mechanisms.primitives.bits import Bits, SeededBits
from privet.privacy import Guarantee

__all__ = ["Distribution", "Mechanism", "check_count", "product_distribution"]

Enclosure: TypeAlias = tuple[Fraction, Fraction]
Distribution: TypeAlias = dict[Hashable, Enclosure]
"""Each possible report with rational bounds of its probability (equal bounds where it is rational itself)."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomiser that runs on one person's device, and what the server can make of its reports.

    Formal guarantee: for any two inputs x, x' adjacent in the sense of ``guarantee()`` and any set R of reports,
    Pr[perturb(x) in R] <= exp(epsilon) Pr[perturb(x') in R] + delta, where the probabilities are those of the
    *program*, as ``exact_distribution`` states them in rational numbers.

    Attributes:
        name: The word for it on the command line and in manifests.
        words: A clause that tells a person how it randomises.
        implied: The names of those fields that public facts about the population decide (see
            :class:`~privet.data.population.Population`), such as "dimension"; the other fields are declared.
        personal: True if a report depends on whose it is; ``perturb`` then takes ``users``, and ``exact_distribution``
            takes ``user``.
    """

    name: ClassVar[str]
    example: ClassVar[Mapping[str, Any]] = {}
    """Parameters without a default, with which an account or an audit begins."""
    small: ClassVar[Mapping[str, Any]] = {}
    """Further parameters that make a report of the example short enough for an audit to list all of them."""
    words: ClassVar[str] = "the answer is randomised"
    implied: ClassVar[tuple[str, ...]] = ()
    personal: ClassVar[bool] = False

    @classmethod
    def declare(cls, public: Any, **parameters: Any) -> Self:
        """Make the mechanism for some people.

        Args:
            public: A Population, or anything that one can be read from: a Schema, a Graph, a Study.
            **parameters: The fields that are not implied.
        """
        population = Population.of(public)
        return cls(**{name: getattr(population, name) for name in cls.implied}, **parameters)

    def parameters(self) -> dict[str, Any]:
        """Return the declared fields: with the population's public facts they make this mechanism again."""
        return {name: value for name, value in asdict(self).items() if name not in self.implied}

    @abstractmethod
    def perturb(self, values: Any, bits: Bits) -> Any:
        """Draw one report a row with ``bits``: the only method that sees private values of real people."""

    @abstractmethod
    def estimate(self, reports: Any) -> AffineFeatures:
        """Return an unbiased estimate of what was perturbed, as an affine map of the sparse symbols."""

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return what a device promises with these parameters."""

    @abstractmethod
    def log_likelihood(self, reports: Any, values: Any) -> NDArray[np.float64]:
        """Return log Pr[report | value] of each row."""

    @abstractmethod
    def variance(self, values: Any) -> NDArray[np.float64]:
        """Return the variance of each entry of :meth:`estimate`, given the true values."""

    @abstractmethod
    def worst_values(self) -> Any:
        """Values of a few users, among them one whose estimate has the largest variance."""

    @property
    @abstractmethod
    def span(self) -> float:
        """The size of the range that an estimate's error is measured against."""

    @abstractmethod
    def exact_distribution(self, value: Any) -> Distribution:
        """Return the program's output distribution for one value, by exact arithmetic. For small domains."""

    @property
    @abstractmethod
    def num_reports(self) -> int:
        """The number of different reports, so that an audit knows whether it can list them."""

    @abstractmethod
    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of adjacent values among which the likelihood ratio is largest. For small domains."""

    def inputs(self) -> Iterator[Any]:
        """Yield inputs for which an audit draws reports: all where they are few, else extremes and others between.

        The default yields those of :meth:`adjacent_pairs`, each once. A mechanism that treats inputs alike lists few
        pairs, but whether its program treats them alike is what an audit finds out, so it should name more inputs here.
        Of a personal mechanism each is a pair of a value and a person.
        """
        seen = set()
        for value in itertools.chain.from_iterable(self.adjacent_pairs()):
            if (key := np.asarray(value).tobytes()) not in seen:
                seen.add(key)
                yield value

    @abstractmethod
    def report_key(self, reports: Any, row: int) -> Hashable:
        """Return the key of one person's report in :meth:`exact_distribution`."""

    @property
    @abstractmethod
    def shape(self) -> SymbolShape | ListShape:
        """The form of a report: how many symbols of which size. It fixes the bytes that are sent."""

    @abstractmethod
    def possible(self, reports: Any) -> NDArray[np.bool_]:
        """Tell for each row whether this mechanism can send it; the reports' form was checked already."""

    def validate(self, reports: Any) -> Any:
        """Return the reports, if this mechanism could have sent every one of them."""
        self.shape.check(reports, type(self).__name__)
        strange = ~self.possible(reports)
        if strange.any():
            raise InvalidReports(f"{type(self).__name__} cannot have sent the report in row {strange.argmax()}.")
        return reports

    def strongest(self, directions: Any, reports: Any) -> Any:
        """Return the possible reports whose estimates lie furthest in some directions: the best lies.

        The default needs an estimate that is a sum over coordinates, all of them reported.

        Args:
            directions: One row a person, dense or CSR, as wide as an estimate; a report's reach is the inner product.
            reports: Possible reports of the same people; what is public about a report, such as its sender or the
                number of options, is kept.
        """
        return strongest_symbols(self, directions, reports)

    def uniform(self, reports: Any, bits: Bits) -> Any:
        """Return reports drawn uniformly from the possible ones, which say nothing.

        Args:
            reports: Possible reports of the same people; what is public about a report is kept.
            bits: The source of randomness.
        """
        return uniform_symbols(self, reports, bits)

    def influence(self) -> float:
        """Return the largest change of one estimated number that exchanging one report for another can make.

        One liar among n people moves a sum of estimates by at most so much, and their mean by at most 1 / n of it. It
        is exact, up to rounding: some two possible reports differ so much.
        """
        values = self.worst_values()
        options: dict[str, Any] = {"users": np.arange(values.shape[0])} if self.personal else {}
        return influence_of(self, self.perturb(values, SeededBits(0), **options).take(np.zeros(1, dtype=np.int64)))

    def one_liar(self) -> str:
        """Tell, in a clause, how far one liar can move an estimate."""
        largest = self.influence()
        people = largest / self.span
        return (
            f"one liar among n people can move this mean by at most {largest:,.4g} / n, as far as "
            f"{people:{',.0f' if people >= 100 else '.3g'}} people could without noise"
        )

    # What honest devices can have sent, for the screening of reports. A mechanism that says nothing here is not
    # screened.

    def tallies(self, reports: Any) -> tuple[Tally, ...]:
        """Count the reported symbols, with the distributions that they can have over all inputs."""
        return ()

    def drawn_columns(self, reports: Any) -> tuple[NDArray[np.int64], float] | None:
        """Return how often each coordinate was drawn, and its probability; None if reports are about all of them."""
        return None

    def log_peaks(self, reports: Any) -> NDArray[np.float64] | None:
        """Bound log Pr[report | value] of each row from above, over all values; None if no bound is known."""
        return None

    def p_values(self, reports: Any, most: int | None = None) -> NDArray[np.float64]:
        """Return a p-value of each report alone: for any input, it is at most t with probability at most t.

        Args:
            reports: The reports.
            most: The largest number of entries of a true list, for reports about lists; None if it is not known.
        """
        return np.ones(len(reports))

    def sends(self) -> str:
        """Tell the owner of a device, in a clause, what a report holds."""
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Return the name and all public parameters, for JSON."""
        return {"mechanism": self.name, **asdict(self)}


def product_distribution(factors: list[Mapping[Hashable, Enclosure]]) -> Distribution:
    """Return the distribution of independent symbols, keyed by their tuple."""
    result: Distribution = {}
    for symbols in itertools.product(*(factor.items() for factor in factors)):
        lower, upper = Fraction(1), Fraction(1)
        for _, (below, above) in symbols:
            lower, upper = lower * below, upper * above
        result[tuple(key for key, _ in symbols)] = (lower, upper)
    return result


def check_count(value: object, name: str, least: int, most: int | None = None) -> int:
    """Return an integer parameter that lies within its bounds, or raise one clear sentence."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_integer and least <= int(value) and (most is None or int(value) <= most):  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload, no-any-return]
    expected = f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
    raise InvalidParameter(name, expected, value)
