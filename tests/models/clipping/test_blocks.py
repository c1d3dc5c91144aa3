"""Blocks of one size in which every row is treated alike."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from privet.errors import InvalidParameter
from privet.models.clipping import blocks, perceptron, stable_block
from privet.models.clipping.aggregated import AggregatedRows, FeatureTable
from privet.models.clipping.blocks import BLOCK, Loss, aggregated_layers_of, layers_of, one_pass, row_losses


class Sloppy(nn.ELU):
    """A kernel that computes the last rows of larger blocks otherwise than the first."""

    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return out if len(x) < 64 else out + 1e-3 * (torch.arange(len(x)) >= 60)[:, None]


class Shifted(nn.ReLU):
    """A layer that computes something else than its class."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - 0.3)


def some_rows() -> AggregatedRows:
    table = FeatureTable.of(sp.csr_array(np.eye(5)), np.ones(5, dtype=np.bool_))
    return AggregatedRows.standardised(sp.csr_array(np.eye(5)[:3]), table)


@pytest.mark.parametrize("rows", [torch.zeros(0, 5), some_rows()])
def test_a_block_whose_rows_differ_by_place_is_not_taken(rows: Tensor | AggregatedRows) -> None:
    network = perceptron(5, 4, 3)
    assert stable_block(network, rows) == BLOCK
    assert stable_block(nn.Sequential(network[0], Sloppy(), network[2]), rows) == 32


def test_aggregated_rows_have_the_layers_of_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    x, y, network = some_rows(), torch.tensor([0, 2, 1]), perceptron(5, 4, 3)
    for name in ("GROUP", "_DENSE_GROUP"):
        monkeypatch.setattr(blocks, name, 2)  # three rows are a group and a half
    dense = list(layers_of(network, torch.from_numpy(x.dense()), y, row_losses, 2))
    groups = zip(aggregated_layers_of(network, x, y, row_losses, 2), dense, strict=True)
    for (first, (other,)), (expected, last) in groups:
        torch.testing.assert_close(first.slopes, expected.slopes, atol=1e-6, rtol=0)
        np.testing.assert_allclose(first.squares, expected.squares, rtol=1e-5)
        torch.testing.assert_close(other.slopes, last.slopes, atol=1e-6, rtol=0)
    assert [len(layers[0].slopes) for layers in dense] == [2, 1]


def test_sparse_rows_need_a_linear_layer_first() -> None:
    with pytest.raises(InvalidParameter, match="linear layer first"):
        stable_block(nn.Sequential(nn.ELU(), nn.Linear(5, 3)), some_rows())


@pytest.mark.parametrize(
    "layer",
    [nn.ELU(), nn.ELU(0.3), nn.ELU(-0.5), nn.ELU(inplace=True), nn.ReLU(), nn.ReLU(inplace=True), nn.SELU(), nn.Tanh(),
     nn.Identity(), Shifted()],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("loss", [row_losses, lambda outputs, labels: outputs.square().sum(1) + labels])
def test_slopes_are_those_of_autograd(layer: nn.Module, loss: Loss) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(7, 5, dtype=torch.float64), torch.randint(3, (7,))
    kept, (first, last) = x.clone(), (nn.Linear(5, 4).double(), nn.Linear(4, 3).double())
    found = one_pass(nn.Sequential(first, layer, last), x, y, loss)
    hidden = first(x)
    logits = last(layer(hidden + 0))
    expected = torch.autograd.grad(loss(logits, y).sum(), [hidden, logits])
    for part, slopes in zip(found, expected, strict=True):
        torch.testing.assert_close(part.slopes, slopes)
    one_pass(nn.Sequential(layer, nn.Linear(5, 3).double()), x, y, loss)
    assert torch.equal(x, kept)  # a layer that works in place gets a copy
