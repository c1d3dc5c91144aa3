from __future__ import annotations

import pytest

from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling


@pytest.mark.parametrize("noise", ["gaussian", "sml"])
@pytest.mark.parametrize("steps", [1, 5])
def test_it_is_heterogeneous_sampling_without_neighbours(noise: str, steps: int) -> None:
    common = {"rate": 0.1, "steps": steps, "num_nodes": 30}
    found = PoissonSampling(**common).epsilon(20.0, 1e-3, noise)
    assert found == HeterogeneousPoisson(**common, multiplier=0.0).epsilon(20.0, 1e-3, noise)


def test_nothing_else_is_public_and_nothing_is_claimed() -> None:
    process = PoissonSampling(rate=0.1, steps=3, num_nodes=30)
    assert process.public_facts == ()
    assert process.published_epsilon(1.0, 1e-3) is None
    assert process.canary_multiplier == 0
