"""Checks that every backbone passes: its layer equals PyG's, and a lazy first layer equals a dense one."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from privet.graph import LazyFeatures, gcn_operator
from privet.mechanisms.core.affine import AffineFeatures
from privet.models import BACKBONES, seeded

with warnings.catch_warnings():  # PyG compiles a class with torch.jit when it is imported, which torch deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    import torch_geometric.nn as pyg

__all__ = ["IN", "OUT", "adjacencies", "check_equals_pyg", "check_lazy_equals_dense", "pyg", "seeds"]

IN, OUT = 5, 3
seeds = st.integers(0, 2**32 - 1)


@st.composite
def adjacencies(draw: st.DrawFn) -> sp.csr_array:
    """A 0/1 adjacency without self-loops, directed or not, in which the last node is isolated."""
    nodes = draw(st.integers(2, 12))
    density = draw(st.sampled_from([0.0, 0.1, 0.3, 0.8]))
    rng = np.random.default_rng(draw(seeds))
    dense = rng.random((nodes, nodes)) < density
    if draw(st.booleans()):
        dense |= dense.T
    dense[-1] = dense[:, -1] = False
    np.fill_diagonal(dense, False)
    return sp.csr_array(dense.astype(np.float64))


def check_equals_pyg(ours: nn.Module, theirs: nn.Module, operator: object, adjacency: sp.csr_array, seed: int) -> None:
    """On the same weights both layers have the same output and the same gradients, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    ours, theirs = ours.double(), theirs.double()
    for parameter in theirs.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(adjacency.shape[0], IN, generator=generator, dtype=torch.float64, requires_grad=True)
    found, expected = ours(x, operator), theirs(x, _edge_index(adjacency))
    torch.testing.assert_close(found, expected)
    direction = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(_gradients(found, x, ours, direction), _gradients(expected, x, theirs, direction))


def check_lazy_equals_dense(backbone: str, adjacency: sp.csr_array, hops: int, seed: int) -> None:
    """A layer of the backbone gives the same for lazy features as for the matrix that they stand for."""
    kind = BACKBONES[backbone]
    with seeded(seed):
        layer = kind.layer(IN, OUT)
    rng = np.random.default_rng(seed)
    symbols = sp.random_array((adjacency.shape[0], IN), density=0.4, rng=rng, format="csr")
    affine = AffineFeatures(sp.csr_array(symbols), rng.normal(size=IN), rng.normal(size=IN))
    lazy = LazyFeatures.from_affine(affine).propagate(gcn_operator(adjacency, self_loops=False), hops)
    operator, weights = kind.operator(adjacency), list(layer.parameters())
    from_lazy, from_dense = layer(lazy, operator), layer(lazy.dense(), operator)
    torch.testing.assert_close(from_lazy, from_dense, rtol=1e-4, atol=1e-5)
    direction = torch.from_numpy(rng.normal(size=from_dense.shape)).float()
    by_lazy = torch.autograd.grad((from_lazy * direction).sum(), weights)
    by_dense = torch.autograd.grad((from_dense * direction).sum(), weights)
    torch.testing.assert_close(by_lazy, by_dense, rtol=1e-3, atol=1e-4)


def _edge_index(adjacency: sp.csr_array) -> Tensor:
    """PyG's edges: the entry (i, j), by which i listens to j, is the edge from j to i."""
    rows, columns = adjacency.tocoo().coords
    return torch.tensor(np.stack([columns, rows]), dtype=torch.int64)


def _gradients(output: Tensor, x: Tensor, layer: nn.Module, direction: Tensor) -> dict[str, Tensor]:
    named = {"x": x, **dict(layer.named_parameters())}
    found = torch.autograd.grad((output * direction).sum(), list(named.values()))
    return dict(zip(named, found, strict=True))
