"""Modules that keep what they saw, or do not fit, are refused, and the layer is named."""

import time
from collections.abc import Callable

import pytest
import torch
from subgraph_modules import COLUMNS, LINKS, MODULES, Classes, Own, TwoLayers
from torch import Tensor, nn
from torch_geometric.nn import BatchNorm, GCNConv, GraphNorm, LayerNorm, PairNorm

from privet.errors import InvalidParameter
from privet.models.subgraphs.refusals import check_module


class Remembering(nn.Module):
    """Keeps a running mean in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(8))

    def forward(self, x: Tensor) -> Tensor:
        self.seen = 0.9 * self.seen + 0.1 * x.detach().mean(dim=0)
        return x


class Ticking(nn.Module):
    """Looks at the clock."""

    def forward(self, x: Tensor) -> Tensor:
        return x * time.perf_counter_ns()


class CentreOnly(Own):
    """Returns the first row alone."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index)[:1]


@pytest.mark.parametrize(
    ("between", "sentence"),
    [
        (lambda: nn.BatchNorm1d(8), r"BatchNorm1d \('between'\) cannot .* over many people.*use LayerNorm"),
        (lambda: nn.LazyBatchNorm1d(), r"LazyBatchNorm1d \('between'\) cannot"),
        (lambda: BatchNorm(8), r"BatchNorm \('between'\) cannot .* over many people"),
        (lambda: nn.InstanceNorm1d(8, track_running_stats=True), r"InstanceNorm1d \('between'\) .* running statistics"),
        (lambda: Remembering(), r"Remembering \('between'\) cannot .* 'seen' changes in training"),
        (lambda: Ticking(), r"TwoLayers cannot .* another output on a second call"),
    ],
)  # fmt: skip
def test_layers_that_keep_what_they_saw_are_named(between: Callable[[], nn.Module], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        check_module(TwoLayers(GCNConv, between()), COLUMNS, Classes())
    with pytest.raises(InvalidParameter, match=sentence):
        check_module(TwoLayers(GCNConv, between()), COLUMNS, LINKS)


def test_a_layer_that_keeps_edges_is_named() -> None:
    module = TwoLayers(lambda into, out: GCNConv(into, out, cached=True))
    with pytest.raises(InvalidParameter, match=r"GCNConv \('first'\) cannot .*cached=True"):
        check_module(module, COLUMNS, Classes())


def test_an_output_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="one row for each of 4 nodes"):
        check_module(CentreOnly(), COLUMNS, Classes())


def test_a_module_that_fails_says_so() -> None:
    with pytest.raises(InvalidParameter, match="TwoLayers failed on a random sub-graph: "):
        check_module(TwoLayers(GCNConv), COLUMNS + 1, Classes())


@pytest.mark.parametrize("name", MODULES)
def test_layers_that_keep_nothing_pass(name: str) -> None:
    check_module(MODULES[name](), COLUMNS, Classes())
    check_module(MODULES[name]().double(), COLUMNS, Classes())
    check_module(MODULES[name](), COLUMNS, LINKS)


def test_statistics_within_a_sub_graph_pass() -> None:
    for layer in (LayerNorm(8, mode="node"), GraphNorm(8), PairNorm()):
        check_module(TwoLayers(GCNConv, layer), COLUMNS, Classes())


def test_lazy_layers_get_their_shapes() -> None:
    module = TwoLayers(lambda into, out: GCNConv(-1, out))
    check_module(module, COLUMNS, Classes())
    assert module.first.lin.weight.shape == (8, COLUMNS)


def test_compiled_modules_are_refused() -> None:
    for layer in (torch.jit.script(nn.Tanh()), torch.compile(nn.Tanh(), backend="eager")):
        with pytest.raises(InvalidParameter, match=r"\('between'\) cannot .* out of sight"):
            check_module(TwoLayers(GCNConv, layer), COLUMNS, Classes())
