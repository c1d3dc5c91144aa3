"""Checks of the module, the graph and the pairs that a user gives to PrivateTrainer."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph, from_pyg
from privet.errors import InvalidData, InvalidParameter
from privet.systems.central.trainer.link_prediction import LinkPrediction
from privet.systems.central.trainer.settings import Loss
from privet.systems.central.trainer.tasks import Classification, Regression

__all__ = ["PyGData", "check_module_kind", "checked_pairs", "checked_truth", "graph_and_task"]


class PyGData(Protocol):
    """A graph of PyTorch Geometric: ``torch_geometric.data.Data``, or what has the same parts."""

    @property
    def edge_index(self) -> Any:
        """The edges, [2, E]."""

    def clone(self) -> Any:
        """Return a copy."""


def check_module_kind(module: object) -> None:
    """Refuse what is no module, and modules elsewhere than on the CPU."""
    if not isinstance(module, nn.Module):
        found = f"the class {module.__name__}" if isinstance(module, type) else type(module).__name__
        expected = "an object of a torch.nn.Module, called with features and edges"
        raise InvalidParameter("module", expected, found)
    if any(each.device.type != "cpu" for each in module.parameters()):
        raise InvalidParameter("PrivateTrainer trains on the CPU, where sums are exact. Give it module.cpu().")


def graph_and_task(
    graph: Graph | PyGData, loss: Loss, targets: NDArray[np.floating] | None
) -> tuple[Graph, Classification | Regression | LinkPrediction]:
    """Return the graph and what to learn.

    Args:
        graph: A graph, or a ``Data`` of PyTorch Geometric.
        loss: The name of the loss.
        targets: Numbers to learn, or None.
    """
    graph, targets = _graph(graph, loss, targets)
    if loss == "mse":
        if targets is None:
            raise InvalidData("PrivateTrainer(loss='mse') learns numbers. Give one for each node as targets.")
        return graph, Regression(targets, graph.num_nodes)
    if targets is not None:
        raise InvalidData("PrivateTrainer takes targets with loss='mse' only; classes are the labels of the graph.")
    if loss == "links":
        assert graph.split is not None
        return graph, LinkPrediction(graph.split.validation | graph.split.test)
    if graph.labels is None:
        raise InvalidData("The graph given to PrivateTrainer has no labels. Give it labels, or use loss='links'.")
    return graph, Classification(graph.labels, 1 if graph.schema is None else graph.schema.classes)


def checked_pairs(pairs: Any, num_nodes: int) -> NDArray[np.int64]:
    """Return pairs of nodes as an array [2, n].

    Args:
        pairs: Node numbers, a pair in each column.
        num_nodes: The number of nodes.
    """
    expected = f"integers of shape [2, n] from 0 to {num_nodes - 1}, a pair of nodes in each column"
    try:
        found = np.asarray(pairs)
    except (TypeError, ValueError, RuntimeError):  # the last from tensors that numpy cannot hold
        raise InvalidData("pairs given to PrivateTrainer", expected, type(pairs).__name__) from None
    if found.ndim == 2 and found.shape[1] == 2 != found.shape[0] and np.issubdtype(found.dtype, np.integer):
        raise InvalidData(
            f"The pairs given to PrivateTrainer stand in {len(found)} rows, and must stand in columns, [2, n]: give "
            "np.asarray(pairs).T."
        )
    if found.ndim != 2 or found.shape[0] != 2 or not (found.size == 0 or np.issubdtype(found.dtype, np.integer)):
        shown = f"{found.dtype} of shape {list(found.shape)}"
        raise InvalidData("pairs given to PrivateTrainer", expected, shown)
    if found.size and not 0 <= int(found.min()) <= int(found.max()) < num_nodes:
        raise InvalidData("pairs given to PrivateTrainer", expected, f"{found.min()} to {found.max()}")
    return found.astype(np.int64)


def checked_truth(exists: Any, count: int) -> NDArray[np.bool_]:
    """Return which of some pairs are linked.

    Args:
        exists: True or False for each pair.
        count: The number of pairs.
    """
    expected = f"True or False for each of {count} pairs"
    try:
        found = np.asarray(exists)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidData("exists given to PrivateTrainer", expected, type(exists).__name__) from None
    if found.shape != (count,) or found.dtype != np.bool_:
        raise InvalidData("exists given to PrivateTrainer", expected, f"{found.dtype} of shape {list(found.shape)}")
    return found


def _graph(graph: Any, loss: Loss, targets: Any) -> tuple[Graph, Any]:
    """Return a graph with features and a split, and targets that PyG keeps with it."""
    if hasattr(graph, "node_types") or type(graph).__name__ == "HeteroData":
        raise InvalidData(
            "PrivateTrainer takes graphs of one kind of node and edge: a person's price is counted over all edges at "
            "once. Use data.to_homogeneous() and give the kinds as features."
        )
    if not isinstance(graph, Graph):
        if getattr(graph, "edge_index", None) is None or not hasattr(graph, "clone"):
            expected = "a privet Graph, or a Data of PyTorch Geometric with an edge_index"
            raise InvalidData("graph given to PrivateTrainer", expected, type(graph).__name__)
        copy = graph.clone()
        if loss == "mse" and targets is None and getattr(graph, "y", None) is not None:
            targets = graph.y.reshape(-1).numpy()
        if loss != "cross_entropy":
            copy.y = None
        graph = from_pyg(copy)
    if graph.weighted:
        raise InvalidData(
            "The graph given to PrivateTrainer has edge weights, and a module is called with edges alone. Go without "
            "them: graph.replace(adjacency=(graph.adjacency != 0).astype('float32'))."
        )
    if graph.features is None:
        raise InvalidData("The graph given to PrivateTrainer has no features; a module needs some for each node.")
    if graph.split is None:
        raise InvalidData(
            "The graph given to PrivateTrainer has no split, so nobody knows who is protected: use "
            "graph.replace(split=split_nodes(graph, 0.8, 0.0)), or the masks of a PyG Data."
        )
    return graph, targets
