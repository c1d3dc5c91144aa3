"""Rounded gradients: stated norms are at least those of the integers, and sums are those of the products."""

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from privet.models.clipping import perceptron
from privet.models.clipping.blocks import layers_of, row_losses
from privet.models.clipping.rounded_layers import (
    DenseSum,
    SparseSum,
    put_together,
    room_for_rounding,
    rounded_dense,
    rounded_sparse,
)
from privet.models.clipping.rows import SparseRows


def written_out(slopes: torch.Tensor, inputs: np.ndarray, ends: np.ndarray) -> list[list[int]]:
    """Each example's integers: slope times input, and then slope times the bias' input."""
    found = []
    for g, h, end in zip(slopes.tolist(), inputs.tolist(), ends.tolist(), strict=True):
        found.append([int(a) * int(b) for a in g for b in h] + [int(a) * int(end) for a in g])
    return found


@given(st.integers(0, 2**31), st.sampled_from([1e-6, 1.0, 1e6]), st.integers(1, 30))
def test_stated_norms_are_at_least_those_of_the_integers(seed: int, size: float, columns: int) -> None:
    torch.manual_seed(seed)
    x, y = size * torch.randn(5, columns), torch.randint(3, (5,))
    factors = np.array([0.0, 1e-9, 1e-3, 0.5, 1.0])
    (layers,) = layers_of(perceptron(columns, 4, 3), x, y, row_losses, 8)
    for number, layer in enumerate(layers):
        norms = np.sqrt(layer.squares * layer.steepness)
        allowed = np.minimum(factors, 0.99 / np.maximum(norms, 1e-30))  # as clipping makes them
        part = rounded_dense(layer, allowed)
        inputs = part.inputs.integers().numpy()
        rows = written_out(part.slopes.integers(), inputs[:, :-1], inputs[:, -1])
        for integers, square in zip(rows, part.squares, strict=True):
            assert sum(each**2 for each in integers) << 18 <= square  # in units of 2^-37 instead of 2^-28
        assert not any(rows[0])
        total = DenseSum(nn.Linear(part.inputs.rows.shape[1], part.slopes.rows.shape[1]))
        total.add(part)
        assert put_together([total.total()]).tolist() == [sum(column) << 9 for column in zip(*rows, strict=True)], (
            number
        )


@given(st.integers(0, 2**31), st.integers(1, 20))
def test_the_same_of_sparse_inputs(seed: int, columns: int) -> None:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    values = sp.csr_array(sp.random_array((4, columns), density=0.3, format="csr", rng=rng, dtype=np.float32))
    rows = SparseRows(values, rng.normal(size=4))
    (layers,) = layers_of(perceptron(columns, 4, 3), rows, torch.zeros(4, dtype=torch.long), row_losses, 8)
    part = rounded_sparse(layers[0], np.array([0.0, 1e-3, 0.01, 0.02]))
    inputs = part.inputs.values.toarray() + part.inputs.offsets[:, None]
    found = written_out(part.slopes, inputs, part.ends)
    for integers, square in zip(found, part.squares, strict=True):
        assert sum(each**2 for each in integers) <= square * (1 + 1e-12)
    total = SparseSum(nn.Linear(columns, 4))
    total.add(part)
    assert put_together([total.total()]).tolist() == [sum(column) for column in zip(*found, strict=True)]


def test_room_shrinks_with_the_width() -> None:
    assert room_for_rounding(501, 131) == 1 - 2.0**-8
    assert 0.95 < room_for_rounding(1_000_000, 1_000) < 0.97
