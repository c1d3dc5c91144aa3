"""Modules that would let one sub-graph's gradient tell about others are refused, and the layer is named."""

from collections.abc import Callable

import pytest
import torch
from subgraph_modules import COLUMNS, LINKS, MODULES, Classes, Own, TwoLayers
from torch import Tensor, nn
from torch_geometric.nn import BatchNorm, GCNConv, GraphNorm, LayerNorm, PairNorm

from privet.errors import InvalidParameter
from privet.models.subgraphs.checks import check_module


class Centring(nn.Module):
    """Subtracts the mean over all nodes, whoever they belong to."""

    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(dim=0)


class Remembering(nn.Module):
    """Keeps a running mean in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x: Tensor) -> Tensor:
        self.seen = 0.9 * self.seen + 0.1 * x.detach().mean(dim=0)
        return x


class Random(nn.Module):
    """Draws noise of its own."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.randn_like(x)


class CentreOnly(Own):
    """Returns the first row alone."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index)[:1]


@pytest.mark.parametrize(
    ("between", "sentence"),
    [
        (lambda: nn.BatchNorm1d(8), r"BatchNorm1d \('between'\) cannot .* statistics across sub-graphs.*use LayerNorm"),
        (lambda: nn.LazyBatchNorm1d(), r"LazyBatchNorm1d \('between'\) cannot"),
        (lambda: BatchNorm(8), r"BatchNorm \('between'\) cannot .* statistics across sub-graphs"),
        (lambda: nn.InstanceNorm1d(8, track_running_stats=True), r"InstanceNorm1d \('between'\) .* running statistics"),
        (lambda: GraphNorm(8), r"GraphNorm \('between'\) cannot .* statistics across sub-graphs"),
        (lambda: PairNorm(), r"PairNorm \('between'\) cannot .* statistics across sub-graphs"),
        (lambda: LayerNorm(8, mode="graph"), r"LayerNorm \('between'\) cannot .* statistics across sub-graphs"),
        (lambda: Centring(), r"Centring \('between'\) cannot .* statistics across sub-graphs"),
        (lambda: Remembering(), r"Remembering \('between'\) cannot .* 'seen' changes in training"),
        (lambda: Random(), r"TwoLayers cannot .* another output on a second call"),
    ],
)  # fmt: skip
def test_layers_that_look_across_sub_graphs_are_named(between: Callable[[], nn.Module], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        check_module(TwoLayers(GCNConv, between()), COLUMNS, Classes())
    with pytest.raises(InvalidParameter, match=sentence):
        check_module(TwoLayers(GCNConv, between()), COLUMNS, LINKS)


class ReadsTheNext(Own):
    """Every row but a centre's hears the row behind it, which may be another sub-graph's."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        rows = super().forward(x, edge_index)
        heard = torch.zeros(len(x), 1).index_add(0, edge_index[1], torch.ones(edge_index.shape[1], 1))
        return torch.where(heard > 0, rows, rows + rows.roll(-1, 0))


def test_rows_of_nodes_beside_the_centre_are_looked_at_too() -> None:
    with pytest.raises(InvalidParameter, match=r"ReadsTheNext cannot .* statistics across sub-graphs"):
        check_module(ReadsTheNext(), COLUMNS, LINKS)


def test_a_layer_that_keeps_edges_is_named() -> None:
    module = TwoLayers(lambda into, out: GCNConv(into, out, cached=True))
    with pytest.raises(InvalidParameter, match=r"GCNConv \('first'\) cannot .*cached=True"):
        check_module(module, COLUMNS, Classes())


def test_an_output_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="one row for each of 26 nodes"):
        check_module(CentreOnly(), COLUMNS, Classes())


def test_a_module_that_fails_says_so() -> None:
    with pytest.raises(InvalidParameter, match="TwoLayers failed on a random sub-graph: "):
        check_module(TwoLayers(GCNConv), COLUMNS + 1, Classes())


@pytest.mark.parametrize("name", MODULES)
def test_layers_that_look_at_one_sub_graph_pass(name: str) -> None:
    assert check_module(MODULES[name](), COLUMNS, Classes()) is torch.float32
    assert check_module(MODULES[name]().double(), COLUMNS, Classes()) is torch.float64
    assert check_module(MODULES[name](), COLUMNS, LINKS) is torch.float32


def test_normalisation_within_a_node_passes() -> None:
    assert check_module(TwoLayers(GCNConv, LayerNorm(8, mode="node")), COLUMNS, Classes()) is torch.float32


def test_lazy_layers_get_their_shapes() -> None:
    module = TwoLayers(lambda into, out: GCNConv(-1, out))
    check_module(module, COLUMNS, Classes())
    assert module.first.lin.weight.shape == (8, COLUMNS)
