from __future__ import annotations

import numpy as np
import pytest
from privet_three_point import ThreePoint

from privet.mechanisms import MECHANISMS
from privet.testing import check_mechanism, check_stated_integers

VALUES = np.array([[0.3, 0.4, 2.0], [-1.0, 0.0, 5.0], [1.0, 0.1, 3.0]])


def test_privet_finds_it() -> None:
    assert MECHANISMS["three-point"] is ThreePoint


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("sample", [1, 2])
def test_it_conforms(epsilon: float, sample: int) -> None:
    mechanism = ThreePoint(epsilon=epsilon, dimension=3, low=(-1.0, 0.0, 2.0), high=(1.0, 0.5, 5.0), sample=sample)
    check_mechanism(mechanism, VALUES, tight=True)


def test_it_draws_with_the_stated_integers() -> None:
    """At the middle of the range rounding is certain, so one draw decides."""
    check_stated_integers(ThreePoint(epsilon=1.0, dimension=1, low=0.0, high=1.0), [0.5], rounding_draws=1)
