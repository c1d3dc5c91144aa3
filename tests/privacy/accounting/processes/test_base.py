"""Conformance of every sampling process, with deliberately broken ones that must be refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from privet.errors import InvalidParameter
from privet.privacy.accounting.losses import Losses
from privet.privacy.accounting.processes import PROCESSES, Process
from privet.privacy.accounting.processes.heterogeneous_poisson import _composed, _worst_degree
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.privacy.accounting.program import program_epsilon

SHARED: dict[str, Any] = {"rate": 0.2, "steps": 6, "num_nodes": 40}
DELTA = 1e-4

each_process = pytest.mark.parametrize("kind", PROCESSES.values(), ids=PROCESSES)


@each_process
def test_its_name_is_its_place_in_the_registry(kind: type[Process]) -> None:
    assert PROCESSES[kind.name] is kind


@each_process
def test_composing_n_times_equals_looping_n_times(kind: type[Process], monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's self-composition against one convolution after the other."""
    composed = kind(**SHARED).epsilon(12.0, DELTA)

    def looped(self: Losses, times: int) -> Losses:
        whole = self
        for _ in range(times - 1):
            whole = whole.joined(self)
        return whole

    monkeypatch.setattr(Losses, "composed", looped)
    _worst_degree.cache_clear()
    _composed.cache_clear()
    by_hand = program_epsilon(lambda left: kind(**SHARED)._epsilon(6.0, left, "gaussian"), DELTA)
    assert by_hand == pytest.approx(composed, rel=1e-6)
    _worst_degree.cache_clear()
    _composed.cache_clear()


@each_process
def test_more_noise_costs_less_and_more_of_everything_else_costs_more(kind: type[Process]) -> None:
    process = kind(**SHARED)
    prices = [process.epsilon(noise, DELTA) for noise in (6.0, 12.0, 24.0)]
    assert prices == sorted(prices, reverse=True)
    assert prices[0] > 1.2 * prices[1] > 0
    assert replace(process, steps=12).epsilon(12.0, DELTA) > 1.05 * prices[1]
    assert replace(process, rate=0.3).epsilon(12.0, DELTA) > 1.05 * prices[1]
    assert process.epsilon(12.0, DELTA / 10) > prices[1]


@each_process
@pytest.mark.parametrize("target", [0.5, 4.0])
def test_calibration_is_never_weaker_than_asked(kind: type[Process], target: float) -> None:
    process = kind(**SHARED)
    noise_multiplier = process.calibrate(target, DELTA)
    assert 0.9 * target < process.epsilon(noise_multiplier, DELTA) <= target


@each_process
def test_taking_part_in_more_than_one_s_own_example_costs_no_less(kind: type[Process]) -> None:
    alone = PoissonSampling(**SHARED).epsilon(12.0, DELTA)
    assert kind(**SHARED).epsilon(12.0, DELTA) >= alone


@each_process
def test_it_says_what_it_promises(kind: type[Process]) -> None:
    process = kind(**SHARED)
    assert "add or remove one training node" in process.adjacency
    assert all(isinstance(fact, str) for fact in process.public_facts)
    document = json.loads(json.dumps(process.to_dict()))
    assert document.pop("process") == kind.name
    assert kind(**document) == process
    claimed = process.published_epsilon(12.0, DELTA)
    assert (claimed is None) == (not process.claim)  # a claim is never shown without its sentence


@each_process
def test_its_explanation_adds_up(kind: type[Process]) -> None:
    process, noise_multiplier = kind(**SHARED), 12.0
    explained = process.explain(noise_multiplier, DELTA)
    assert sum(part.value for part in explained.epsilon) == pytest.approx(process.epsilon(noise_multiplier, DELTA))
    assert sum(part.value for part in explained.delta) == pytest.approx(DELTA, rel=1e-12)
    parts = (*explained.epsilon, *explained.delta)
    assert all(part.value >= 0 and part.words for part in parts)
    assert explained.epsilon[-1].key == explained.delta[-1].key == "program"
    assert explained.delta[0].value > 0.99 * DELTA  # nothing else may take a part that matters


@each_process
@pytest.mark.parametrize(
    ("name", "value"), [("rate", 0.0), ("rate", 1.5), ("rate", True), ("steps", 0), ("steps", 2.5), ("num_nodes", 0)]
)
def test_bad_parameters_are_one_sentence(kind: type[Process], name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        kind(**{**SHARED, name: value})


@each_process
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("noise_multiplier", (0.0, DELTA)),
        ("noise_multiplier", (math.inf, DELTA)),
        ("delta", (1.0, 0.0)),
        ("delta", (1.0, 1.0)),
        ("noise", (1.0, DELTA, "laplace")),
    ],
)
def test_bad_noise_is_one_sentence(kind: type[Process], name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        kind(**SHARED).epsilon(*arguments)
    with pytest.raises(InvalidParameter, match="target_epsilon"):
        kind(**SHARED).calibrate(0.0, DELTA)


@pytest.mark.parametrize("delta", [50**-1.1, 0.5])
def test_a_delta_that_asks_for_no_noise_is_refused_at_once(delta: float) -> None:
    """Less than the chance to be sampled at all, so that no noise is needed: this used to search for ever."""
    with pytest.raises(InvalidParameter, match="needs no noise"):
        PoissonSampling(rate=0.01, steps=1, num_nodes=50).calibrate(1.0, delta)


def test_a_price_is_computed_once() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Counted(PoissonSampling):
        name: ClassVar[str] = "counted"
        asked: ClassVar[list[float]] = []

        def _epsilon(self, sigma: float, delta: float, noise: Any) -> float:
            self.asked.append(sigma)
            return 1.0 / sigma

    for _ in range(2):
        Counted(**SHARED).epsilon(3.0, DELTA)
    assert Counted.asked == [1.5]  # and the noise is that of gradients clipped to 1/2


def test_a_process_whose_quick_bound_is_too_small_is_still_never_weaker() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Optimistic(PoissonSampling):
        name: ClassVar[str] = "optimistic"

        def _lower_bound(self, sigma: float, delta: float) -> float:
            return self._epsilon(sigma, delta, "gaussian") / 2

    process = Optimistic(**SHARED)
    assert process.epsilon(process.calibrate(1.0, DELTA), DELTA) <= 1.0
