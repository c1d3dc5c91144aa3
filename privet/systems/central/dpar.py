"""DPAR (Zhang et al. 2024): neighbours by noisy personalised PageRank, then DP-SGD on their features, priced soundly.

The paper's promise does not hold as it stands (docs/explanation/corrections.md); this is its Gaussian
variant with the noise that node-level privacy takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.graph.subgraphs import SubgraphBatch, SubgraphSampler
from privet.mechanisms import Bits, GridSum, SeededBits
from privet.mechanisms.primitives.grid import unit_rows_on_grid
from privet.models.clipping.rows import SparseRows
from privet.models.private_training import Batch
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.ranked_neighbours import RankedNeighbours
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import TrainingView, standardised
from privet.systems.central.smoothed_mlp import smoothed

__all__ = ["DPAR", "pagerank_rows", "selected"]

_TERMS = 30  # of the series of PageRank


@dataclass(frozen=True, kw_only=True)
class DPAR(CentralSystem):
    """Release noisy PageRank vectors of a few nodes, and train on own features and those of the nodes ranked highest.

    A row is x_v + sum_j x_j / ``top`` over the selected j, or x_v alone for the nodes whose vectors are not released.
    Predictions are propagated over the edges among unprotected nodes.

    Args:
        ranked: The number of nodes whose PageRank vectors are released, chosen by a public seed (default 70).
        top: The number of nodes that each vector selects (default 4).
        max_listeners: The largest number of rows for which a node may be selected (default 1).
        teleport: The restart probability of PageRank, in training and prediction (default 0.25).
        hops: The number of propagations of a prediction (default 2).
    """

    name: ClassVar[str] = "dpar"
    search_space: ClassVar[dict[str, list[Any]]] = {"ranked": [10, 70], "top": [2, 4], "teleport": [0.25, 0.5]}
    process_kind: ClassVar[type[Process]] = RankedNeighbours
    baseline: ClassVar[str | None] = "DPAR with noise for its true sensitivity"
    baseline_short: ClassVar[str] = "DPAR"
    ranked: int = 70
    top: int = 4
    max_listeners: int = 1
    teleport: float = 0.25
    hops: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_counts("ranked", "top", "max_listeners")
        self.require("teleport", 0 < self.teleport < 1, "between 0 and 1")
        self.require("hops", self.hops >= 0, "an integer of at least 0")

    def batches(self, view: TrainingView, bits: Bits) -> Callable[[], Batch]:
        """Release the vectors with noise; examples are the rows that they select."""
        starts = np.argsort(SeededBits(0).words(view.num_nodes), kind="stable")[: self.ranked]
        vectors = pagerank_rows(view.graph.adjacency, view.members, starts, self.teleport)
        scores = vectors.with_noise(self.release_noise(view.num_nodes), bits, noise=self.noise)
        sampler = self.sampler(selected(scores, starts, self.top, self.max_listeners), view)
        sparse = view.stays_sparse()

        def batch() -> Batch:
            drawn = sampler.draw(bits)
            return self.inputs(drawn, view, sparse=sparse), view.labels[drawn.central]

        return batch

    def sampler(self, listens: sp.csr_array, view: TrainingView) -> SubgraphSampler:
        """Return the sampler that picks every selected node; centres stay where they are selected."""
        return SubgraphSampler(listens, view.members, self.rate(view.num_nodes), math.inf, keep_central=True)

    def inputs(
        self, batch: SubgraphBatch, view: TrainingView, *, sparse: bool = False
    ) -> SparseRows | NDArray[np.float32]:
        """Return own features plus those of selected nodes over ``top``, however many of these take part."""
        others = np.full(len(batch.owner), 1.0 / self.top)
        rows = batch.matrix(np.ones(len(batch)), others, view.num_nodes) @ view.features
        return standardised(rows, sparse=sparse)

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict from own features, and propagate predictions among unprotected nodes."""
        nodes = np.flatnonzero(view.unprotected_nodes)
        rows = standardised(view.features[nodes], sparse=view.stays_sparse())
        return smoothed(predicted(network, rows), view.unprotected_graph(), 1 - self.teleport, self.hops)


def pagerank_rows(
    adjacency: sp.csr_array, members: NDArray[np.bool_], starts: NDArray[np.int64], teleport: float
) -> GridSum:
    """Return the personalised PageRank vectors of some nodes in the graph of the members, scaled to norm 1.

    Entries are not negative; the vector of a node that is no member is zero.

    Args:
        adjacency: The edges of the whole graph.
        members: A mask of the nodes that take part.
        starts: The nodes whose vectors are computed.
        teleport: The restart probability.
    """
    present = sp.diags_array(members.astype(np.float64), format="csr")
    inside = sp.csr_array(present @ adjacency @ present) + present
    walk = inside @ sp.diags_array(1.0 / np.maximum(np.asarray(inside.sum(axis=0)).ravel(), 1.0), format="csr")
    start = np.zeros((len(members), len(starts)))
    start[starts, np.arange(len(starts))] = members[starts]
    current = start
    for _ in range(_TERMS):
        current = teleport * start + (1 - teleport) * (walk @ current)
    rows, unit = unit_rows_on_grid(current.T)
    return GridSum(rows.toarray(), unit)


def selected(scores: NDArray[np.float64], starts: NDArray[np.int64], top: int, most: int) -> sp.csr_array:
    """Return who listens to whom: each start to the ``top`` other nodes of its scores, no node heard by over ``most``.

    Args:
        scores: The noisy vectors, one a row.
        starts: The node that each row belongs to.
        top: The number of nodes that a row selects.
        most: The largest number of rows that may select a node; those that score it highest do.
    """
    others = scores.copy()
    others[np.arange(len(starts)), starts] = -np.inf
    top = min(top, scores.shape[1] - 1)
    listener = np.repeat(np.arange(len(starts)), top)
    heard = np.argsort(-others, axis=1, kind="stable")[:, :top].ravel()
    best_first = np.argsort(-others[listener, heard], kind="stable")
    order = best_first[np.argsort(heard[best_first], kind="stable")]
    place = np.arange(len(order)) - np.searchsorted(heard[order], heard[order])
    kept = order[place < most]
    entries = (starts[listener[kept]], heard[kept])
    return sp.csr_array((np.ones(len(kept), np.float32), entries), shape=(scores.shape[1],) * 2)
