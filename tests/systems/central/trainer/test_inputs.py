"""Wrong types get one sentence, not a traceback of another library."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import SAGEConv

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.systems.central.trainer import PrivateTrainer


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(60, classes=3, features=5, seed=0)
    return made.replace(split=split_nodes(made, 0.5, 0.1, seed=0))


@pytest.mark.parametrize("module", [None, "SAGEConv", SAGEConv, lambda x, edge_index: x])
def test_a_module_must_be_one(graph: Graph, module: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"'module' parameter of PrivateTrainer must be an object of a torch"):
        PrivateTrainer(module, graph, noise_multiplier=4.0)


@pytest.mark.parametrize("data", [None, torch.zeros(3, 5), np.zeros((3, 5)), "graph", 7])
def test_a_graph_must_be_one(data: Any) -> None:
    with pytest.raises(InvalidData, match="graph given to PrivateTrainer must be a privet Graph, or a Data"):
        PrivateTrainer(SAGEConv(5, 3), data, noise_multiplier=4.0)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("batch_size", "20", "an integer"),
        ("batch_size", 20.5, "an integer"),
        ("batch_size", None, "an integer"),
        ("batch_size", True, "an integer"),
        ("epochs", "9", "a number"),
        ("learning_rate", [0.1], "a number"),
        ("max_grad_norm", "1", "a number"),
        ("multiplier", None, "a number"),
        ("noise_multiplier", "4", "None or a number"),
        ("delta", "1e-5", "None or a number"),
        ("test_neighbours", 1.5, "None or an integer"),
        ("at_once", "all", "None or an integer"),
        ("seed", "0", "None or an integer"),
    ],
)
def test_numbers_must_be_numbers(graph: Graph, name: str, value: Any, expected: str) -> None:
    settings = {"noise_multiplier": 4.0, name: value}
    with pytest.raises(InvalidParameter, match=f"'{name}' parameter of PrivateTrainer must be {expected}. Got"):
        PrivateTrainer(SAGEConv(5, 3), graph, **settings)


@pytest.mark.parametrize("targets", [["many"] * 60, {"a": 1}, np.zeros(59), np.zeros((60, 2))])
def test_targets_must_be_numbers(graph: Graph, targets: Any) -> None:
    with pytest.raises(InvalidData, match="one number for each of 60 nodes"):
        PrivateTrainer(SAGEConv(5, 1), graph, loss="mse", targets=targets, noise_multiplier=4.0)


@pytest.mark.parametrize("loss", [None, "pairs", nn.MSELoss(), ["mse"]])
def test_a_loss_must_be_known(graph: Graph, loss: Any) -> None:
    with pytest.raises(InvalidParameter, match="cross_entropy, mse or links"):
        PrivateTrainer(SAGEConv(5, 3), graph, loss=loss, noise_multiplier=4.0)


@pytest.mark.parametrize("loss", ["cross_entropy", "links"])
def test_targets_are_for_numbers_only(graph: Graph, loss: Any) -> None:
    with pytest.raises(InvalidData, match="takes targets with loss='mse' only; classes are the labels of the graph"):
        PrivateTrainer(SAGEConv(5, 3), graph, loss=loss, targets=np.zeros(60), noise_multiplier=4.0)
