"""The price of ProGAP's stages."""

import math

import pytest

from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation
from privet.privacy.accounting.processes.progressive_aggregation import ProgressiveAggregation

SHARED = {"rate": 0.2, "steps": 6, "num_nodes": 40}


def test_one_stage_is_gap_with_twice_the_steps() -> None:
    gap = NoisyAggregation(rate=0.2, steps=12, num_nodes=40)
    assert ProgressiveAggregation(**SHARED).epsilon(10.0, 1e-4) == pytest.approx(gap.epsilon(10.0, 1e-4), rel=1e-6)


def test_its_sensitivity_is_not_the_published_one() -> None:
    process = ProgressiveAggregation(max_degree=4, **SHARED)
    assert process.sensitivity == math.sqrt(29)
    assert process.sensitivity > 2 * math.sqrt(4)


def test_every_aggregation_costs() -> None:
    prices = [ProgressiveAggregation(depth=depth, **SHARED).epsilon(10.0, 1e-4) for depth in (1, 2, 3)]
    assert prices == sorted(prices)
    assert prices[2] > 1.2 * prices[0]
    with pytest.raises(InvalidParameter, match="depth must be"):
        ProgressiveAggregation(depth=0, **SHARED)
