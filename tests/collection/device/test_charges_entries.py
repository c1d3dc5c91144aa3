from __future__ import annotations

import pytest

from privet.collection.device.charges import OtherNode, OverLimit
from privet.errors import PrivetError


@pytest.mark.parametrize(
    ("spent", "left"), [(0.0, "10"), (9.5, "0.5"), (10.0, "0"), (12.0, "0")], ids=["new", "some", "none", "overdrawn"]
)
def test_a_study_over_the_limit_says_what_it_costs_and_what_is_left(spent: float, left: str) -> None:
    said = str(OverLimit("epsilon", 11.0, spent, 10.0))
    assert said == (f"This study costs epsilon 11, and {left} is left of your lifetime limit 10. No report was made.")


def test_a_cost_is_never_rounded_down() -> None:
    assert "costs epsilon 1.001," in str(OverLimit("epsilon", 1.0001, 0.0, 1.0))


def test_another_node_is_told_apart() -> None:
    error = OtherNode(3, 4)
    assert isinstance(error, PrivetError)
    assert error.before == 3
    assert "as node 3, and not as node 4" in str(error)
