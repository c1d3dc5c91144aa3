from __future__ import annotations

import math

import numpy as np
import pytest

from privet.auditing import audit
from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter, InvalidReports, OutOfRangeWarning
from privet.mechanisms import Reports, SampledResponse, SeededBits


@pytest.mark.parametrize(
    ("d", "m", "categories", "eps_x", "claimed", "exact"),
    [(4, 2, 2, 1.0, 1.434, 2.0), (5, 2, 2, 0.1, 0.085, 0.2), (4, 1, 3, 1.0, 0.357, 1.0), (6, 3, 2, 0.5, 1.008, 1.5)],
)
@pytest.mark.parametrize("fill", ["uniform", "none"])
def test_theorem_1_does_not_hold_and_m_eps_x_does(d, m, categories, eps_x, claimed, exact, fill) -> None:
    mechanism = SampledResponse(epsilon_per_feature=eps_x, categories=(categories,) * d, sample=m, fill=fill)
    assert mechanism.published_epsilon == pytest.approx(claimed, abs=5e-4)
    guarantee = mechanism.guarantee()
    assert (guarantee.epsilon, guarantee.published_epsilon) == (mechanism.epsilon, mechanism.published_epsilon)
    pairs = [((0,) * d, (1,) * d)]
    result = audit(mechanism, pairs=pairs, draws=0)
    assert result.holds
    assert result.epsilon == pytest.approx(exact, rel=1e-9)


def test_frequencies_and_their_variance() -> None:
    """Six standard deviations with a fixed seed; another seed would fail with a chance below 1e-7."""
    rng = np.random.default_rng(0)
    shares = [np.array([0.3, 0.7]), np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.5])]
    users = 40_000
    codes = np.stack(
        [rng.permutation(np.repeat(np.arange(len(s)), np.round(s * users).astype(int))) for s in shares], 1
    )
    for fill in ("uniform", "none"):
        mechanism = SampledResponse(epsilon_per_feature=0.7, categories=(2, 3, 2), sample=2, fill=fill)
        found = mechanism.frequencies(mechanism.perturb(codes, SeededBits(1)))
        stated = mechanism.frequency_variance(found, users)
        for share, estimate, variance in zip(shares, found, stated, strict=True):
            assert (np.abs(estimate - share) < 6 * np.sqrt(variance)).all()
            assert estimate.sum() == pytest.approx(1, abs=1e-6) or fill == "none"


def test_the_stated_frequency_variance_is_the_spread_over_repetitions() -> None:
    """The ratio of variances over 400 repetitions lies within 5 standard deviations, 5 sqrt(2 / 399)."""
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=1)
    codes = np.zeros((200, 2))
    runs = [mechanism.frequencies(mechanism.perturb(codes, SeededBits(seed))) for seed in range(400)]
    for feature in range(2):
        spread = np.var([run[feature] for run in runs], axis=0, ddof=1)
        stated = np.mean([mechanism.frequency_variance(run, 200)[feature] for run in runs], axis=0)
        assert (np.abs(spread / stated - 1) < 5 * math.sqrt(2 / 399)).all()


def test_equation_2_for_one_feature() -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(3, 3, 3, 3), sample=2)
    reports = mechanism.perturb(np.zeros((100, 4)), SeededBits(0))
    p, q, d, m, c = mechanism.keep[0], mechanism.flip[0], 4, 2, 3
    observed = np.bincount(reports.symbols[:, 0], minlength=3) / 100
    expected = observed * d / (m * (p - q)) + (m - d - m * c * q) / (m * c * (p - q))
    np.testing.assert_allclose(mechanism.frequencies(reports)[0], expected)


def test_saying_nothing_of_the_rest_costs_the_same_and_is_worth_more() -> None:
    grr_fs = SampledResponse(epsilon_per_feature=0.5, categories=(2,) * 20, sample=3)
    bare = SampledResponse(epsilon_per_feature=0.5, categories=(2,) * 20, sample=3, fill="none")
    assert grr_fs.epsilon == bare.epsilon
    assert bare.variance(np.zeros((1, 20))).max() < 0.5 * grr_fs.variance(np.zeros((1, 20))).min()


def test_likelihoods_clip_like_the_program() -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(3,), sample=1)
    report = Reports(1, np.array([[2]], dtype=np.int8))
    with pytest.warns(OutOfRangeWarning):
        outside = mechanism.log_likelihood(report, [[9]])
    assert outside == mechanism.log_likelihood(report, [[2]])


def test_a_split_budget_is_never_more_than_was_asked_for() -> None:
    for features in range(2, 40):
        mechanism = SampledResponse.declare(Schema.categorical([2] * features), epsilon=0.1, sample=features)
        assert 0.1 * (1 - 1e-12) < mechanism.epsilon <= 0.1
    with pytest.raises(InvalidParameter, match=r"^sample must be"):
        SampledResponse.declare(Schema.categorical([2]), epsilon=0.1, sample=0)


def test_declare_splits_a_true_budget() -> None:
    mechanism = SampledResponse.declare(Schema.categorical([2, 3, 2]), epsilon=1.0, sample=2)
    assert mechanism.epsilon == 1.0
    assert mechanism.epsilon_per_feature == 0.5


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"sample": 4}, "sample"), ({"sample": 0}, "sample"), ({"categories": ()}, "categories"),
        ({"categories": (2, 1, 2)}, r"categories\[1\]"), ({"fill": "zeros"}, "fill"),
        ({"epsilon_per_feature": 0.0}, "epsilon_per_feature"),
        ({"epsilon_per_feature": math.nan}, "epsilon_per_feature"),
        ({"epsilon_per_feature": 1e-20}, "epsilon"), ({"epsilon_per_feature": 1e308}, "epsilon"),
        ({"epsilon_per_feature": 80.0}, "epsilon"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(changes: dict, name: str) -> None:
    fields = {"epsilon_per_feature": 1.0, "categories": (2, 2, 2), "sample": 2}
    with pytest.raises(InvalidParameter, match=f"{name}"):
        SampledResponse(**(fields | changes))


def test_bad_codes_and_reports() -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=1)
    with pytest.raises(InvalidData, match="codes of categories"):
        mechanism.perturb([[0.5, 1.0]], SeededBits(0))
    with pytest.warns(OutOfRangeWarning, match="1 of 2"):
        clipped = mechanism.perturb([[5, 1]], SeededBits(0))
    assert clipped == mechanism.perturb([[1, 1]], SeededBits(0))
    with pytest.raises(InvalidReports, match="row 1"):
        mechanism.estimate(Reports(2, np.array([[0, 2], [2, 0]], dtype=np.int8)))
    with pytest.raises(InvalidReports, match="symbols without indices"):
        mechanism.estimate(Reports(2, np.array([[0, 2]], dtype=np.int16)))
    with pytest.raises(InvalidReports, match="2 of 2 coordinates"):
        mechanism.estimate(Reports(2, np.array([[0]], dtype=np.int8), np.array([[1]], dtype=np.int32)))
