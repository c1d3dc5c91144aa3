"""GIN's layer equals PyG's with a fixed and a trained eps, lazily and densely."""

from __future__ import annotations

import pytest
import scipy.sparse as sp
import torch
from backbone_suite import IN, OUT, adjacencies, check_equals_pyg, check_lazy_equals_dense, pyg, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from privet.graph import sum_operator
from privet.models.backbones.gin import GINLayer


@pytest.mark.parametrize("options", [{"eps": 0.3}, {"train_eps": True}])
@given(adjacency=adjacencies(), seed=seeds)
def test_equals_pyg(options: dict[str, float], adjacency: sp.csr_array, seed: int) -> None:
    perceptron = nn.Sequential(nn.Linear(IN, OUT), nn.ReLU(), nn.Linear(OUT, OUT))
    operator = sum_operator(adjacency, dtype=torch.float64)
    check_equals_pyg(GINLayer(IN, OUT, **options), pyg.GINConv(perceptron, **options), operator, adjacency, seed)


@given(adjacency=adjacencies(), hops=st.integers(0, 2), seed=seeds)
@settings(max_examples=15)
def test_lazy_first_layer_equals_dense(adjacency: sp.csr_array, hops: int, seed: int) -> None:
    check_lazy_equals_dense("gin", adjacency, hops, seed)
