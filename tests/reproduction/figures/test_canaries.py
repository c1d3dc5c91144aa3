from __future__ import annotations

import math

import pytest

from privet.errors import InvalidParameter
from privet.reproduction.figures.canaries import CANARY_KINDS, measure_canaries
from privet.reproduction.figures.made_graphs import MADE
from privet.systems import HeterPoisson

SYSTEM = HeterPoisson(target_epsilon=4.0, batch_size=4096, epochs=1.0)


@pytest.mark.parametrize("kind", CANARY_KINDS)
def test_audit_and_attack(kind: str) -> None:
    graph = MADE["facebook-size"]()
    audited = measure_canaries(kind, SYSTEM, graph, 0, what="audit", runs=600)["test"]
    assert 0 <= audited <= 4.0 or kind == "sml"  # 95 % confidence each; the seed is fixed
    guessed = measure_canaries(kind, SYSTEM, graph, 0, what="attack", runs=600)["test"]
    assert 50 <= guessed <= 100
    if kind == "claim":
        assert audited == 4.0
        assert guessed == pytest.approx(100 / (1 + math.exp(-4)), abs=0.01)
    assert guessed == measure_canaries(kind, SYSTEM, graph, 0, what="attack", runs=600)["test"]


def test_a_target_is_needed() -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        measure_canaries("private", HeterPoisson(noise_multiplier=1.0), MADE["facebook-size"](), 0)
