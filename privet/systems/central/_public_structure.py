"""Extra inputs that cost nothing: public degrees, and the graph among unprotected nodes.

The columns of a sub-graph are a function of its centre's public degree and of the centre's unprotected neighbours, of
whom everything is public but the labels to be predicted. A training node's own edges are read in its own sub-graph
only, and coordinates are computed in the graph among unprotected nodes alone, so that no other node's columns depend
on who takes part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.graph.coordinates import spectral_coordinates
from privet.graph.subgraphs import SubgraphBatch
from privet.models.clipping.rows import SparseRows
from privet.systems.central._training_view import TrainingView

__all__ = ["PublicStructure", "Structure", "beside", "neighbourhoods", "structure_width"]

Rows: TypeAlias = SparseRows | NDArray[np.float32]
Structure: TypeAlias = Literal["none", "degrees", "public"]

_HINGES = (-1.0, 0.0, 1.0)  # deviations of the log-degree at which a new slope begins
_COORDINATES = 16  # of each kind


def structure_width(structure: Structure) -> int:
    """Return the number of columns, which does not depend on the graph."""
    return {"none": 0, "degrees": 1 + len(_HINGES), "public": 3 + len(_HINGES) + 2 * _COORDINATES}[structure]


@dataclass(frozen=True, eq=False)
class PublicStructure:
    """A function from sub-graphs to extra columns, shifted and scaled by those of unprotected nodes.

    Attributes:
        own: The columns of every node that its public degree gives, N x 4.
        around: What an unprotected node tells its neighbours, N x c, zero for all others; c is 0 with "degrees".
        unprotected_nodes: A mask of the unprotected nodes.
        centre: The means of the columns over unprotected nodes.
        scale: Their deviations.
    """

    own: NDArray[np.float32]
    around: NDArray[np.float32]
    unprotected_nodes: NDArray[np.bool_]
    centre: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, view: TrainingView, structure: Structure) -> PublicStructure:
        """Prepare the columns of a graph.

        Args:
            view: The holder's side of the graph, of which degrees and unprotected nodes are read.
            structure: "degrees" for public degrees alone, "public" for the graph among unprotected nodes too.
        """
        sizes = np.log1p(view.graph.degrees.astype(np.float64))
        shifted = (sizes - sizes.mean()) / max(float(sizes.std()), 1e-6)
        own = np.stack([shifted, *(np.maximum(shifted - hinge, 0.0) for hinge in _HINGES)], axis=1)
        width = structure_width(structure)
        around = np.zeros((view.num_nodes, max(0, width - own.shape[1] - 1)), dtype=np.float32)
        nodes = np.flatnonzero(view.unprotected_nodes)
        edges = view.among_unprotected()
        if around.shape[1]:
            around[nodes, 0] = shifted[nodes]
            inside = sp.csr_array(edges[nodes][:, nodes])
            for kind in (False, True):
                found = spectral_coordinates(inside, _COORDINATES, normalised=kind)
                start = 1 + kind * _COORDINATES
                around[nodes, start : start + found.shape[1]] = found
        nothing, one = np.zeros(width, dtype=np.float32), np.ones(width, dtype=np.float32)
        plain = cls(own.astype(np.float32), around, view.unprotected_nodes, nothing, one)
        if not len(nodes):
            return plain
        columns = plain.columns(neighbourhoods(edges, nodes))
        return replace(plain, centre=columns.mean(axis=0), scale=np.maximum(columns.std(axis=0), 1e-3))

    def columns(self, batch: SubgraphBatch) -> NDArray[np.float32]:
        """Return the columns of each sub-graph; its sampled training nodes are not read."""
        own = self.own[batch.central]
        if self.around.shape[1]:
            kept = self.unprotected_nodes[batch.peripheral]
            owner, peripheral = batch.owner[kept], batch.peripheral[kept]
            counts = np.bincount(owner, minlength=len(batch)).astype(np.float32)
            shares = 1.0 / np.maximum(counts, 1.0)
            mean = sp.coo_array((shares[owner], (owner, peripheral)), shape=(len(batch), len(self.around))).tocsr()
            own = np.concatenate([own, np.log1p(counts)[:, None], mean @ self.around], axis=1)
        return np.asarray((own - self.centre) / self.scale, dtype=np.float32)

    def beside(self, rows: Rows, batch: SubgraphBatch) -> Rows:
        """Append the columns of each sub-graph to its row."""
        return beside(rows, self.columns(batch))


def neighbourhoods(adjacency: sp.csr_array, nodes: NDArray[np.int64]) -> SubgraphBatch:
    """Return the sub-graphs of some nodes with all their neighbours."""
    rows = adjacency[nodes]
    owner = np.repeat(np.arange(len(nodes), dtype=np.int64), np.diff(rows.indptr))
    return SubgraphBatch(nodes, owner, rows.indices.astype(np.int64))


def beside(rows: Rows, columns: NDArray[np.float32]) -> Rows:
    """Append extra columns to examples, which stay sparse if they are.

    Args:
        rows: The examples.
        columns: As many rows of extra columns.
    """
    if isinstance(rows, np.ndarray):
        return np.concatenate([rows, columns], axis=1)
    extra = sp.csr_array(columns - rows.offsets[:, None].astype(np.float32))
    return SparseRows(sp.hstack([rows.values, extra], format="csr"), rows.offsets)
