"""The accountant against closed forms, simulation and the sampler's whole process on tiny graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import binom, norm
from scipy.stats import poisson as poisson_law

from privet.errors import InvalidParameter
from privet.privacy import Unit
from privet.privacy.accounting.degrees import binomial, binomial_fractions, over_degrees, poisson, rounded_up
from privet.privacy.accounting.losses import compose_steps
from privet.privacy.accounting.node_level import (
    account,
    account_to_target,
    calibrate,
    default_delta,
    epsilon,
    step_losses,
)
from privet.privacy.accounting.sml import sml_delta
from privet.privacy.accounting.steps import Step, bracket_step, revealed_step, sml_step


def subsampled_gaussian(sigma: float, q: float, T: int, delta: float) -> float:
    """dp_accounting's own accountant, sensitivity 1/2."""
    return float(
        pld.from_gaussian_mechanism(2 * sigma, sampling_prob=q, value_discretization_interval=1e-4)
        .self_compose(T)
        .get_epsilon_for_delta(delta)
    )


@pytest.mark.parametrize(("M", "num_nodes"), [(0, 500), (3, 1)], ids=["M = 0", "D = 0"])
@pytest.mark.parametrize(("sigma", "q", "T"), [(4.0, 0.2, 50), (1.0, 0.01, 300), (2.0, 0.5, 1)])
def test_without_neighbours_it_is_poisson_subsampling(M: int, num_nodes: int, sigma: float, q: float, T: int) -> None:
    expected = subsampled_gaussian(sigma, q, T, 1e-5)
    assert expected * (1 - 1e-9) <= epsilon(sigma, q, M, T, 1e-5, num_nodes) <= expected * 1.002


def test_a_node_that_is_always_central_is_a_gaussian_mechanism() -> None:
    found = epsilon(3.0, 1.0, 2, 10, 1e-5, 300)
    a, b = math.sqrt(10) / 12, found * 6 / math.sqrt(10)
    assert 0.99e-5 <= norm.cdf(a - b) - math.exp(found) * norm.cdf(-a - b) <= 1e-5


def test_one_step_of_degree_one_by_quadrature() -> None:
    sigma, q = 1.2, 0.3
    x = np.linspace(-15, 16, 400_001)
    none, half, one = (norm.pdf(x, shift, sigma) for shift in (0, 0.5, 1))
    forward, backward = step_losses(sigma, q, 1, 1.0)
    for level in (0.1, 0.5, 1.0):
        factor = math.exp(level)
        for losses, sign in ((forward, 1), (backward, -1)):
            exact = 0.0
            for chance, mixture in ((1 - q, q * half + (1 - q) * none), (q, q * half + (1 - q) * one)):
                p, r = (mixture, none)[::sign]
                exact += chance * float(trapezoid(np.maximum(0, p - factor * r), x))
            assert exact - 1e-9 <= losses.delta(level) <= exact + 1e-4


def coins(degree: int, q: float, p: float) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """All outcomes: which out-neighbours are central, and which of them would pick the node."""
    for central in itertools.product((0, 1), repeat=degree):
        for pick in itertools.product((0, 1), repeat=degree):
            chance = math.prod(q if c else 1 - q for c in central) * math.prod(p if k else 1 - p for k in pick)
            yield chance, central, pick


def whole_process(
    sigma: float, q: float, degree: int, p: float, own: float, without: list[float], with_node: list[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Densities of the noisy sum with and without the node: no conditioning, no bound, every coin.

    ``without[j]`` and ``with_node[j]`` are neighbour j's clipped gradients in [-1/2, 1/2]; ``own`` is the node's.
    """
    x = np.linspace(-12 * sigma - degree, 12 * sigma + degree, 60_001)
    absent, present = np.zeros_like(x), np.zeros_like(x)
    for chance, central, pick in coins(degree, q, p):
        base = sum(c * g for c, g in zip(central, without, strict=True))
        moved = sum(c * (h if k else g) for c, k, g, h in zip(central, pick, without, with_node, strict=True))
        absent += chance * norm.pdf(x, base, sigma)
        present += chance * (q * norm.pdf(x, base + own, sigma) + (1 - q) * norm.pdf(x, moved, sigma))
    return x, present, absent


@settings(max_examples=15)
@given(
    sigma=st.floats(0.5, 3),
    q=st.floats(0.05, 0.9),
    degree=st.integers(1, 3),
    M=st.sampled_from([1, 2]),
    gradients=st.lists(st.sampled_from([-0.5, -0.2, 0.0, 0.5]), min_size=7, max_size=7),
    level=st.floats(0, 2),
)
def test_the_real_process_on_tiny_graphs_stays_below(
    sigma: float, q: float, degree: int, M: int, gradients: list[float], level: float
) -> None:
    p = min(1.0, M / degree)
    x, present, absent = whole_process(
        sigma, q, degree, p, gradients[0], gradients[1 : degree + 1], gradients[-degree:]
    )
    factor = math.exp(level)
    forward, backward = step_losses(sigma, q, degree, p)
    assert trapezoid(np.maximum(0, present - factor * absent), x) <= forward.delta(level) + 1e-8
    assert trapezoid(np.maximum(0, absent - factor * present), x) <= backward.delta(level) + 1e-8


def test_averaging_over_central_neighbours_first_would_be_too_small() -> None:
    """The same process refutes the tempting accountant that mixes the weights over C before the divergence."""
    from privet.privacy.accounting.degrees import shift_weights
    from privet.privacy.accounting.losses import loss_step, mixture_losses

    sigma, q = 0.5, 0.5
    # the neighbour's gradient turns round when it picks the node; without the node it points the other way
    x, present, absent = whole_process(sigma, q, 1, 1.0, -0.5, [0.5], [-0.5])
    averaged = mixture_losses(sigma, shift_weights(q, np.array([1 - q, q])), loss_step(sigma, 1))
    proven = step_losses(sigma, q, 1, 1.0)
    gaps, safe = [], []
    for level in np.linspace(0, 3, 13):
        factor = math.exp(level)
        for side, (p, r) in enumerate(((present, absent), (absent, present))):
            true = float(trapezoid(np.maximum(0, p - factor * r), x))
            gaps.append(true - averaged[side].delta(level))
            safe.append(true - proven[side].delta(level))
    assert max(gaps) > 1e-4
    assert max(safe) <= 1e-8


@pytest.mark.parametrize("side", [0, 1], ids=["remove", "add"])
def test_composed_losses_agree_with_simulation(side: int) -> None:
    """Monte Carlo of the dominating pair at T = 8; the bands hold with probability 1 - 1e-6 (4.9 standard errors)."""
    sigma, q, degree, M, T, level, draws = 1.5, 0.3, 2, 1, 8, 0.8, 400_000
    generator = np.random.default_rng(7)
    p, total = M / degree, np.zeros(draws)
    for _ in range(T):
        count = generator.binomial(degree, q, draws)
        shift = np.where(generator.random(draws) < q, 0.5, generator.binomial(count, p)) if side == 0 else 0.0
        x = shift + sigma * generator.standard_normal(draws)
        ratio = q * np.exp((0.5 * x - 0.125) / sigma**2)
        for k in range(degree + 1):
            ratio += (1 - q) * binom.pmf(k, count, p) * np.exp((k * x - k * k / 2) / sigma**2)
        total += np.log(ratio) if side == 0 else -np.log(ratio)
    values = np.maximum(0, -np.expm1(np.minimum(0, level - total)))
    error = 4.9 * values.std() / math.sqrt(draws)
    found = step_losses(sigma, q, degree, p)[side].composed(T).delta(level)
    assert abs(found - values.mean()) <= error + 1e-4
    assert found > 5 * error  # else the comparison would be empty


def test_neither_direction_may_be_forgotten() -> None:
    directions = step_losses(1.0, 0.3, 2, 0.5)
    apart = [losses.composed(4).epsilon(0.05) for losses in directions]
    assert abs(apart[0] - apart[1]) > 1e-2
    assert compose_steps(directions, 4, 0.05) == max(apart)
    assert compose_steps(directions[::-1], 4, 0.05) == max(apart)


def test_every_shift_counts() -> None:
    """Taking the shift of a picked sub-graph as 1/2 instead of 1 would be far too small."""
    found = epsilon(4.0, 0.2, 1, 50, 1e-5, 1000)
    assert found > 2 * subsampled_gaussian(4.0, 0.2, 50, 1e-5)


BASE = {"sigma": 3.0, "q": 0.2, "M": 1, "T": 20, "delta": 1e-5, "num_nodes": 200}


@pytest.mark.parametrize(
    ("name", "worse"), [("sigma", 2.5), ("q", 0.25), ("M", 2), ("T", 30), ("delta", 1e-6), ("num_nodes", 2000)]
)
def test_epsilon_moves_the_right_way(name: str, worse: float) -> None:
    assert epsilon(**{**BASE, name: worse}) >= epsilon(**BASE) * (1.0 if name == "num_nodes" else 1.01)


def test_the_worst_degree_stands_for_all_of_them() -> None:
    sigma, q, M, T, delta, num_nodes = 1.3, 0.25, 1.5, 10, 1e-4, 40
    each = [compose_steps(step_losses(sigma, q, D, min(1.0, M / max(D, 1))), T, delta) for D in range(num_nodes)]
    found = account(sigma, q, M, T, delta, num_nodes)
    assert max(each) <= found.epsilon <= max(each) * 1.05  # brackets that were not split to the end
    assert found.worst_out_degree == int(np.argmax(each))


@settings(max_examples=50)
@given(st.integers(0, 400), st.integers(1, 900), st.integers(0, 4))
def test_the_search_over_degrees_never_misses_a_peak(peak: int, largest: int, M: int) -> None:
    """A spike at one degree above M: every bracket that covers it must lead there."""
    peak = min(max(peak, M), largest) if M else 0  # without a multiplier all degrees are alike

    def bound(low: int, high: int) -> float:
        return 2.0 if low <= peak <= high else 1.0

    assert over_degrees(bound, M, largest, most_bounds=10_000) == (2.0, peak)
    assert over_degrees(bound, M, largest, most_bounds=1)[0] == 2.0  # sound without any splitting


@pytest.mark.parametrize(("trials", "chance"), [(0, 0.3), (5, 0.3), (5, 1.0), (2000, 0.01), (100_000, 0.2)])
def test_truncated_counts_lose_little_and_say_how_much(trials: int, chance: float) -> None:
    weights, lost = binomial(trials, chance, 1e-12)
    assert weights.sum() + lost == pytest.approx(1, abs=1e-9)
    assert lost <= 1e-12
    counts, grouped, still_lost = rounded_up(weights, lost)
    assert grouped.sum() == pytest.approx(weights.sum())
    assert still_lost == lost
    for count, below in zip(counts, np.cumsum(grouped), strict=True):  # rounded up: never more at or below a count
        assert below <= binom.cdf(count, trials, chance) + 1e-12
    assert poisson(min(trials * chance, 100), 1e-12).sum() == pytest.approx(1, abs=2e-12)


@settings(max_examples=10)
@given(st.integers(2, 300), st.floats(0.01, 0.9), st.integers(1, 50), st.floats(0, 1))
def test_fractions_dominate_every_degree_of_a_bracket(low: int, q: float, factor: int, place: float) -> None:
    high = low * factor
    degree = round(low + place * (high - low))
    fractions, chances, lost = binomial_fractions(low, high, q, 1e-9)
    above = lost + np.append(np.cumsum(chances[::-1])[::-1][1:], 0.0)  # chance of a fraction beyond each one
    assert (binom.sf(np.floor(fractions * degree), degree, q) <= above + 1e-12).all()
    assert chances.sum() + lost == pytest.approx(1)
    assert (chances >= 0).all()


@settings(max_examples=40)
@given(st.integers(2, 50), st.floats(0.0, 1.0), st.integers(1, 20))
def test_a_poisson_count_dominates_every_larger_degree(least: int, fraction: float, factor: int) -> None:
    """Bi(u D, M/D) <= Poisson(-u a log(1 - M/a)) in distribution for D >= a > M."""
    degree = least * factor
    counts = np.arange(30)
    mean = -fraction * least * math.log1p(-1 / least)
    assert (binom.sf(counts, math.floor(fraction * degree), 1 / degree) <= poisson_law.sf(counts, mean) + 1e-9).all()


@pytest.mark.parametrize(("low", "high"), [(2, 3), (7, 9), (20, 400), (150, 3000)])
@pytest.mark.parametrize("step", [bracket_step, revealed_step])
def test_a_bracket_lies_above_its_degrees(step: Step, low: int, high: int) -> None:
    sigma, q, M, share = 0.7, 0.3, 1.5, 1e-5
    whole = step(sigma, q, M, share, low, high)
    for degree in {low, (low + high) // 2, high}:
        one = step(sigma, q, M, share, degree, degree)
        for side in (0, 1):
            for level in (0.0, 1.0, 8.0):  # the last is for the largest k
                assert one[side].delta(level) <= whole[side].delta(level) * 1.001 + 1e-7


@pytest.mark.parametrize("target", [0.5, 8.0])
def test_calibration_is_never_weaker_than_asked(target: float) -> None:
    settings = {"q": 0.2, "M": 1.5, "T": 20, "delta": 1e-5, "num_nodes": 12}  # degree 2 is worse than floor(M)
    sigma = calibrate(target, **settings)
    assert epsilon(sigma, **settings) <= target
    assert epsilon(sigma * 0.9, **settings) > target


def test_the_paper_s_setting() -> None:
    """Facebook at the published epsilon 2: sigma 12.73, and Gaussian noise of that size proves less than half of it."""
    nodes = 22_470
    found = account(12.7312, 4096 / nodes, 1, 50, default_delta(nodes), nodes)
    assert found.published_epsilon == pytest.approx(2.0, abs=1e-3)
    assert found.epsilon == pytest.approx(0.8607, abs=2e-3)
    assert found.epsilon < found.k_revealed_epsilon < found.published_epsilon
    assert found.worst_out_degree == 1
    guarantee = found.guarantee()
    assert (guarantee.model, guarantee.unit, guarantee.epsilon) == ("central", Unit.NODE, found.epsilon)
    assert "degree" in guarantee.unprotected[0]


def test_an_account_for_a_target_says_its_sigma() -> None:
    found = account_to_target(2.0, 0.3, 1, 5, 1e-4, 4).to_dict()
    assert set(found) == {"epsilon", "k_revealed_epsilon", "published_epsilon", "worst_out_degree", "sigma", "delta"}
    assert found["epsilon"] <= 2.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("sigma", 0), ("q", 0.0), ("q", 1.5), ("M", -1), ("T", 0), ("T", 2.5), ("delta", 0.0), ("num_nodes", 0)],
)
def test_bad_settings_are_one_sentence(name: str, value: float) -> None:
    with pytest.raises(InvalidParameter, match=f"The '{name}' parameter of the node-level accountant must be"):
        epsilon(**{**BASE, name: value})


def test_sml_noise_is_priced_as_it_is() -> None:
    """One always-central step is one release of SML noise, whose exact delta is known in high dimension."""
    sigma, share = 5.0, 1e-4
    forward, backward = sml_step(sigma, 1.0, 0, share, 0, 0)
    for level in (0.5, 3.0):
        exact = sml_delta(level, 0.5, sigma)
        assert exact <= forward.delta(level) <= 2 * exact + share
        assert exact <= backward.delta(level) <= 2 * exact + share
    found = account(5.0, 0.3, 1, 5, 1e-4, 3, noise="sml")
    assert found.epsilon > 5 * found.published_epsilon
    assert found.epsilon > 5 * epsilon(5.0, 0.3, 1, 5, 1e-4, 3)
    assert math.isfinite(compose_steps(sml_step(5.0, 0.5, 6, 1e-5 / 20, 6, 6), 20, 1e-5))
    with pytest.raises(InvalidParameter, match="gaussian or sml"):
        epsilon(5.0, 0.3, 1, 5, 1e-4, 20, noise="laplace")  # type: ignore[arg-type]


def test_a_target_of_zero_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="target_epsilon"):
        calibrate(0.0, 0.2, 1, 20, 1e-5, 500)
