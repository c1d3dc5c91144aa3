"""The price of DPAR's vectors and steps."""

import math

import pytest

from privet.errors import InvalidParameter
from privet.privacy.accounting.processes.bounded_degree import BoundedDegree
from privet.privacy.accounting.processes.ranked_neighbours import RankedNeighbours
from privet.privacy.accounting.releases import GaussianReleases, composed_losses

SHARED = {"rate": 0.2, "steps": 6, "num_nodes": 40}


def test_it_costs_more_than_its_parts_and_less_than_their_sum() -> None:
    steps = BoundedDegree(max_degree=1, **SHARED).epsilon(10.0, 1e-4)
    vectors = max(side.epsilon(1e-4) for side in composed_losses([GaussianReleases(10.0)]))
    both = RankedNeighbours(**SHARED).epsilon(10.0, 1e-4)
    assert max(steps, vectors) < both < steps + vectors


def test_vectors_of_norm_one_without_negative_entries_are_sqrt_two_apart() -> None:
    assert RankedNeighbours(ranked=50, **SHARED).sensitivity == math.sqrt(100)
    assert RankedNeighbours(max_listeners=3, **SHARED).epsilon(10.0, 1e-4) > RankedNeighbours(**SHARED).epsilon(
        10.0, 1e-4
    )


@pytest.mark.parametrize("name", ["ranked", "max_listeners"])
def test_bad_parameters_are_one_sentence(name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        RankedNeighbours(**{name: 0}, **SHARED)
