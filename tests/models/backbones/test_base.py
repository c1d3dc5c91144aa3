"""The registry of backbones, and a backbone of another package in a network and in systems."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scipy.sparse as sp

from privet.errors import InvalidParameter
from privet.models import BACKBONES, backbone_operator, check_backbone
from privet.models.backbones import Backbone
from privet.models.backbones.gcn import GCN

OTHER = """
from torch import nn
from privet.graph import mean_operator
from privet.models.backbones import Backbone

class Layer(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels)
    def forward(self, x, operator):
        return operator @ (x @ self.lin.weight.T) + self.lin.bias

class Plain(Backbone):
    name = "plain-mean"
    @staticmethod
    def operator(graph):
        return mean_operator(graph, self_loops=True)
    @staticmethod
    def layer(in_channels, out_channels, *, heads=1):
        return Layer(in_channels, out_channels)
"""
PROGRAM = """
import numpy as np
from privet.data import group_columns, social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.models import GNN
from privet.systems.local.lpgnn import LPGNN
from privet.systems.local.rgnn import RGNN

assert type(GNN(4, 8, 2, backbone="plain-mean").layers[0]).__module__ == "other_package"
graph = social_graph(60, classes=2, features=8, seed=0)
graph = graph.replace(split=split_nodes(graph, seed=0))
for system, data in ((LPGNN, graph), (RGNN, group_columns(graph, 1))):
    made = system(backbone="plain-mean", max_epochs=2)
    fitted = made.fit(made.collect(data, SeededBits(np.random.default_rng(0))))
    assert fitted.probabilities.shape == (60, 2)
print("trained")
"""


def test_the_files_are_the_backbones() -> None:
    assert sorted(BACKBONES) == ["gat", "gcn", "gin", "sage"]
    assert all(issubclass(kind, Backbone) and kind.name == name for name, kind in BACKBONES.items())


def test_a_name_is_found_or_the_owner_is_told() -> None:
    assert check_backbone("GCN") is GCN
    with pytest.raises(InvalidParameter, match="backbone must be one of gat, gcn, gin, sage"):
        check_backbone("transformer")
    with pytest.raises(InvalidParameter, match="one of gat, gcn, gin, sage"):
        backbone_operator(sp.csr_array((2, 2)), "transformer")


def test_a_backbone_of_another_package_works_in_networks_and_systems(tmp_path: Path) -> None:
    (tmp_path / "other_package.py").write_text(OTHER)
    facts = tmp_path / "other_package-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: other-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[privet.backbones]\nplain-mean = other_package:Plain\n")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "trained\n", done.stderr
