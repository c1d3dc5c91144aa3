"""Predictions for unprotected nodes and for pairs of them, from such nodes alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from privet.graph.subgraphs import SubgraphBatch, few_neighbours
from privet.mechanisms import Bits
from privet.models.subgraphs import SubgraphGradients, chunks_of
from privet.models.subgraphs.chunks import Features
from privet.systems.central._public_structure import neighbourhoods
from privet.systems.central._training_view import TrainingView
from privet.systems.central.trainer.link_prediction import pair_scores

__all__ = ["Predictions"]

Ids = NDArray[np.int64]
Array = NDArray[np.float32]

_ROWS = 4096  # of nodes in one pass


@dataclass(frozen=True, eq=False)
class Predictions:
    """A trained module over the unprotected part of a graph.

    Attributes:
        model: The module.
        features: The features of all nodes; those of protected ones are not read.
        unprotected: A mask of the nodes to predict for.
        around: The neighbours that each of them hears, unprotected ones.
    """

    model: SubgraphGradients
    features: Features
    unprotected: NDArray[np.bool_]
    around: sp.csr_array

    @classmethod
    def of(cls, model: SubgraphGradients, view: TrainingView, most: int | None, bits: Bits) -> Predictions:
        """Choose the neighbours that each node hears.

        Args:
            model: The module.
            view: The graph.
            most: The largest number of neighbours of a node; None for all.
            bits: The source of the choice.
        """
        around = few_neighbours(view.among_unprotected(), most, bits)
        return cls(model, view.features, view.unprotected_nodes, around)

    def rows(self, *, alone: bool = False) -> Array:
        """Return the module's row for each node, NaN for nodes that are not unprotected.

        Args:
            alone: True if nodes hear nobody (default False).
        """
        nodes = np.flatnonzero(self.unprotected)
        nobody = np.zeros(0, dtype=np.int64)
        batch = SubgraphBatch(nodes, nobody, nobody) if alone else neighbourhoods(self.around, nodes)
        outputs = self._centre_rows(batch)
        found = np.full((len(self.unprotected), outputs.shape[1]), np.nan, dtype=np.float32)
        found[nodes] = outputs.float().numpy()
        return found

    def link_scores(self, pairs: Ids, heard: Array, alone: Array) -> Array:
        """Return the logit of a link for each pair, NaN for a pair with a protected node.

        It is the mean of both directions: one end hears its neighbours, but not the other end, which is alone.

        Args:
            pairs: Node numbers, [2, n].
            heard: The rows of nodes with their neighbours.
            alone: The rows of nodes alone.
        """
        found = np.full(pairs.shape[1], np.nan, dtype=np.float32)
        known = np.flatnonzero(self.unprotected[pairs].all(axis=0))
        total = np.zeros(len(known), dtype=np.float32)
        for end, other in (pairs[:, known], pairs[::-1, known]):
            rows = torch.from_numpy(self._without(end, other, heard))
            total += pair_scores(rows, torch.from_numpy(alone[other])).numpy()
        found[known] = total / 2
        return found

    def _without(self, ends: Ids, others: Ids, heard: Array) -> Array:
        """Return the rows of some nodes, each of which does not hear a given other one."""
        rows = heard[ends]
        if not len(ends):
            return rows
        linked = np.flatnonzero(np.asarray(self.around[ends, others] != 0).ravel())
        batch = neighbourhoods(self.around, ends[linked])
        kept = batch.peripheral != others[linked][batch.owner]
        rows[linked] = self._centre_rows(
            SubgraphBatch(batch.central, batch.owner[kept], batch.peripheral[kept])
        ).float()
        return rows

    def _centre_rows(self, batch: SubgraphBatch) -> Tensor:
        """Return the module's row for the centre of each sub-graph."""
        numbers, zeros = np.arange(len(batch)), np.zeros(len(batch), dtype=np.int64)
        found, order = [torch.zeros(0, 1, dtype=self.model.dtype)], [torch.zeros(0, dtype=torch.int64)]
        for chunk in chunks_of(batch, self.features, numbers, zeros, lambda slots, _: max(1, _ROWS // slots)):
            chunk = chunk.lanes_of(chunk.is_example)
            found.append(self.model.centre_rows(chunk))
            order.append(chunk.targets)
        whole = torch.cat(found[1:] or found)
        return whole[torch.cat(order).argsort()]
