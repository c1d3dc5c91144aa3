"""The suite that every mechanism runs, and deliberately broken mechanisms that it must refuse.

The checks themselves are :mod:`privet.testing`, for other packages too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.auditing import audit
from privet.mechanisms import (
    HDS,
    MECHANISMS,
    AdjacencyResponse,
    AnalyticGaussian,
    Bits,
    Counts,
    DegreeResponse,
    Laplace,
    Mechanism,
    MixedResponse,
    MultiBit,
    OfferedResponse,
    Piecewise,
    RandomizedResponse,
    Reports,
    SampledResponse,
    SquareWave,
    SubsetResponse,
    SystemBits,
)
from privet.mechanisms.primitives.odds import Odds, odds
from privet.privacy import Guarantee
from privet.testing import check_mechanism, check_stated_integers
from privet.testing.integers import ScriptedBits
from privet.testing.mechanisms import check_distribution, check_guarantee, check_tightness

CONFORMING = (0.1, 4.0)  # all checks
OTHERS = (0.01, 1.0, 2.5, 8.0)  # the bound alone
MIXED = (("number", -1.0, 2.0, 1), ("several", 0.0, 3.0, 0))
CODED = (("category", 0.0, 2.0, 0), ("several", 0.0, 3.0, 2))
RANGE = {"low": (-1.0, 0.0, 2.0), "high": (1.0, 0.5, 5.0)}


def laplace(epsilon: float) -> Laplace:
    """On a coarse grid the scale is a small whole number: a budget just above steps / scale keeps the bound tight."""
    steps = 1 if epsilon < 0.5 else 16
    return Laplace(
        epsilon=steps / math.floor(steps / epsilon) * (1 + 1e-9), dimension=1, low=0.0, high=2.0, steps=steps
    )


def degree(epsilon: float) -> DegreeResponse:
    """As for laplace: a budget just above steps / scale, which is the exact loss."""
    steps = 1 if epsilon < 0.5 else 64
    return DegreeResponse(epsilon=steps / math.floor(steps / epsilon) * (1 + 1e-9), num_nodes=4, steps=steps)


SMALL = {
    "multi-bit": lambda e: MultiBit(epsilon=e, dimension=3, **RANGE, sample=2),
    "multi-bit default m": lambda e: MultiBit(epsilon=e, dimension=3, **RANGE),
    "one-bit": lambda e: MultiBit(epsilon=e, dimension=3, **RANGE, sample=3),
    "hds": lambda e: HDS(epsilon=e, dimension=2, low=-1.0, high=1.0, sample=2, steps=6),
    "hds default m": lambda e: HDS(epsilon=e, dimension=3, **RANGE, steps=32),
    "square-wave": lambda e: SquareWave(epsilon=e, low=-1.0, high=1.0),
    "piecewise": lambda e: Piecewise(epsilon=e, dimension=2, low=-1.0, high=1.0, sample=2, steps=6),
    "piecewise default m": lambda e: Piecewise(epsilon=e, dimension=3, **RANGE, steps=4),
    "laplace": laplace,
    "analytic-gaussian": lambda e: AnalyticGaussian(epsilon=e, delta=1e-3, dimension=1, low=0.0, high=2.0),
    "randomized-response": lambda e: RandomizedResponse(epsilon=e, classes=5),
    "sampled-response": lambda e: SampledResponse(epsilon_per_feature=e / 2, categories=(2, 3, 2, 2), sample=2),
    "sampled-response bare": lambda e: SampledResponse(
        epsilon_per_feature=e / 2, categories=(2, 3, 2), sample=2, fill="none"
    ),
    "mixed-response": lambda e: MixedResponse(epsilon=e, columns=MIXED, sample=2),
    "mixed-response default m": lambda e: MixedResponse(epsilon=e, columns=CODED),
    "degree-response": degree,
    "counts": lambda e: Counts(epsilon=e, classes=2, cap=4),
    "counts of one class": lambda e: Counts(epsilon=e, classes=1),
    "offered-response": lambda e: OfferedResponse(epsilon=e, most=5),
    "subset-response": lambda e: SubsetResponse(epsilon=e, most=5, sizes=(1, 2, 2, 3)),
    "subset-response default sizes": lambda e: SubsetResponse(epsilon=e, most=6),
    "adjacency-response": lambda e: AdjacencyResponse(epsilon=e, num_nodes=6),
    "adjacency-response one-sided": lambda e: AdjacencyResponse(epsilon=e, num_nodes=6, one_sided=True),
}


def some_values(mechanism: Mechanism, users: int, seed: int) -> np.ndarray:
    """Random valid inputs, one row a user."""
    rng = np.random.default_rng(seed)
    if isinstance(mechanism, RandomizedResponse):
        return rng.integers(mechanism.classes, size=users)
    if isinstance(mechanism, DegreeResponse):
        return rng.integers(mechanism.num_nodes, size=users)
    if isinstance(mechanism, Counts):
        return rng.integers(mechanism.cap + 1, size=(users, mechanism.classes))
    if isinstance(mechanism, OfferedResponse):
        options = rng.integers(2, mechanism.most + 1, size=users)
        return np.stack([rng.integers(options), options], axis=1)
    if isinstance(mechanism, SampledResponse):
        return rng.integers(0, mechanism.categories, size=(users, mechanism.dimension)).astype(float)
    if isinstance(mechanism, AdjacencyResponse):
        upper = np.triu(rng.random((mechanism.num_nodes,) * 2) < 0.4, 1)
        return (upper | upper.T).astype(float)
    if isinstance(mechanism, MixedResponse):
        inputs = np.array(list(mechanism.inputs()))
        return inputs[rng.integers(len(inputs), size=users)]
    low, high = (
        np.broadcast_to(mechanism.low, mechanism.dimension),
        np.broadcast_to(mechanism.high, mechanism.dimension),
    )
    values = rng.uniform(low, high, size=(users, mechanism.dimension))
    return np.where(rng.random(values.shape) < 0.3, np.where(rng.random(values.shape) < 0.5, low, high), values)


def truth_of(mechanism: Mechanism, value: np.ndarray) -> np.ndarray:
    """What an unbiased estimate of the value is on average."""
    if isinstance(mechanism, RandomizedResponse):
        return np.eye(mechanism.classes)[value]
    if isinstance(mechanism, OfferedResponse):
        return np.eye(mechanism.most)[value[0]]
    if isinstance(mechanism, SampledResponse):
        return np.concatenate([np.eye(c)[int(v)] for v, c in zip(value, mechanism.categories, strict=True)])
    if isinstance(mechanism, MixedResponse):
        pairs = zip(mechanism.columns, value, strict=True)
        return np.concatenate([mixed_truth(*column, answer) for column, answer in pairs])
    return np.asarray(value)


def mixed_truth(kind: str, low: float, high: float, extras: int, answer: float) -> np.ndarray:
    """One answer as its estimate codes it: zeros where an answer of its own was given, and those one-hot behind."""
    own = answer > high
    size = int(high + 1).bit_length() - 1
    parts = {
        "number": np.array([0.0 if own else answer]),
        "category": np.zeros(int(high) + 1) if own else np.eye(int(high) + 1)[int(answer)],
        "several": np.array([0.0 if own else float(int(answer) >> j & 1) for j in range(size)]),
    }
    return np.concatenate([parts[kind], [float(own and answer == high + 1 + j) for j in range(extras)]])


@pytest.fixture(params=SMALL, ids=str)
def factory(request: pytest.FixtureRequest):
    return SMALL[request.param]


def test_every_mechanism_is_in_the_suite() -> None:
    assert {build(1.0).name for build in SMALL.values()} == set(MECHANISMS)


def estimated(mechanism: Mechanism, truth: np.ndarray) -> np.ndarray:
    """The entries of the estimate that are reported on: nobody reports on themselves."""
    chosen = np.ones(truth.shape, dtype=bool)
    chosen[0] = not isinstance(mechanism, AdjacencyResponse)
    return chosen


@pytest.mark.parametrize("epsilon", CONFORMING)
def test_every_mechanism_conforms(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    values = some_values(mechanism, 6, 3)
    truth = np.atleast_1d(truth_of(mechanism, values[0]))
    check_mechanism(mechanism, values, truth=truth, estimated=estimated(mechanism, truth), tight=True)
    assert mechanism.guarantee().epsilon == mechanism.epsilon


@pytest.mark.parametrize("epsilon", OTHERS)
def test_likelihood_ratio_is_bounded_exactly(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    check_tightness(mechanism, check_guarantee(mechanism))
    assert mechanism.guarantee().epsilon == mechanism.epsilon


def test_operating_system_bits_give_the_same_distribution(factory) -> None:
    mechanism = factory(1.0)
    check_distribution(mechanism, some_values(mechanism, 6, 1), SystemBits(), alarm=1e-10)


def test_a_mechanism_is_registered_under_its_name(factory) -> None:
    parameters = factory(1.0).to_dict()
    assert MECHANISMS[parameters.pop("mechanism")](**parameters) == factory(1.0)


@thorough
@given(
    name=st.sampled_from(["multi-bit", "hds", "piecewise", "sampled-response"]),
    epsilon=st.floats(0.01, 8.0),
    seeds=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
)
def test_no_pair_of_inputs_breaks_the_bound(name: str, epsilon: float, seeds: tuple[int, int]) -> None:
    mechanism = SMALL[name](epsilon)
    first, second = (some_values(mechanism, 1, seed)[0] for seed in seeds)
    assert audit(mechanism, pairs=[(first, second), (second, first)], draws=0).holds


ONE_DRAW = {
    "multi-bit": (MultiBit(epsilon=1.0, dimension=1, low=0.0, high=1.0), [0.3], 0),
    "hds": (HDS(epsilon=0.7, dimension=1, low=0.0, high=1.0, steps=4), [0.5], 1),
    "piecewise": (Piecewise(epsilon=2.0, dimension=1, low=0.0, high=1.0, steps=4), [0.75], 1),
    "randomized-response": (RandomizedResponse(epsilon=1.3, classes=4), 2, 0),
    "counts": (Counts(epsilon=0.8, classes=1, cap=5), [4], 0),
    "offered-response": (OfferedResponse(epsilon=1.3, most=6), [2, 5], 0),
    "subset-response": (SubsetResponse(epsilon=1.3, most=5, sizes=(1, 2, 2, 2)), [2, 5], 0),
    "sampled-response": (SampledResponse(epsilon_per_feature=0.9, categories=(3,), sample=1), [1], 0),
    "mixed-response": (MixedResponse(epsilon=0.9, columns=(("category", 0.0, 2.0, 1),)), [3], 1),
    "analytic-gaussian": (
        AnalyticGaussian(epsilon=1.0, delta=1e-3, dimension=1, low=0.0, high=1.0, steps=2),
        [0.5],
        1,
    ),
}


@pytest.mark.parametrize("name", [name for name in ONE_DRAW if name != "analytic-gaussian"])
def test_the_program_draws_with_exactly_the_stated_integers(name: str) -> None:
    check_stated_integers(*ONE_DRAW[name])


def test_the_gaussian_table_is_drawn_with_exactly_the_stated_integers() -> None:
    mechanism, value, _ = ONE_DRAW["analytic-gaussian"]
    stated = mechanism.exact_distribution(value)
    cumulative = np.cumsum([int(bounds[0] * mechanism._total) for bounds in stated.values()])
    ends = np.unique(np.concatenate([cumulative - 1, cumulative]))
    ends = ends[(ends >= 0) & (ends < mechanism._total)]
    reports = mechanism.perturb(np.full((len(ends), 1), value[0]), ScriptedBits(np.int64(0), ends))
    expected = np.array([key[1][0] for key in stated])[np.searchsorted(cumulative, ends, side="right")]
    assert (reports.symbols[:, 0] == expected).all()


@dataclass(frozen=True, kw_only=True)
class OverspendingMultiBit(MultiBit):
    """Spends 1 % more than it says."""

    @cached_property
    def odds(self) -> Odds:
        return odds(self.share * Fraction(101, 100))


@dataclass(frozen=True, kw_only=True)
class OverspendingSubsets(SubsetResponse):
    """Weighs the subsets with the true option 1 % too much where there are four options."""

    @cached_property
    def _subset_odds(self) -> tuple[Odds, ...]:
        usual = list(super()._subset_odds)
        usual[2] = odds(Fraction(self.epsilon) * Fraction(101, 100), highs=3, lows=3)
        return tuple(usual)


@dataclass(frozen=True, kw_only=True)
class LyingResponse(RandomizedResponse):
    """Draws with another distribution than it states."""

    def perturb(self, values, bits: Bits) -> Reports:
        return RandomizedResponse(epsilon=1.05 * self.epsilon, classes=self.classes).perturb(values, bits)


@dataclass(frozen=True, kw_only=True)
class HonestNowAndThen(MultiBit):
    """Tells the truth on one draw in a thousand."""

    def _draw(self, positions, bits: Bits):
        draws = bits.below(self.odds.total, positions.shape)
        usual = np.where(draws < self._thresholds(positions), 1, -1)
        return np.where(draws % 1000 == 0, np.where(positions > 0.5, 1, -1), usual)


@dataclass(frozen=True, kw_only=True)
class NoiseClippedLaplace(Laplace):
    """Clips the noise instead of the noisy value, so that some reports are possible under one value only."""

    def _probability(self, point: int, origin: int):
        distance = abs(point - origin)
        if distance > self.reach:
            return Fraction(0), Fraction(0)
        return super()._probability(-distance, 0)


@dataclass(frozen=True, kw_only=True)
class BiasedHDS(HDS):
    """Gives the paper's raw output as its estimate."""

    def estimate(self, reports: Reports):
        return self.raw_output(reports)


@dataclass(frozen=True, kw_only=True)
class Forgetful(MultiBit):
    """Draws from another source than the one that it is given."""

    def perturb(self, values, bits: Bits) -> Reports:
        return super().perturb(values, SystemBits())


@dataclass(frozen=True, kw_only=True)
class OptimisticMultiBit(MultiBit):
    """States a variance that is 5 % too small."""

    def variance(self, values) -> np.ndarray:
        return 0.95 * super().variance(values)


def test_the_suite_refuses_a_mechanism_that_spends_one_percent_more() -> None:
    with pytest.raises(AssertionError, match=r"multi-bit promises epsilon 1\.0, but .* show more"):
        check_guarantee(OverspendingMultiBit(epsilon=1.0, dimension=2, low=0.0, high=1.0))


def test_the_suite_refuses_subsets_that_say_too_much_for_one_number_of_options() -> None:
    assert check_guarantee(SubsetResponse(epsilon=1.0, most=5, sizes=(1, 1, 2, 2))).holds
    with pytest.raises(AssertionError, match=r"subset-response promises epsilon 1\.0, but .* show more"):
        check_guarantee(OverspendingSubsets(epsilon=1.0, most=5, sizes=(1, 1, 2, 2)))


@dataclass(frozen=True, kw_only=True)
class ThriftyMultiBit(MultiBit):
    """Spends 2 % less than it says."""

    @cached_property
    def odds(self) -> Odds:
        return odds(self.share * Fraction(98, 100))


@pytest.mark.parametrize("listed", [True, False])
def test_the_suite_refuses_a_mechanism_that_does_not_spend_the_last_percent(listed: bool) -> None:
    thrifty = ThriftyMultiBit(epsilon=1.0, dimension=2, low=0.0, high=1.0)
    with pytest.raises(AssertionError, match="does not spend the last percent"):
        check_tightness(thrifty, audit(thrifty, draws=0) if listed else None)


def test_the_suite_refuses_a_program_that_differs_from_its_statement() -> None:
    check_stated_integers(RandomizedResponse(epsilon=1.3, classes=4), 2)
    with pytest.raises(AssertionError, match=r"draws with .*, and states "):
        check_stated_integers(LyingResponse(epsilon=1.3, classes=4), 2)
    with pytest.raises(AssertionError, match="another distribution than it states"):
        check_distribution(LyingResponse(epsilon=3.0, classes=4), [2])


def test_the_suite_refuses_rare_honesty() -> None:
    with pytest.raises(AssertionError, match=r"third report|where its neighbours give"):
        check_stated_integers(HonestNowAndThen(epsilon=1.0, dimension=1, low=0.0, high=1.0), [0.3])


def test_the_suite_refuses_reports_that_are_impossible_under_another_input() -> None:
    broken = NoiseClippedLaplace(epsilon=1.0, dimension=1, low=0.0, high=1.0, steps=4)
    assert not audit(broken, pairs=[([0.0], [1.0])], draws=0).holds
    with pytest.raises(AssertionError, match="show more"):
        check_guarantee(broken)


@pytest.mark.parametrize(
    ("kind", "epsilon", "sentence"),
    [(BiasedHDS, 1.0, "biased"), (OptimisticMultiBit, 4.5, "states a variance"), (Forgetful, 1.0, "coins of its own")],
)
def test_the_suite_refuses_wrong_estimates_and_changing_programs(kind: Any, epsilon: float, sentence: str) -> None:
    values = np.array([[0.5, -0.4], [0.1, 0.2], [-1.0, 1.0]])
    with pytest.raises(AssertionError, match=sentence):
        check_mechanism(kind(epsilon=epsilon, dimension=2, low=-1.0, high=1.0), values)


def test_a_claim_can_be_checked_for_a_given_delta() -> None:
    mechanism = SMALL["analytic-gaussian"](1.0)
    claim = mechanism.guarantee()
    assert not audit(mechanism, replace(claim, delta=0.99 * claim.delta), draws=0).holds
    assert isinstance(claim, Guarantee)
