"""Graphs from and to PyTorch Geometric and NetworkX, each of which is imported only when it is asked for."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.graph import Duplicates, Graph, SelfLoops, Split
from privet.data.schema import Schema
from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = ["as_graph", "from_networkx", "from_pyg", "load_pyg", "to_networkx", "to_pyg"]

# The class in torch_geometric.datasets and its arguments besides the root.
_PYG_DATASETS: dict[str, tuple[str, dict[str, str]]] = {
    "AmazonComputers": ("Amazon", {"name": "Computers"}),
    "AmazonPhoto": ("Amazon", {"name": "Photo"}),
    "CiteSeer": ("Planetoid", {"name": "CiteSeer"}),
    "Cora": ("Planetoid", {"name": "Cora"}),
    "DBLP": ("CitationFull", {"name": "DBLP"}),
    "FacebookPagePage": ("FacebookPagePage", {}),
    "GitHub": ("GitHub", {}),
    "LastFMAsia": ("LastFMAsia", {}),
    "PubMed": ("Planetoid", {"name": "PubMed"}),
    "Reddit": ("Reddit", {}),
    "TwitchDE": ("Twitch", {"name": "DE"}),
}
# What the publishers say about the features: 0/1 for words, TF-IDF in PubMed.
_DECLARED = {
    "AmazonComputers": Schema.numeric(767, 0, 1, classes=10),
    "AmazonPhoto": Schema.numeric(745, 0, 1, classes=8),
    "CiteSeer": Schema.numeric(3703, 0, 1, classes=6),
    "Cora": Schema.numeric(1433, 0, 1, classes=7),
    "DBLP": Schema.numeric(1639, 0, 1, classes=4),
    "PubMed": Schema.numeric(500, 0, 1.3, classes=3),
}


def from_pyg(
    data: Any,
    *,
    directed: bool | None = None,
    self_loops: SelfLoops = "refuse",
    duplicates: Duplicates = "refuse",
    edge_attr: Literal["refuse", "drop"] = "refuse",
    schema: Schema | None = None,
) -> Graph:
    """Make a graph from a PyTorch Geometric ``Data``.

    Args:
        data: An object with ``edge_index`` and ``num_nodes``, and ``x``, ``y``, ``edge_weight``, ``train_mask``,
            ``val_mask`` and ``test_mask`` if it has them.
        directed: True keeps each edge as it is listed; False takes it in both directions. By default edges are taken
            in both directions, with a warning if some are listed in one direction only.
        self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
        duplicates: ``"refuse"`` or ``"merge"`` edges that are listed twice; the weights of merged ones add up.
        edge_attr: ``"refuse"`` or ``"drop"`` features of edges, for which a graph has no place.
        schema: The declared ranges of the features and the number of classes, which PyG does not know. Systems need
            it; :meth:`Graph.replace` can add it later.
    """
    if getattr(data, "edge_index", None) is None or data.num_nodes is None:
        raise InvalidData("PyG data", "one with an edge_index and a number of nodes", type(data).__name__)
    if getattr(data, "edge_attr", None) is not None and edge_attr != "drop":
        raise InvalidData(
            "The data has an edge_attr, and privet does not read features of edges. Say from_pyg(data, "
            "edge_attr='drop') to go without them, or call a single column of weights edge_weight."
        )
    nodes = int(data.num_nodes)
    edges = data.edge_index.cpu().numpy()
    matrix = Graph.from_edges(edges, nodes, directed=True, self_loops="keep", duplicates=duplicates).adjacency
    weights = getattr(data, "edge_weight", None)
    if weights is not None:
        if tuple(weights.shape) != (edges.shape[1],):
            raise InvalidData("edge_weight", f"{edges.shape[1]} numbers, one for each edge", f"{tuple(weights.shape)}")
        matrix = sp.csr_array((weights.cpu().numpy(), (edges[0], edges[1])), shape=(nodes, nodes))
    return Graph.from_scipy(
        matrix if directed else _in_both_directions(matrix, warn=directed is None),
        directed=bool(directed),
        self_loops=self_loops,
        features=_features_of(data),
        labels=_labels_of(data),
        split=_split_of(data, nodes),
        schema=schema,
    )


def as_graph(graph: Any, owner: str) -> Graph:
    """Return a graph as it is, and a PyTorch Geometric ``Data`` as a graph, for a check of what it lacks.

    Args:
        graph: What was given as a graph.
        owner: The function that needs it, for the error about anything else.
    """
    if isinstance(graph, Graph):
        return graph
    if getattr(graph, "edge_index", None) is None:
        raise InvalidData(
            f"{owner} takes a privet Graph, not {type(graph).__name__}. Make one with from_pyg, from_networkx, "
            "Graph.from_scipy or Graph.from_edges."
        )
    return from_pyg(graph, directed=False, self_loops="drop", duplicates="merge")


def _in_both_directions(matrix: sp.csr_array, *, warn: bool) -> sp.csr_array:
    """Add the mirror image of every edge that has none."""
    mirror = sp.csr_array(matrix.T)
    different = sp.csr_array(matrix != mirror)
    if not different.nnz or not (matrix.data >= 0).all():  # a graph refuses other weights by itself
        return matrix
    rows, columns = different.multiply(matrix).multiply(mirror).nonzero()
    if len(rows):
        raise InvalidData(
            f"The edges between nodes {rows[0]} and {columns[0]} have different weights in the two directions. Say "
            "directed=True to keep both, or give them the same weight."
        )
    if warn:
        text = (
            f"{different.nnz // 2} of {matrix.nnz} edges are listed in one direction only and are taken in both. "
            "Say directed=False if that is right, or directed=True to keep their directions."
        )
        warnings.warn(text, stacklevel=3)
    return sp.csr_array(matrix.maximum(mirror))


def to_pyg(graph: Graph, *, sparse: bool = False) -> Any:
    """Make a PyTorch Geometric ``Data`` of a graph.

    Args:
        graph: The graph; its features, labels and split become ``x``, ``y`` and three masks.
        sparse: True makes ``x`` a sparse COO tensor. PyG's layers expect a dense one, the default.
    """
    import torch
    from torch_geometric.data import Data

    data = Data(edge_index=torch.from_numpy(graph.edge_index), num_nodes=graph.num_nodes)
    if graph.weighted:
        data.edge_weight = torch.from_numpy(graph.adjacency.data.copy())
    if graph.features is not None:
        data.x = _sparse_tensor(graph.features) if sparse else torch.from_numpy(_dense(graph.features))
    if graph.labels is not None:
        data.y = torch.from_numpy(graph.labels.copy())
    if graph.split is not None:
        data.train_mask = torch.from_numpy(graph.split.train.copy())
        data.val_mask = torch.from_numpy(graph.split.validation.copy())
        data.test_mask = torch.from_numpy(graph.split.test.copy())
    return data


def from_networkx(network: Any, *, self_loops: SelfLoops = "refuse", schema: Schema | None = None) -> Graph:
    """Make a graph from a NetworkX one, its nodes numbered in their order there.

    Args:
        network: A ``Graph`` or ``DiGraph``. The node attributes ``x`` (numbers) and ``y`` (class) are read if any node
            has them: ``x`` must then be on every node, and a node without ``y`` is unlabelled.
        self_loops: ``"refuse"``, ``"drop"`` or ``"keep"`` edges from a node to itself.
        schema: The declared ranges of the features and the number of classes.
    """
    import networkx as nx

    if network.is_multigraph():
        raise InvalidData("NetworkX graph", "one without parallel edges", type(network).__name__)
    nodes = network.number_of_nodes()
    # NetworkX refuses to convert the graph without nodes.
    matrix = nx.to_scipy_sparse_array(network, dtype=np.float32, format="csr") if nodes else sp.csr_array((0, 0))
    x = [attributes.get("x") for _, attributes in network.nodes(data=True)]
    y = [attributes.get("y", -1) for _, attributes in network.nodes(data=True)]
    lacking = next((row for row, values in enumerate(x) if values is None), None)
    if lacking is not None and any(values is not None for values in x):
        raise InvalidData(
            f"Node {lacking} has no attribute x, and other nodes have one. Give it to every node or to none."
        )
    return Graph.from_scipy(
        matrix,
        directed=network.is_directed(),
        self_loops=self_loops,
        features=_stack(x) if nodes and lacking is None else None,
        labels=np.asarray(y) if any(label != -1 for label in y) else None,
        schema=schema,
    )


def to_networkx(graph: Graph) -> Any:
    """Make a NetworkX ``Graph`` or ``DiGraph`` on the nodes 0 .. N - 1 with weight, x and y attributes.

    Args:
        graph: The graph to convert.
    """
    import networkx as nx

    kind = nx.DiGraph if graph.directed else nx.Graph
    network = nx.from_scipy_sparse_array(graph.adjacency, create_using=kind)
    if graph.features is not None:
        nx.set_node_attributes(network, dict(enumerate(_dense(graph.features))), "x")
    if graph.labels is not None:
        nx.set_node_attributes(network, dict(enumerate(graph.labels.tolist())), "y")
    return network


def load_pyg(name: str, root: str | os.PathLike[str], *, schema: Schema | None = None) -> Graph:
    """Load one of PyTorch Geometric's datasets; self-loops are dropped and duplicate edges merged.

    Args:
        name: The dataset's name, such as "Cora" or "pyg:Cora".
        root: The directory to which PyG downloads it, if it is not there yet.
        schema: The declared ranges of the features and the number of classes, which PyG does not know (default: as
            published for AmazonComputers, AmazonPhoto, CiteSeer, Cora, DBLP and PubMed, and none for the others).
    """
    key = name.removeprefix("pyg:")
    if key not in _PYG_DATASETS:
        raise InvalidParameter("name", f"one of {', '.join(_PYG_DATASETS)}", repr(name))
    from torch_geometric import datasets

    kind, arguments = _PYG_DATASETS[key]
    try:
        data = getattr(datasets, kind)(os.path.join(root, kind), **arguments)[0]
    except Exception as error:  # each of PyG's download back ends has errors of its own
        reason = one_line(f"{type(error).__name__}: {error}")
        raise InvalidData(
            f"PyTorch Geometric could not load the dataset {key!r} ({reason}). It needs a network the first time; "
            f"later it reads what lies in its root."
        ) from None
    return from_pyg(data, self_loops="drop", duplicates="merge", schema=schema or _DECLARED.get(key))


def _features_of(data: Any) -> Any:
    x = getattr(data, "x", None)
    if x is None:
        return None
    x = x.detach().cpu()
    if str(x.layout) == "torch.strided":
        return x.numpy()
    x = x.to_sparse_coo().coalesce()
    return sp.csr_array((x.values().numpy(), tuple(x.indices().numpy())), shape=tuple(x.shape))


def _labels_of(data: Any) -> NDArray[Any] | None:
    y = getattr(data, "y", None)
    if y is None:
        return None
    labels: NDArray[Any] = y.cpu().numpy()
    return labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels


def _split_of(data: Any, nodes: int) -> Split | None:
    masks = [getattr(data, name, None) for name in ("train_mask", "val_mask", "test_mask")]
    if all(mask is None for mask in masks):
        return None
    return Split(*(np.zeros(nodes, np.bool_) if mask is None else mask.cpu().numpy() for mask in masks))


def _dense(features: Any) -> NDArray[np.float32]:
    return np.array(features if isinstance(features, np.ndarray) else features.toarray())


def _sparse_tensor(features: Any) -> Any:
    import torch

    matrix = sp.coo_array(features)
    places = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
    values = torch.from_numpy(matrix.data.copy())
    return torch.sparse_coo_tensor(places, values, matrix.shape, check_invariants=True, is_coalesced=True)


def _stack(rows: list[Any]) -> NDArray[np.float32]:
    try:
        return np.stack([np.asarray(row, dtype=np.float32) for row in rows])
    except (TypeError, ValueError):
        raise InvalidData("The attribute x must have equally many numbers on every node.") from None
