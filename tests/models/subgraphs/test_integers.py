"""Gradients as integers: bounded, exact, and the same whichever way a norm is computed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.models.subgraphs.integers import WHOLE, Direct, Outer, clipped_integers


def uses(seed: int, rows: int, into: int, out: int, scale: float) -> list[Outer | Direct]:
    generator = torch.Generator().manual_seed(seed)
    inputs, slopes = (torch.randn(4, rows, width, generator=generator) for width in (into, out))
    direct = scale * torch.randn(4, 3, generator=generator)
    return [Outer(0, False, inputs, scale * slopes), Direct(into * out, direct)]


@given(
    st.integers(0, 2**31), st.integers(1, 40), st.integers(1, 12), st.integers(1, 12),
    st.sampled_from([1e-3, 1.0, 1e6]), st.sampled_from([1e-2, 0.5, 10.0]),
)  # fmt: skip
def test_norms_are_bounded_in_integers_and_directions_kept(
    seed: int, rows: int, into: int, out: int, scale: float, bound: float
) -> None:
    """Both ways are taken: products of pairs of rows for few rows, written out for many."""
    given_uses = uses(seed, rows, into, out, scale)
    size = into * out + 3
    for lane in range(4):
        here = slice(lane, lane + 1)
        one = [type(use)(*(part[here] if torch.is_tensor(part) else part for part in use)) for use in given_uses]
        found = clipped_integers(one, bound).total(size)
        assert torch.equal(found, found.round())
        assert sum(int(value) ** 2 for value in found.tolist()) <= 2**74
        exact = torch.zeros(size, dtype=torch.float64)
        for use in one:
            start, part = use.written_out()
            exact[start : start + part.shape[1]] += part[0].double()
        expected = exact * min(1.0, bound / float(exact.norm()))
        sizes = float((one[0].slopes.norm(dim=2) * one[0].inputs.norm(dim=2)).sum())
        if sizes <= 7 * float(exact.norm()):  # else it is clipped more
            error = (found * bound / WHOLE - expected).norm()
            assert float(error) <= 2.0**-7 * float(expected.norm()) + 2.0**-12 * bound * rows**0.5


def test_rows_that_cancel_are_clipped_more() -> None:
    inputs = torch.ones(1, 2, 3)
    slopes = torch.tensor([[[1e4], [-1e4 + 1.0]]])
    rounded = clipped_integers([Outer(0, False, inputs, slopes)], 0.5)
    ((whole, steep),) = rounded.outer
    assert float((steep.norm(dim=2) * whole.inputs.norm(dim=2)).sum()) <= 8 * WHOLE


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_lane_that_is_not_finite_counts_as_zero_and_leaves_the_others_alone(wrong: float) -> None:
    fine = uses(0, 3, 4, 4, 1.0)
    for part in ("inputs", "slopes"):
        broken = getattr(fine[0], part).clone()
        broken[1, 0, 0] = wrong
        found = clipped_integers([fine[0]._replace(**{part: broken}), fine[1]], 0.5)
        expected = clipped_integers(fine, 0.5)
        assert not found.outer[0][1][1].any()
        assert not found.direct[0].gradients[1].any()
        assert torch.equal(found.outer[0][1][[0, 2, 3]], expected.outer[0][1][[0, 2, 3]])
        assert found.total(19).isfinite().all()
