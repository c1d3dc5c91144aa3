"""Heterogeneous Poisson sampling of one-hop sub-graphs (HeterPoisson, Algorithms 2 and 3), without a loop over nodes.

Row i of the adjacency lists the nodes that i listens to. The out-degree of a node is the number of nodes that listen
to it, that is, of sub-graphs that it can be in without being their centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms import Bits

__all__ = ["SubgraphBatch", "SubgraphSampler", "few_neighbours", "poisson_sample"]

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]

_WORD = 1 << 64


@dataclass(frozen=True, eq=False)
class SubgraphBatch:
    """Sub-graph b has the centre ``central[b]`` and the peripheral nodes ``peripheral[k]`` with ``owner[k] = b``."""

    central: Ids
    owner: Ids
    peripheral: Ids

    def __len__(self) -> int:
        return len(self.central)

    def matrix(self, own: NDArray[np.floating], others: NDArray[np.floating], num_nodes: int) -> sp.csr_array:
        """[B, N] weights: ``own[b]`` at the centre of sub-graph b and ``others[k]`` at its peripheral node k."""
        rows = np.concatenate([np.arange(len(self)), self.owner])
        columns = np.concatenate([self.central, self.peripheral])
        values = np.concatenate([own, others]).astype(np.float32)
        return sp.coo_array((values, (rows, columns)), shape=(len(self), num_nodes)).tocsr()


@dataclass(frozen=True, eq=False)
class SubgraphSampler:
    """Batches of sub-graphs around nodes that take part, each centre with probability ``rate``.

    ``adjacency`` is the whole, fixed graph, whose degrees are public. ``members`` take part and are protected: such a
    node is picked by a centre that listens to it with probability min(1, ``multiplier`` / its out-degree), and is left
    out of all sub-graphs but its own in a step in which it is a centre itself. ``open_nodes`` are never centres; nobody
    is promised anything about them, so they are picked always. All other nodes, and their edges, are never read.
    With ``keep_central`` centres stay in the sub-graphs of others, which needs another accountant.
    """

    adjacency: sp.csr_array
    members: Mask
    rate: float
    multiplier: float = 1.0
    open_nodes: Mask | None = None
    keep_central: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise InvalidParameter("rate", "SubgraphSampler", "a probability above 0", self.rate)
        if not self.multiplier >= 0:  # NaN too
            raise InvalidParameter("multiplier", "SubgraphSampler", "a number of at least 0", self.multiplier)
        if self.open_nodes is not None and (self.open_nodes & self.members).any():
            both = int(np.argmax(self.open_nodes & self.members))
            raise InvalidParameter("open_nodes", "SubgraphSampler", "no members", f"node {both}, which is one")

    @cached_property
    def _candidates(self) -> Ids:
        return np.flatnonzero(self.members)

    @cached_property
    def out_degrees(self) -> Ids:
        """How many nodes of the whole graph listen to each."""
        return np.bincount(self.adjacency.indices, minlength=self.adjacency.shape[0])

    @cached_property
    def _pick_below(self) -> NDArray[np.uint64]:
        """A member is picked if a uniform word is below this: rounded down, so never more often than stated."""
        if math.isinf(self.multiplier):
            return np.full(len(self.members), _WORD - 1, dtype=np.uint64)
        share = self.multiplier / np.maximum(self.out_degrees, 1)
        words = np.floor(np.minimum(share, 1.0) * 2.0**53).astype(np.uint64)
        return np.where(share >= 1, np.uint64(_WORD - 1), words << np.uint64(11))

    def draw(self, bits: Bits) -> SubgraphBatch:
        """One batch; the cost is that of the members and of the neighbourhoods of the centres."""
        central = poisson_sample(self._candidates, self.rate, bits)
        listened = self.adjacency.indices
        return self.form(central, lambda entries: bits.words(len(entries)) < self._pick_below[listened[entries]])

    def form(self, central: Ids, picked: Callable[[Ids], Mask]) -> SubgraphBatch:
        """The batch around given centres; ``picked`` says of entries of the adjacency whether their coin fell for it.

        This is all that happens to the coins: Algorithm 2 from line 5 on.
        """
        pointers = self.adjacency.indptr
        counts = (pointers[central + 1] - pointers[central]).astype(np.int64)
        owner = np.repeat(np.arange(len(central), dtype=np.int64), counts)
        starts = np.cumsum(counts) - counts
        entries = np.arange(len(owner), dtype=np.int64) + (pointers[central] - starts)[owner]
        neighbour = self.adjacency.indices[entries].astype(np.int64)
        is_central = np.zeros(self.adjacency.shape[0], dtype=np.bool_)
        is_central[central] = True
        kept = self.members[neighbour] & picked(entries)
        if not self.keep_central:
            kept &= ~is_central[neighbour]
        if self.open_nodes is not None:
            kept |= self.open_nodes[neighbour]
        return SubgraphBatch(central, owner[kept], neighbour[kept])


def poisson_sample(nodes: Ids, rate: float, bits: Bits) -> Ids:
    """Each node by an independent coin of probability ``rate``, rounded down to a multiple of 2^-64."""
    below = min(_WORD - 1, math.floor(Fraction(rate) * _WORD))
    return nodes[bits.words(len(nodes)) < np.uint64(below)]


def few_neighbours(adjacency: sp.csr_array, most: int | None, bits: Bits) -> sp.csr_array:
    """The adjacency with at most ``most`` entries a row, drawn without replacement; all of them if it is None."""
    if most is None:
        return adjacency
    if most < 0:
        raise InvalidParameter("most", "few_neighbours", "None or an integer of at least 0", most)
    counts = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(adjacency.shape[0]), counts)
    order = np.lexsort((bits.words(len(rows)), rows))
    place = np.arange(len(rows)) - np.repeat(adjacency.indptr[:-1], counts)
    kept = np.sort(order[place < most])
    pointers = np.concatenate([[0], np.cumsum(np.minimum(counts, most))])
    return sp.csr_array((adjacency.data[kept], adjacency.indices[kept], pointers), shape=adjacency.shape)
