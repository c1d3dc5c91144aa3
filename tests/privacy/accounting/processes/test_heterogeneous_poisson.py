"""The accountant of HeterPoisson's sampler against closed forms and dp_accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import compose_steps, noise_multiplier_of
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson, _composed, _worst_degree
from privet.privacy.accounting.sml import sml_delta
from privet.privacy.accounting.steps import bracket_step, sml_step, step_losses
from privet.privacy.delta import chosen_delta


def made(q: float, M: float, T: int, num_nodes: int) -> HeterogeneousPoisson:
    return HeterogeneousPoisson(rate=q, multiplier=M, steps=T, num_nodes=num_nodes)


def epsilon(sigma: float, q: float, M: float, T: int, delta: float, num_nodes: int, noise: str = "gaussian") -> float:
    """In the paper's units."""
    return made(q, M, T, num_nodes).epsilon(noise_multiplier_of(sigma), delta, noise)


def compared(process: HeterogeneousPoisson, noise_multiplier: float, delta: float) -> dict[str, float]:
    return {each.key: each.value for each in process.comparisons(noise_multiplier, delta)}


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
    process = made(q, M, T, num_nodes)
    found = process.epsilon(noise_multiplier_of(sigma), delta)
    assert max(each) <= found <= max(each) * 1.005  # brackets that were not split to the end
    assert compared(process, noise_multiplier_of(sigma), delta)["worst_out_degree"] == int(np.argmax(each))


def test_the_explanation_names_the_worst_degree() -> None:
    process, delta = made(0.4, 1.5, 8, 300), 1e-4
    explained = process.explain(3.0, delta)
    keys = [part.key for part in explained.epsilon]
    degree = compared(process, 3.0, delta)["worst_out_degree"]
    assert keys[0] == "worst_degree"
    assert f"out-degree {degree}," in explained.epsilon[0].words
    assert explained.epsilon[0].value == pytest.approx(
        process._of_degrees(bracket_step, 1.5, delta, degree, degree), rel=1e-3
    )
    assert [part.key for part in explained.delta] == ["exceeded", "counts", "tails", "arithmetic", "program"]
    assert any(f"out-degree {degree} has" in sentence for sentence in explained.sentences)


def test_neighbouring_deltas_share_their_losses() -> None:
    process = made(0.3, 1.0, 4, 50)
    process.epsilon(6.0, 1.3e-5)
    before = _composed.cache_info()
    process.epsilon(6.0, 1.2e-5)
    assert _composed.cache_info().misses == before.misses


@pytest.mark.parametrize(
    ("M", "q", "T", "sigma", "num_nodes"),
    [(1.0, 0.43, 21, 1.07, 2000), (10.0, 0.3, 20, 4.0, 300)],
)
def test_bounding_degrees_together_costs_less_than_one_per_cent(
    M: float, q: float, T: int, sigma: float, num_nodes: int
) -> None:
    """Epsilon above 10, where all degrees are nearly equally bad: 12 to 90 % were lost here before."""
    process = made(q, M, T, num_nodes)
    bound, _ = _worst_degree(process, sigma, 1e-4, "gaussian")
    degrees = {min(degree, num_nodes - 1) for degree in (math.floor(M), 12, 40, 150, 2000)}
    each = [process._of_degrees(bracket_step, sigma, 1e-4, degree, degree) for degree in degrees]
    assert max(each) <= bound <= max(each) * 1.01
    assert bound > 10


@pytest.mark.parametrize("target", [0.5, 8.0])
def test_calibration_is_little_more_than_asked(target: float) -> None:
    process = made(0.2, 1.5, 20, 12)  # degree 2 is worse than floor(M)
    noise_multiplier = process.calibrate(target, 1e-5)
    assert 0.99 * target <= process.epsilon(noise_multiplier, 1e-5) <= target


def test_the_paper_s_setting() -> None:
    """Facebook at the published epsilon 2: sigma 12.73, and Gaussian noise of that size proves less than half of it."""
    nodes, noise_multiplier = 22_470, noise_multiplier_of(12.7312)
    process, delta = made(4096 / nodes, 1, 50, nodes), chosen_delta("paper", nodes)
    found, others = process.epsilon(noise_multiplier, delta), compared(process, noise_multiplier, delta)
    assert process.published_epsilon(noise_multiplier, delta) == pytest.approx(2.0, abs=1e-3)
    assert process.published_noise_multiplier(2.0, delta) == pytest.approx(noise_multiplier, rel=1e-3)
    assert found == pytest.approx(0.8607, abs=2e-3)
    assert found < others["k_revealed_epsilon"] < 2.0
    assert others["worst_out_degree"] == 1
    assert "2311.06888" in process.claim


@pytest.mark.parametrize(
    ("multiplier", "reads_degrees", "public"), [(0.0, False, False), (1.0, False, True), (0.0, True, True)]
)
def test_degrees_are_public_only_where_they_are_read(multiplier: float, reads_degrees: bool, public: bool) -> None:
    process = HeterogeneousPoisson(rate=0.1, steps=2, num_nodes=50, multiplier=multiplier, reads_degrees=reads_degrees)
    assert any("degree" in fact for fact in process.public_facts) is public
    assert ("degree sequence" in process.adjacency) is public


def test_more_picks_than_nodes_are_all_of_them() -> None:
    assert made(0.2, math.inf, 3, 6).epsilon(8.0, 1e-3) == made(0.2, 6.0, 3, 6).epsilon(8.0, 1e-3)


def test_sml_noise_is_priced_as_it_is() -> None:
    """One always-central step is one release of SML noise, whose exact delta is known in high dimension."""
    sigma, share = 5.0, 1e-4
    forward, backward = sml_step(sigma, 1.0, 0, share, 0, 0)
    for level in (0.5, 3.0):
        exact = sml_delta(level, 0.5, sigma)
        assert exact <= forward.delta(level) <= 2 * exact + share
        assert exact <= backward.delta(level) <= 2 * exact + share
    found = epsilon(5.0, 0.3, 1, 5, 1e-4, 3, noise="sml")
    assert found > 5 * made(0.3, 1, 5, 3).published_epsilon(noise_multiplier_of(5.0), 1e-4)
    assert found > 5 * epsilon(5.0, 0.3, 1, 5, 1e-4, 3)
    assert math.isfinite(compose_steps(sml_step(5.0, 0.5, 6, 1e-5 / 20, 6, 6), 20, 1e-5))
    with pytest.raises(InvalidParameter, match="gaussian or sml"):
        epsilon(5.0, 0.3, 1, 5, 1e-4, 20, noise="laplace")
