from __future__ import annotations

import numpy as np
import pytest

from privet.mechanisms import RandomizedResponse
from privet.testing import check_stated_integers
from privet.testing.integers import ScriptedBits, measured_weights


def test_all_draws_are_counted() -> None:
    mechanism = RandomizedResponse(epsilon=1.0, classes=3)
    weights = measured_weights(mechanism, 1)
    assert weights[1] == mechanism.odds.high
    assert weights[0] == weights[2] == mechanism.odds.low
    check_stated_integers(mechanism, 1)


def test_scripted_draws_are_handed_out_in_order() -> None:
    bits = ScriptedBits(np.array([1, 2]), 3)
    assert bits.below(5, (2,)).tolist() == [1, 2]
    assert bits.below(4, (2, 2)).tolist() == [[3, 3], [3, 3]]
    assert bits.bounds == [5, 4]
    with pytest.raises(AssertionError, match="beyond its bound"):
        ScriptedBits(7).below(7, (1,))
    with pytest.raises(AssertionError, match="only below"):
        bits.words(1)
