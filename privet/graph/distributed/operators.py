"""The operators of :mod:`privet.graph.operators` over a stored graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from privet.errors import InvalidParameter
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.kernel import HopReport
from privet.graph.distributed.scales import Loops, Normalisation

__all__ = ["ClusterOperator", "gcn_operator", "mean_operator", "pagerank_operator", "sum_operator"]


@dataclass(eq=False)
class ClusterOperator:
    """A normalised adjacency whose hops run on a cluster.

    Attributes:
        graph: The graph.
        normalisation: The scales around its pattern.
        reports: One list of parts for each hop that was computed, the latest last.
    """

    graph: ClusterGraph
    normalisation: Normalisation
    reports: list[list[HopReport]] = field(default_factory=list, repr=False)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self.graph.store.num_nodes

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.num_nodes, self.num_nodes

    @property
    def nnz(self) -> int:
        """The number of entries."""
        manifest = self.graph.store.manifest
        return (
            manifest.entries + {"none": 0, "every": manifest.nodes, "stored": manifest.loops}[self.normalisation.loops]
        )

    @property
    def T(self) -> ClusterOperator:  # noqa: N802
        """The transposed map, of an undirected graph."""
        if self.graph.store.manifest.directed:
            raise InvalidParameter("A directed store holds one direction. Build a second one with edges reversed.")
        own = self.normalisation
        return ClusterOperator(self.graph, Normalisation(own.right, own.left, own.loops))

    def __matmul__(self, x: Columns) -> Columns:
        """Apply the map to columns."""
        return self.hop(x)

    def hop(
        self, x: Columns, added: Columns | None = None, *, factor: float = 1.0, coefficient: float = 1.0
    ) -> Columns:
        """Compute factor * A x + coefficient * added.

        Args:
            x: Columns over the operator's graph.
            added: Columns to add, if any.
            factor: The coefficient of A x.
            coefficient: The coefficient of ``added``.
        """
        for given in (x, added):
            if given is not None and (given.graph is not self.graph or given.dtype.kind != "f"):
                raise InvalidParameter("x", "floating-point columns of the same graph", given)
        if added is not None and (added.width, added.dtype) != (x.width, x.dtype):
            raise InvalidParameter("added", repr(x), added)
        result, reports = self.graph.hop(self.normalisation, x, added, factor, coefficient)
        self.reports.append(reports)
        return result

    def prepare(self, dtype: DTypeLike = np.float32) -> ClusterOperator:
        """Check the store's files and compute the scales now, not with the first hop; return the operator.

        Args:
            dtype: The type of the columns to come.
        """
        self.graph.prepare(self.normalisation, dtype)
        return self


def gcn_operator(graph: ClusterGraph, *, self_loops: bool) -> ClusterOperator:
    """Make the symmetric normalisation D^-1/2 A D^-1/2.

    Args:
        self_loops: True adds a loop at every node that has none; False leaves all loops out (KProp's).
    """
    return ClusterOperator(graph, Normalisation(-0.5, -0.5, _loops(self_loops)))


def mean_operator(graph: ClusterGraph, *, self_loops: bool) -> ClusterOperator:
    """Make the mean over neighbours, D^-1 A.

    Args:
        self_loops: True adds a loop at every node that has none; False leaves all loops out.
    """
    return ClusterOperator(graph, Normalisation(-1.0, 0.0, _loops(self_loops)))


def sum_operator(graph: ClusterGraph) -> ClusterOperator:
    """Make the sum over neighbours, A as it is."""
    return ClusterOperator(graph, Normalisation(0.0, 0.0, "stored"))


def pagerank_operator(graph: ClusterGraph, r: float) -> ClusterOperator:
    """Make the operator of personalised PageRank, D^(r-1) A D^(-r).

    Args:
        r: The convolution coefficient, from 0 to 1.
    """
    if not 0.0 <= r <= 1.0:
        raise InvalidParameter("r", "a number in [0, 1]", r)
    return ClusterOperator(graph, Normalisation(r - 1.0, -r, "stored"))


def _loops(self_loops: bool) -> Loops:
    return "every" if self_loops else "none"
