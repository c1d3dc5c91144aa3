"""The check that every central system must pass: what it releases depends on a node as its accountant assumes."""

from __future__ import annotations

import numpy as np

from privet.auditing.central.replay import replay
from privet.data import Graph
from privet.errors import InvalidData
from privet.systems import CentralSystem
from privet.testing.mechanisms import require

__all__ = ["check_central_system"]


def check_central_system(system: CentralSystem, graph: Graph, *, nodes: int = 3, seed: int = 0) -> None:
    """Replay the training without some nodes, one at a time: sums, control flow and results must allow for it.

    Args:
        system: The system, with a noise multiplier and settings that train in a moment; its seed is replaced.
        graph: A small graph with everything that the system needs. It is not changed.
        nodes: The number of training nodes to try, those of the largest degrees (default 3).
        seed: The seed of coins and noise (default 0).
    """
    if graph.split is None:
        raise InvalidData("This graph has no split, so there is no training node to leave out. Use split_nodes.")
    candidates = np.flatnonzero(graph.split.train)
    tried = candidates[np.argsort(-graph.degrees[candidates], kind="stable")][:nodes]
    for node in tried:
        found = replay(system, graph, int(node), seed)
        require(found.holds, f"{system.name} does not protect node {node}: {'; '.join(found.problems)}")
        require(any(move.moved for move in found.moves), f"node {node} never took part in {system.name}: nothing shown")
