"""Wrong types get one sentence, not a traceback of another library."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import SAGEConv

from privet.data import Graph, social_graph, split_nodes
from privet.data.interop import to_pyg
from privet.errors import InvalidData, InvalidParameter
from privet.systems.central.trainer import PrivateTrainer


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(60, classes=3, features=5, seed=0)
    return made.replace(split=split_nodes(made, 0.5, 0.1, seed=0))


@pytest.mark.parametrize("module", [None, "SAGEConv", SAGEConv, lambda x, edge_index: x])
def test_a_module_must_be_one(graph: Graph, module: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"module must be an object of a torch"):
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
    with pytest.raises(InvalidParameter, match=f"{name} must be {expected}, not"):
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("multiplier", -1.0), ("test_neighbours", -1), ("epochs", 0), ("delta", 1e-12), ("optimizer", "sgdd"),
     ("noise_multiplier", -1.0), ("batch_size", 0)],
)  # fmt: skip
def test_refusals_name_what_the_user_called(graph: Graph, name: str, value: Any) -> None:
    """Whichever part of the machinery finds the fault."""
    settings = {"noise_multiplier": 4.0, name: value}
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        print(PrivateTrainer(SAGEConv(5, 3), graph, **settings).guarantee)


def test_what_edges_carry_is_refused_by_name(graph: Graph) -> None:
    data = to_pyg(graph)
    data.edge_attr = torch.ones(data.edge_index.shape[1], 2)
    with pytest.raises(InvalidData, match="has an edge_attr"):
        PrivateTrainer(SAGEConv(5, 3), data, noise_multiplier=4.0)
    weighted = graph.replace(adjacency=graph.adjacency * np.float32(0.5))
    with pytest.raises(InvalidData, match="has edge weights, and a module is called with edges alone"):
        PrivateTrainer(SAGEConv(5, 3), weighted, noise_multiplier=4.0)
    plain = weighted.replace(adjacency=(weighted.adjacency != 0).astype("float32"))  # as the sentence says
    made = PrivateTrainer(SAGEConv(5, 3), plain, noise_multiplier=4.0, delta=1e-3, batch_size=15, epochs=2)
    assert (made.num_nodes, made.rate, made.steps) == (60, 0.25, 8)
    words = (
        r"PrivateTrainer\(SAGEConv, N 60, q 0.25, 8 steps, noise multiplier 4, epsilon [\d.]+ at delta 0.001, vmap over"
    )
    assert re.match(words, repr(made))
    assert made.engine in repr(made)
