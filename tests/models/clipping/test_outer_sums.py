"""Exact sums of outer products against Python's integers, with and without products of bytes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.models.clipping import outer_sums
from privet.models.clipping.outer_sums import LARGEST, OuterSum


def exact(left: torch.Tensor, right: torch.Tensor) -> np.ndarray:
    """The sum in 64-bit integers, one product after another."""
    return np.asarray(left.long().numpy().T @ right.long().numpy())


@pytest.fixture(params=[True, False], ids=["bytes", "doubles"])
def by_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param and not outer_sums.multiplies_bytes():
        pytest.skip("this processor does not multiply bytes exactly")
    monkeypatch.setattr(outer_sums, "multiplies_bytes", lambda: request.param)
    return bool(request.param)


@given(seed=st.integers(0, 2**31), rows=st.integers(0, 40), outputs=st.integers(1, 9), inputs=st.integers(1, 20))
@pytest.mark.usefixtures("by_bytes")
def test_the_sum_is_exact(seed: int, rows: int, outputs: int, inputs: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = (
        torch.randint(-LARGEST, LARGEST + 1, (rows, width), generator=generator).float() for width in (outputs, inputs)
    )
    total = OuterSum(outputs, inputs)
    total.add(left[: rows // 3], right[: rows // 3])
    total.add(left[rows // 3 :], right[rows // 3 :])
    assert np.array_equal(total.total().numpy(), exact(left, right))


@pytest.mark.usefixtures("by_bytes")
@pytest.mark.parametrize("value", [LARGEST, -LARGEST, -LARGEST + 128, 127, 128, -128, -129, 16_255])
@pytest.mark.parametrize("other", [LARGEST, -LARGEST, 127, -128])
def test_many_rows_of_extreme_digits_do_not_saturate(value: int, other: int) -> None:
    """More rows than are added up at once, and digits whose products all have the same sign."""
    rows = outer_sums._AT_ONCE + 700
    left, right = torch.full((rows, 17), float(value)), torch.full((rows, 33), float(other))
    total = OuterSum(17, 33)
    total.add(left, right)
    assert np.array_equal(total.total().numpy(), np.full((17, 33), rows * value * other))
