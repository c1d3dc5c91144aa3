"""The suite that every mechanism runs, and deliberately broken mechanisms that it must refuse.

Statistical checks use fixed seeds; each states the chance with which a correct mechanism would fail for another seed.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from privet.auditing import audit
from privet.mechanisms import (
    HDS,
    MECHANISMS,
    AdjacencyResponse,
    AnalyticGaussian,
    Bits,
    DegreeResponse,
    Laplace,
    Mechanism,
    MultiBit,
    NeighbourReports,
    Piecewise,
    RandomizedResponse,
    Reports,
    SampledResponse,
    SeededBits,
    SquareWave,
    SystemBits,
)
from privet.mechanisms.primitives.odds import Odds, odds
from privet.privacy import Guarantee

EPSILONS = (0.01, 0.1, 1.0, 2.5, 8.0)
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
    "degree-response": degree,
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
    if isinstance(mechanism, SampledResponse):
        return rng.integers(0, mechanism.categories, size=(users, mechanism.dimension)).astype(float)
    if isinstance(mechanism, AdjacencyResponse):
        upper = np.triu(rng.random((mechanism.num_nodes,) * 2) < 0.4, 1)
        return (upper | upper.T).astype(float)
    low, high = (
        np.broadcast_to(mechanism.low, mechanism.dimension),
        np.broadcast_to(mechanism.high, mechanism.dimension),
    )
    values = rng.uniform(low, high, size=(users, mechanism.dimension))
    return np.where(rng.random(values.shape) < 0.3, np.where(rng.random(values.shape) < 0.5, low, high), values)


def perturb_repeatedly(mechanism: Mechanism, value: np.ndarray, times: int, bits: Bits) -> Reports | NeighbourReports:
    """Many independent reports of one user."""
    rows = np.repeat(np.atleast_2d(value) if np.ndim(value) else [value], times, axis=0)
    if isinstance(mechanism, AdjacencyResponse):
        return mechanism.perturb(rows, bits, users=np.zeros(times, dtype=np.int64))
    return mechanism.perturb(rows, bits)


def check_program_matches_distribution(mechanism: Mechanism, value: np.ndarray, bits: Bits, alarm: float) -> None:
    """Chi-square of the reports that the program draws against the distribution that it states."""
    times = 20_000
    reports = perturb_repeatedly(mechanism, value, times, bits)
    counts = Counter(mechanism.report_key(reports, row) for row in range(times))
    stated = {key: float(sum(bounds)) / 2 for key, bounds in mechanism.exact_distribution(value).items()}
    assert set(counts) <= set(stated)
    ordered = sorted(stated, key=stated.__getitem__)
    observed, expected, group = [], [], [0, 0.0]
    for key in ordered:  # merge rare reports until ten are expected
        group = [group[0] + counts[key], group[1] + stated[key] * times]
        if group[1] >= 10:
            observed.append(group[0])
            expected.append(group[1])
            group = [0, 0.0]
    observed[-1] += group[0]
    expected[-1] += group[1]
    if len(observed) > 1:
        assert stats.chisquare(observed, np.array(expected) * times / sum(expected)).pvalue > alarm


def check_moments(mechanism: Mechanism, value: np.ndarray, truth: np.ndarray, asked: np.ndarray) -> None:
    """The mean and the variance of the estimate; a correct mechanism fails each test with a chance below 1e-7."""
    times = 40_000
    reports = perturb_repeatedly(mechanism, value, times, SeededBits(5))
    estimates = mechanism.estimate(reports).dense()[:, asked]
    stated = mechanism.variance(np.atleast_2d(value) if np.ndim(value) else np.array([value]))[0][asked]
    mean = estimates.mean(axis=0)
    assert (np.abs(mean - truth[asked]) <= 5.5 * np.sqrt(stated / times)).all()
    squares = (estimates - truth[asked]) ** 2
    assert (np.abs(squares.mean(axis=0) - stated) <= 5.5 * squares.std(axis=0) / math.sqrt(times) + 1e-9).all()


def truth_of(mechanism: Mechanism, value: np.ndarray) -> np.ndarray:
    """What an unbiased estimate of the value is on average."""
    if isinstance(mechanism, RandomizedResponse):
        return np.eye(mechanism.classes)[value]
    if isinstance(mechanism, SampledResponse):
        return np.concatenate([np.eye(c)[int(v)] for v, c in zip(value, mechanism.categories, strict=True)])
    return np.asarray(value)


@pytest.fixture(params=SMALL, ids=str)
def factory(request: pytest.FixtureRequest):
    return SMALL[request.param]


def test_every_mechanism_is_in_the_suite() -> None:
    assert {build(1.0).name for build in SMALL.values()} == set(MECHANISMS)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_likelihood_ratio_is_bounded_exactly(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    result = audit(mechanism)
    assert result.holds
    assert result.claim == mechanism.guarantee().epsilon == mechanism.epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_an_epsilon_understated_by_one_percent_is_found(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    claim = mechanism.guarantee()
    assert not audit(mechanism, replace(claim, epsilon=0.99 * claim.epsilon)).holds


@pytest.mark.parametrize("epsilon", [0.1, 2.5])
def test_program_matches_its_stated_distribution(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    for seed in range(3):
        value = some_values(mechanism, 6, seed)[0]
        check_program_matches_distribution(mechanism, value, SeededBits(seed), alarm=1e-6)


def test_operating_system_bits_give_the_same_distribution(factory) -> None:
    mechanism = factory(1.0)
    check_program_matches_distribution(mechanism, some_values(mechanism, 6, 1)[0], SystemBits(), alarm=1e-10)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_estimates_are_unbiased_with_the_stated_variance(factory, epsilon: float) -> None:
    mechanism = factory(epsilon)
    value = some_values(mechanism, 6, 3)[0]
    truth = truth_of(mechanism, value)
    asked = np.ones(truth.shape, dtype=bool)
    if isinstance(mechanism, AdjacencyResponse):
        asked[0] = False  # nobody reports on themselves
    check_moments(mechanism, value, truth, asked)


def test_dense_and_sparse_input_agree(factory) -> None:
    mechanism = factory(1.0)
    values = some_values(mechanism, 6, 2)
    if values.ndim == 1:
        pytest.skip("labels are a vector: there is no sparse form")
    dense = mechanism.perturb(values, SeededBits(7))
    for sparse in (sp.csr_array(values), sp.coo_array(values), sp.csc_matrix(values)):
        assert mechanism.perturb(sparse, SeededBits(7)).to_bytes() == dense.to_bytes()


def test_calling_twice_changes_nothing(factory) -> None:
    mechanism, fresh = factory(2.0), factory(2.0)
    values = some_values(mechanism, 6, 4)
    kept = values.copy()
    first = mechanism.perturb(values, SeededBits(3))
    mechanism.estimate(first)
    mechanism.perturb(some_values(mechanism, 6, 5), SeededBits(9))
    assert mechanism.perturb(values, SeededBits(3)).to_bytes() == first.to_bytes()
    assert mechanism == fresh
    assert mechanism.guarantee() == fresh.guarantee()
    assert (values == kept).all()


def test_reports_survive_a_byte_round_trip(factory) -> None:
    mechanism = factory(1.0)
    reports = mechanism.perturb(some_values(mechanism, 6, 6), SeededBits(1))
    again = type(reports).from_bytes(reports.to_bytes())
    assert again == reports
    assert again.to_bytes() == reports.to_bytes()
    assert (mechanism.estimate(again).dense() == mechanism.estimate(reports).dense()).all()
    alone = reports.take(np.array([2, 0]))
    assert mechanism.report_key(alone, 0) == mechanism.report_key(reports, 2)


def test_log_likelihood_is_that_of_the_exact_distribution(factory) -> None:
    mechanism = factory(1.5)
    value = some_values(mechanism, 6, 8)[0]
    reports = perturb_repeatedly(mechanism, value, 20, SeededBits(2))
    rows = np.repeat(np.atleast_2d(value) if np.ndim(value) else [value], 20, axis=0)
    exact = mechanism.exact_distribution(value)
    expected = [math.log(float(sum(exact[mechanism.report_key(reports, row)])) / 2) for row in range(20)]
    np.testing.assert_allclose(mechanism.log_likelihood(reports, rows), expected, rtol=1e-9)


def test_a_mechanism_is_described_by_its_parameters(factory) -> None:
    mechanism = factory(1.0)
    parameters = mechanism.to_dict()
    assert MECHANISMS[parameters.pop("mechanism")](**parameters) == mechanism


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["multi-bit", "hds", "piecewise", "sampled-response"]),
    epsilon=st.floats(0.01, 8.0),
    seeds=st.tuples(st.integers(0, 1000), st.integers(0, 1000)),
)
def test_no_pair_of_inputs_breaks_the_bound(name: str, epsilon: float, seeds: tuple[int, int]) -> None:
    mechanism = SMALL[name](epsilon)
    first, second = (some_values(mechanism, 1, seed)[0] for seed in seeds)
    assert audit(mechanism, pairs=[(first, second), (second, first)]).holds


class ScriptedBits(Bits):
    """Hands out prepared draws, so that a test can ask a program what it does with each."""

    def __init__(self, *draws: np.ndarray) -> None:
        self.draws = list(draws)
        self.bounds: list[int] = []

    def words(self, count: int) -> np.ndarray:
        raise AssertionError("only below() is scripted")

    def below(self, bound, shape) -> np.ndarray:
        self.bounds.append(int(np.max(bound)))
        draw = self.draws.pop(0)
        draw = draw.reshape(shape) if draw.size > 1 else np.broadcast_to(draw, shape)
        assert (draw < bound).all()
        return draw.astype(np.int64)


ONE_DRAW = {
    "multi-bit": (MultiBit(epsilon=1.0, dimension=1, low=0.0, high=1.0), 0.3, 0),
    "hds": (HDS(epsilon=0.7, dimension=1, low=0.0, high=1.0, steps=4), 0.5, 1),
    "piecewise": (Piecewise(epsilon=2.0, dimension=1, low=0.0, high=1.0, steps=4), 0.75, 1),
    "randomized-response": (RandomizedResponse(epsilon=1.3, classes=4), 2, 0),
    "sampled-response": (SampledResponse(epsilon_per_feature=0.9, categories=(3,), sample=1), 1, 0),
    "analytic-gaussian": (
        AnalyticGaussian(epsilon=1.0, delta=1e-3, dimension=1, low=0.0, high=1.0, steps=2),
        0.5,
        1,
    ),
}


def measured_weights(mechanism: Mechanism, value: float, rounding_draws: int) -> Counter:
    """How many of the possible integer draws give each report: the program's own weights, found by bisection."""

    def reports_for(draws: np.ndarray) -> tuple[list, int]:
        bits = ScriptedBits(*[np.int64(0)] * rounding_draws, draws)
        labels = mechanism.name == "randomized-response"
        values = np.full(len(draws), value) if labels else np.full((len(draws), 1), value)
        reports = mechanism.perturb(values, bits)
        return [mechanism.report_key(reports, row) for row in range(len(draws))], bits.bounds[-1]

    _, total = reports_for(np.zeros(1, dtype=np.int64))
    edges = np.unique(np.linspace(0, total - 1, 5000).astype(np.int64))
    keys, _ = reports_for(edges)
    weights: Counter = Counter()
    found: list[tuple[object, int]] = []
    start = 0
    for left, right, before, after in zip(edges[:-1], edges[1:], keys[:-1], keys[1:], strict=True):
        if before == after:
            continue
        low, high = int(left), int(right)
        while high - low > 1:
            middle = (low + high) // 2
            key = reports_for(np.array([middle]))[0][0]
            assert key in (before, after), "a third report between two probes: use more probes"
            low, high = (middle, high) if key == before else (low, middle)
        weights[before] += high - start
        found.append((before, high - start))
        start = high
    weights[keys[-1]] += total - start
    found.append((keys[-1], total - start))
    boundaries, order = np.cumsum([length for _, length in found]), [key for key, _ in found]
    # Draws at random must agree with the steps: a stretch of other reports of 1e-4 would be missed with chance e^-10.
    draws = np.sort(np.random.default_rng(0).integers(total, size=100_000))
    for draw, key in zip(draws.tolist(), reports_for(draws)[0], strict=True):
        assert order[int(np.searchsorted(boundaries, draw, side="right"))] == key
    return weights


@pytest.mark.parametrize("name", [name for name in ONE_DRAW if name != "analytic-gaussian"])
def test_the_program_draws_with_exactly_the_stated_integers(name: str) -> None:
    mechanism, value, rounding_draws = ONE_DRAW[name]
    weights = measured_weights(mechanism, value, rounding_draws)
    stated = mechanism.exact_distribution(value)
    total = sum(weights.values())
    assert {key: Fraction(weight, total) for key, weight in weights.items()} == {k: v[0] for k, v in stated.items()}


def test_the_gaussian_table_is_drawn_with_exactly_the_stated_integers() -> None:
    mechanism, value, _ = ONE_DRAW["analytic-gaussian"]
    stated = mechanism.exact_distribution(value)
    cumulative = np.cumsum([int(bounds[0] * mechanism._total) for bounds in stated.values()])
    ends = np.unique(np.concatenate([cumulative - 1, cumulative]))
    ends = ends[(ends >= 0) & (ends < mechanism._total)]
    reports = mechanism.perturb(np.full((len(ends), 1), value), ScriptedBits(np.int64(0), ends))
    expected = np.array([key[1][0] for key in stated])[np.searchsorted(cumulative, ends, side="right")]
    assert (reports.symbols[:, 0] == expected).all()


@dataclass(frozen=True, kw_only=True)
class OverspendingMultiBit(MultiBit):
    """Spends 1 % more than it says."""

    @cached_property
    def odds(self) -> Odds:
        return odds(self.share * Fraction(101, 100), "OverspendingMultiBit")


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
class OptimisticMultiBit(MultiBit):
    """States a variance that is 5 % too small."""

    def variance(self, values) -> np.ndarray:
        return 0.95 * super().variance(values)


def test_the_suite_refuses_a_mechanism_that_spends_one_percent_more() -> None:
    assert not audit(OverspendingMultiBit(epsilon=1.0, dimension=2, low=0.0, high=1.0)).holds


def test_the_suite_refuses_a_program_that_differs_from_its_statement() -> None:
    liar = LyingResponse(epsilon=1.3, classes=4)
    assert measured_weights(liar, 2, 0) != measured_weights(RandomizedResponse(epsilon=1.3, classes=4), 2, 0)
    weights = measured_weights(liar, 2, 0)
    total = sum(weights.values())
    assert {k: Fraction(w, total) for k, w in weights.items()} != {
        k: v[0] for k, v in liar.exact_distribution(2).items()
    }
    with pytest.raises(AssertionError):
        check_program_matches_distribution(LyingResponse(epsilon=3.0, classes=4), 2, SeededBits(0), alarm=1e-6)


def test_the_suite_refuses_rare_honesty() -> None:
    with pytest.raises(AssertionError):
        measured_weights(HonestNowAndThen(epsilon=1.0, dimension=1, low=0.0, high=1.0), 0.3, 0)


def test_the_suite_refuses_reports_that_are_impossible_under_another_input() -> None:
    result = audit(NoiseClippedLaplace(epsilon=1.0, dimension=1, low=0.0, high=1.0, steps=4), pairs=[([0.0], [1.0])])
    assert not result.holds


def test_the_suite_refuses_a_bias_and_a_wrong_variance() -> None:
    value = np.array([0.5, -0.4])
    for broken in (
        BiasedHDS(epsilon=1.0, dimension=2, low=-1.0, high=1.0),
        OptimisticMultiBit(epsilon=4.5, dimension=2, low=-1.0, high=1.0),
    ):
        with pytest.raises(AssertionError):
            check_moments(broken, value, value, np.ones(2, dtype=bool))


def test_a_claim_can_be_checked_for_a_given_delta() -> None:
    mechanism = SMALL["analytic-gaussian"](1.0)
    claim = mechanism.guarantee()
    assert not audit(mechanism, replace(claim, delta=0.99 * claim.delta)).holds
    assert isinstance(claim, Guarantee)
