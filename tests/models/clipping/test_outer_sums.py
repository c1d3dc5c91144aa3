"""Exact sums of outer products against Python's integers, with and without products of bytes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.models.clipping import outer_sums
from privet.models.clipping.outer_sums import LARGEST, OuterSum, Scaled


def whole(rows: torch.Tensor) -> Scaled:
    """Rows of integers as they are."""
    return Scaled(rows, np.ones(len(rows)))


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
    total.add(whole(left[: rows // 3]), whole(right[: rows // 3]))
    total.add(whole(left[rows // 3 :]), whole(right[rows // 3 :]))
    assert np.array_equal(total.total().numpy(), exact(left, right))


@pytest.mark.usefixtures("by_bytes")
@pytest.mark.parametrize("value", [LARGEST, -LARGEST, -LARGEST + 128, 127, 128, -128, -129, 16_255])
@pytest.mark.parametrize("other", [LARGEST, -LARGEST, 127, -128])
def test_many_rows_of_extreme_digits_do_not_saturate(value: int, other: int) -> None:
    """More rows than are added up at once, and digits whose products all have the same sign."""
    rows = outer_sums._AT_ONCE + 700
    left, right = torch.full((rows, 17), float(value)), torch.full((rows, 33), float(other))
    total = OuterSum(17, 33)
    total.add(whole(left), whole(right))
    assert np.array_equal(total.total().numpy(), np.full((17, 33), rows * value * other))


@pytest.mark.usefixtures("by_bytes")
def test_sums_beyond_32_bits_are_exact() -> None:
    """So many products of 128 x 128 that 32-bit integers would overflow."""
    total, rows = OuterSum(1, 1), torch.full((1024, 1), -128.0)
    for _ in range(130):
        total.add(whole(rows), whole(rows))
    assert total.total().item() == 130 * 1024 * 2**14


@given(seed=st.integers(0, 2**31), kind=st.sampled_from([torch.float32, torch.float64]))
@pytest.mark.usefixtures("by_bytes")
def test_rows_are_multiplied_and_rounded_each_by_itself(seed: int, kind: torch.dtype) -> None:
    """Also between two integers, and with a row that is not finite but counts as zero."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.randint(-400, 401, (3, 7), generator=generator).to(kind) / 4
    right = torch.randint(-400, 401, (3, 5), generator=generator).to(kind) / 4
    factors = np.array([2.0, 30.0, 0.0])
    left[2, 0] = right[2, 1] = torch.inf
    total = OuterSum(7, 6)
    total.add(Scaled(left, factors), Scaled(right, 2 * factors, ends=True))
    q = np.rint(left[:2].numpy() * factors[:2, None]).astype(np.int64)
    y = np.rint(np.c_[right[:2], np.ones(2)] * 2 * factors[:2, None]).astype(np.int64)
    assert np.array_equal(total.total().numpy(), q.T @ y)
