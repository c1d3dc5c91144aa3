"""The price of running on a computer, against its formula."""

import math

import pytest

from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.privacy.accounting.program import DRAWS, EXTRA, RATIO, TAIL, program_epsilon


@pytest.mark.parametrize("real", [0.0, 0.5, 8.0, 300.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 0.1])
def test_epsilon_and_delta_pay_for_all_draws(real: float, delta: float) -> None:
    asked = []
    found = program_epsilon(lambda left: asked.append(left) or real, delta)
    assert found == real + 2 * DRAWS * RATIO
    spent = math.exp(DRAWS * RATIO) * asked[-1] + DRAWS * EXTRA + math.exp(found) * DRAWS * TAIL
    assert spent <= delta


def test_epsilons_that_delta_cannot_pay_for_do_not_hold() -> None:
    assert program_epsilon(lambda left: 600.0, 1e-5) == math.inf
    assert program_epsilon(lambda left: math.inf, 1e-5) == math.inf


def test_it_costs_little_and_is_part_of_every_account() -> None:
    process = PoissonSampling(rate=0.1, steps=30, num_nodes=1000)
    real = process._epsilon(2.0, 1e-5, "gaussian")
    assert 2 * DRAWS * RATIO <= process.epsilon(4.0, 1e-5) - real <= 1e-3 * real
