"""Heterogeneous Poisson sampling of one-hop sub-graphs (HeterPoisson, Algorithms 2 and 3), without a loop over nodes.

Row i of the adjacency lists the nodes that i listens to. The out-degree of a node is the number of nodes that listen
to it, that is, of sub-graphs that it can be in without being their centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms import Bits
from privet.mechanisms.primitives.coins import Coins

__all__ = ["Role", "SubgraphBatch", "SubgraphSampler", "few_neighbours", "poisson_sample"]

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Role(IntEnum):
    """The part that a node plays in a sub-graph.

    Attributes:
        EMPTY: Nobody.
        CENTRE: The node that the sub-graph is around.
        HEARD: A neighbour with an edge to the centre.
        ASKED: A neighbour without an edge to the centre: a link to predict.
        STRANGER: A node that is no neighbour, and has no edge either.
    """

    EMPTY = 0
    CENTRE = 1
    HEARD = 2
    ASKED = 3
    STRANGER = 4


@dataclass(frozen=True, eq=False)
class SubgraphBatch:
    """A batch of sub-graphs.

    Attributes:
        central: The centre of each sub-graph b.
        owner: The sub-graph of each peripheral node k, in ascending order.
        peripheral: The peripheral nodes.
        roles: The role of each peripheral node, ascending within a sub-graph; None if the centres hear all of them.
    """

    central: Ids
    owner: Ids
    peripheral: Ids
    roles: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.central)

    def matrix(self, own: NDArray[np.floating], others: NDArray[np.floating], num_nodes: int) -> sp.csr_array:
        """Make the [B, N] matrix that aggregates nodes' rows into sub-graphs' rows.

        Args:
            own: The weight of each sub-graph's centre.
            others: The weight of each peripheral node.
            num_nodes: The number of nodes, N.
        """
        rows = np.concatenate([np.arange(len(self)), self.owner])
        columns = np.concatenate([self.central, self.peripheral])
        values = np.concatenate([own, others]).astype(np.float32)
        return sp.coo_array((values, (rows, columns)), shape=(len(self), num_nodes)).tocsr()


@dataclass(frozen=True, eq=False)
class SubgraphSampler:
    """A source of batches of sub-graphs around nodes that take part.

    A member is picked by a centre that listens to it with probability min(1, ``multiplier`` / its out-degree), and is
    left out of all sub-graphs but its own in a step in which it is a centre itself. Nodes that are neither members nor
    unprotected, and their edges, are never read.

    Attributes:
        adjacency: The whole, fixed graph, whose degrees are public.
        members: The nodes that take part and are protected.
        rate: The probability that a member is a centre.
        multiplier: The expected number of other nodes' sub-graphs that a member is in, at most.
        unprotected_nodes: Nodes about which nothing is promised. They are never centres, and always picked.
        keep_central: True leaves centres in the sub-graphs of others, which needs another accountant.
    """

    adjacency: sp.csr_array
    members: Mask
    rate: float
    multiplier: float = 1.0
    unprotected_nodes: Mask | None = None
    keep_central: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise InvalidParameter("rate", "a probability above 0", self.rate)
        if not self.multiplier >= 0:  # NaN too
            raise InvalidParameter("multiplier", "a number of at least 0", self.multiplier)
        if self.unprotected_nodes is not None and (self.unprotected_nodes & self.members).any():
            both = int(np.argmax(self.unprotected_nodes & self.members))
            raise InvalidParameter(f"Node {both} is in both members and unprotected_nodes of SubgraphSampler.")

    @cached_property
    def _candidates(self) -> Ids:
        return np.flatnonzero(self.members)

    @cached_property
    def out_degrees(self) -> Ids:
        """The number of nodes of the whole graph that listen to each node."""
        return np.bincount(self.adjacency.indices, minlength=self.adjacency.shape[0])

    @cached_property
    def _picks(self) -> Coins:
        """The coins that pick a member, by its out-degree: fractions, and therefore exact."""
        degrees = range(1, int(self.out_degrees.max(initial=0)) + 1)
        always = math.isinf(self.multiplier)
        share = Fraction(1) if always else Fraction(self.multiplier)
        chances = [Fraction(1) if always else min(Fraction(1), share / degree) for degree in degrees]
        return Coins.of([Fraction(0), *chances])  # nobody listens to a node of out-degree 0

    def draw(self, bits: Bits) -> SubgraphBatch:
        """Draw one batch; the cost is that of the members and of the neighbourhoods of the centres.

        Args:
            bits: The source of the coins.
        """
        central = self.centres(bits)
        degrees, listened = self.out_degrees, self.adjacency.indices
        if self._certain:
            return self.form(central, self._all_or_none)
        return self.form(central, lambda entries: self._picks.toss(degrees[listened[entries]], bits, entries))

    def centres(self, bits: Bits) -> Ids:
        """Draw the centres alone."""
        return poisson_sample(self._candidates, self.rate, bits)

    def always_the_same(self) -> SubgraphBatch | None:
        """Return the sub-graph of every member, in order, if neither coins nor other centres change it; else None."""
        if not self._certain or (self.multiplier and not self.keep_central):
            return None
        return self.form(self._candidates, self._all_or_none)

    @property
    def _certain(self) -> bool:
        """True if members are picked always or never, so that no coin is needed."""
        return self.multiplier == 0 or math.isinf(self.multiplier)

    def _all_or_none(self, entries: Ids) -> Mask:
        return np.full(len(entries), self.multiplier > 0)

    def form(self, central: Ids, picked: Callable[[Ids], Mask]) -> SubgraphBatch:
        """Form the batch around given centres: Algorithm 2 from line 5 on, all that happens to the coins.

        Args:
            central: The centres.
            picked: Called with positions of entries of the adjacency; returns True for those whose coin picks them.
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
        if self.unprotected_nodes is not None:
            kept |= self.unprotected_nodes[neighbour]
        return SubgraphBatch(central, owner[kept], neighbour[kept])


def poisson_sample(nodes: Ids, rate: float, bits: Bits) -> Ids:
    """Keep each node by an independent coin.

    Args:
        rate: The probability of keeping one.
        bits: The source of the coins.
    """
    return nodes[Coins.of([Fraction(rate)]).toss(np.zeros(len(nodes), dtype=np.int8), bits, nodes)]


def few_neighbours(adjacency: sp.csr_array, most: int | None, bits: Bits) -> sp.csr_array:
    """Keep at most ``most`` entries of each row, drawn without replacement.

    Args:
        most: The largest number of entries in a row; None for all.
        bits: The source of the draws.
    """
    if most is None:
        return adjacency
    if most < 0:
        raise InvalidParameter("most", "None or an integer of at least 0", most)
    counts = np.diff(adjacency.indptr)
    rows = np.repeat(np.arange(adjacency.shape[0]), counts)
    order = np.lexsort((bits.words(len(rows)), rows))
    place = np.arange(len(rows)) - np.repeat(adjacency.indptr[:-1], counts)
    kept = np.sort(order[place < most])
    pointers = np.concatenate([[0], np.cumsum(np.minimum(counts, most))])
    return sp.csr_array((adjacency.data[kept], adjacency.indices[kept], pointers), shape=adjacency.shape)
