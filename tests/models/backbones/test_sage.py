"""SAGE's layer equals PyG's, lazily and densely."""

from __future__ import annotations

import scipy.sparse as sp
import torch
from backbone_suite import IN, OUT, adjacencies, check_equals_pyg, check_lazy_equals_dense, pyg, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.graph import mean_operator
from privet.models.backbones.sage import SAGELayer


@given(adjacency=adjacencies(), seed=seeds)
def test_equals_pyg(adjacency: sp.csr_array, seed: int) -> None:
    operator = mean_operator(adjacency, self_loops=False, dtype=torch.float64)
    check_equals_pyg(SAGELayer(IN, OUT), pyg.SAGEConv(IN, OUT), operator, adjacency, seed)


@given(adjacency=adjacencies(), hops=st.integers(0, 2), seed=seeds)
@settings(max_examples=15)
def test_lazy_first_layer_equals_dense(adjacency: sp.csr_array, hops: int, seed: int) -> None:
    check_lazy_equals_dense("sage", adjacency, hops, seed)
