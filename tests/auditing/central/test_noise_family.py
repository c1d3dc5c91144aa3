from __future__ import annotations

import math

import pytest

from privet.auditing.central.trade_off import NoiseFamily, TradeOff
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson

FAMILY = NoiseFamily(HeterogeneousPoisson(rate=0.3, steps=4, num_nodes=50), 1)


def test_more_noise_is_more_private_at_every_rate_of_hits() -> None:
    little, much = FAMILY.curve(3.0), FAMILY.curve(6.0)
    assert all(little.least_alarms(hits) < much.least_alarms(hits) for hits in (0.01, 0.2, 0.5, 0.9))
    assert FAMILY.epsilon(3.0, 1e-5) > FAMILY.epsilon(6.0, 1e-5)


def test_the_accountant_which_looks_at_every_degree_has_a_little_more() -> None:
    proven = FAMILY.process.epsilon(4.0, 1e-4)
    assert 0.98 * proven < FAMILY.epsilon(4.0, 1e-4) <= proven


def test_the_least_refuted_noise_is_found() -> None:
    edge = FAMILY.curve(5.0).least_alarms(0.5)

    def refuted(curve: TradeOff) -> bool:
        return curve.least_alarms(0.5) > edge

    assert FAMILY.least_refuted(refuted, 4.0) == pytest.approx(5.0, rel=4e-3)
    assert FAMILY.epsilon_lower(refuted, 4.0, 1e-5) <= FAMILY.epsilon(5.0, 1e-5)


def test_without_any_refuted_curve_nothing_is_shown() -> None:
    assert math.isinf(FAMILY.least_refuted(lambda curve: False, 4.0))
    assert FAMILY.epsilon_lower(lambda curve: False, 4.0, 1e-5) == 0.0
