from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from privet.errors import InvalidParameter
from privet.mechanisms import MultiBit
from privet.mechanisms.core.base import check_count, product_distribution


def test_independent_symbols_multiply() -> None:
    half, third = (Fraction(1, 2),) * 2, (Fraction(1, 3), Fraction(2, 5))
    product = product_distribution([{0: half, 1: half}, {"a": third}])
    assert product == {(0, "a"): (Fraction(1, 6), Fraction(1, 5)), (1, "a"): (Fraction(1, 6), Fraction(1, 5))}
    assert product_distribution([]) == {(): (Fraction(1), Fraction(1))}


@pytest.mark.parametrize("value", [True, 1.0, "3", None, 0, 11])
def test_counts_are_integers_within_bounds(value: object) -> None:
    with pytest.raises(InvalidParameter, match="m must be an integer from 1 to 10"):
        check_count(value, "m", 1, 10)


def test_numpy_counts_become_plain_integers() -> None:
    assert type(check_count(np.int16(3), "m", 1)) is int


def test_parameters_can_be_written_as_json() -> None:
    mechanism = MultiBit(epsilon=1, dimension=2, low=[0, 1], high=5)
    document = json.loads(json.dumps(mechanism.to_dict()))
    assert document == {
        "mechanism": "multi-bit", "epsilon": 1.0, "dimension": 2, "low": [0.0, 1.0], "high": 5.0, "sample": None,
    }  # fmt: skip
