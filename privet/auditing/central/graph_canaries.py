"""Canaries in a graph: nodes with edges that were fixed in advance, each of which takes part by a coin of its own.

Splitting real nodes into members and others is no audit: neighbours influence one another's sub-graphs, so that the
two groups differ in more than membership, and a guess about one node depends on the coins of others. A canary is
therefore a node that is added to the public graph with a fixed number of listeners, whether it takes part or not,
and no sub-graph ever contains two of them.

The gradients are the worst that clipping allows. Canary i has a direction e_i of its own in d >= m dimensions. A
sub-graph around one of its listeners has the gradient e_i / 2 if it picked the canary and -e_i / 2 if not; the
canary's own sub-graph has e_i / 2. So one run shows every canary's shift, k or 1/2, in a coordinate of its own.
Coins come from the sampler and noise from the sums that train.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binom

from privet.auditing.central.audited_claim import ProcessGame, log_of_sum
from privet.errors import InvalidData, InvalidParameter
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import Bits, GridSum

__all__ = ["CanaryGraph", "ManyCanaries", "Sightings"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_UNIT = 2.0**-38  # of the grid of the sums: that of training with gradients of norm 1/2
_SPARE = 256  # coordinates without a canary, which betray the scale of SML noise


@dataclass(frozen=True, eq=False)
class CanaryGraph:
    """A public graph with canaries, none of which is ever in a sub-graph together with another one.

    Attributes:
        adjacency: Row i lists the nodes that i listens to.
        canaries: The canaries' node numbers.
    """

    adjacency: sp.csr_array
    canaries: NDArray[np.int64]

    def __post_init__(self) -> None:
        together = np.diff(sp.csr_array(self.listening.T).indptr)
        if together.max(initial=0) > 1:
            listener = int(np.argmax(together))
            raise InvalidData(
                f"Two canaries would be in one sub-graph: node {listener} listens to both. Give each its own listeners."
            )
        if together[self.canaries].any():
            listener = int(self.canaries[np.argmax(together[self.canaries])])
            raise InvalidData(
                f"Canary {listener} listens to another canary. Let canaries be neighbours of public nodes only."
            )

    @cached_property
    def listening(self) -> sp.csr_array:
        """Row i marks the nodes that listen to canary i."""
        return sp.csr_array(self.adjacency[:, self.canaries].T)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The number of each node among the canaries, -1 for other nodes."""
        found = np.full(self.adjacency.shape[0], -1)
        found[self.canaries] = np.arange(self.canaries.size)
        return found

    @classmethod
    def planted(cls, count: int, degree: int, around: sp.csr_array | None = None) -> CanaryGraph:
        """Add canaries to a graph, each with ``degree`` listeners that no other canary has.

        Args:
            count: The number of canaries.
            degree: The number of nodes that listen to each.
            around: The graph; its first nodes become the listeners (default: one of listeners alone).
        """
        nodes = count * degree if around is None else around.shape[0]
        if count < 1 or degree < 0 or count * degree > nodes:
            expected = f"at least 1 and with {degree} listeners each among {nodes} nodes"
            raise InvalidParameter("count", expected, count)
        listeners = np.arange(count * degree)
        canaries = nodes + np.arange(count)
        entries = sp.coo_array(
            (np.ones(listeners.size, dtype=np.float32), (listeners, np.repeat(canaries, degree))),
            shape=(nodes + count, nodes + count),
        ).tocsr()
        if around is not None:
            wide = sp.csr_array(around, copy=True)
            wide.resize(entries.shape)
            entries = sp.csr_array(wide + entries)
        return cls(entries, canaries)


@dataclass(frozen=True, eq=False)
class Sightings:
    """The coins of all canaries, and the log likelihood ratio with which each run speaks for each of them.

    Attributes:
        coins: True for a canary that took part.
        scores: Large for those that seem to have taken part.
    """

    coins: Mask
    scores: Array

    @classmethod
    def pooled(cls, runs: Sequence[Sightings]) -> Sightings:
        """Return the canaries of several runs as those of one mechanism that performs them all."""
        return cls(np.concatenate([run.coins for run in runs]), np.concatenate([run.scores for run in runs]))


@dataclass(frozen=True)
class ManyCanaries(ProcessGame):
    """A training run with many canaries, seen by somebody who knows every coin but those about canaries.

    Args:
        canaries: The number of canaries, m (default 1000).
    """

    canaries: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_at_least("canaries", 1)

    @property
    def dimension(self) -> int:
        """The dimension of the gradients."""
        return self.canaries + (_SPARE if self.noise == "sml" else 0)

    def play(self, bits: Bits, graph: CanaryGraph | None = None) -> Sightings:
        """Toss each canary's coin, train once, and score the canaries by what the noisy sums show.

        Args:
            bits: The source of coins and noise.
            graph: The graph (default: the canaries and their listeners alone).
        """
        graph = CanaryGraph.planted(self.canaries, self.out_degree) if graph is None else graph
        coins = (bits.words(self.canaries) >> np.uint64(63)).astype(np.bool_)
        members = np.ones(graph.adjacency.shape[0], dtype=np.bool_)
        members[graph.canaries] = coins
        sampler = SubgraphSampler(graph.adjacency, members, self.process.rate, self.multiplier)
        scores = np.zeros(self.canaries)
        for _ in range(self.process.steps):
            central, shift = self._shifts(graph, sampler, bits)
            scores += self._log_ratios(self._seen(shift, central, bits), central)
        return Sightings(coins, scores)

    def _shifts(self, graph: CanaryGraph, sampler: SubgraphSampler, bits: Bits) -> tuple[NDArray[np.int64], Array]:
        """Draw a batch: the number of each canary's listeners that are centres, and the shift that it causes."""
        batch = sampler.draw(bits)
        is_central = np.zeros(graph.places.size)
        is_central[batch.central] = 1.0
        listening = graph.listening @ is_central
        picked = graph.places[batch.peripheral]
        shift = np.bincount(picked[picked >= 0], minlength=self.canaries) + 0.5 * is_central[graph.canaries]
        return np.rint(listening).astype(np.int64), shift

    def _seen(self, shift: Array, central: NDArray[np.int64], bits: Bits) -> Array:
        """Return the noisy sum less what the listeners would give without canaries, which is no secret here."""
        total = np.zeros(self.dimension)
        total[: self.canaries] = shift - 0.5 * central
        noisy = GridSum((total / _UNIT).astype(np.int64), _UNIT).with_noise(self.sigma, bits, noise=self.noise)
        noisy[: self.canaries] += 0.5 * central
        return noisy

    def _log_ratios(self, seen: Array, central: NDArray[np.int64]) -> Array:
        """log sum_k Pr[shift = k | C] g(x - k) / g(x), with the noise's scale taken from the spare coordinates."""
        variance = float((seen[self.canaries :] ** 2).mean()) if self.noise == "sml" else self.sigma**2
        x, rate = seen[: self.canaries], self.process.rate
        counts = np.arange(self.out_degree + 1)
        table = (1 - rate) * binom.pmf(counts[None, :], counts[:, None], self.pick)  # by C, then by k
        shifts = [(0.5, np.full(x.size, rate)), *((float(k), table[central, k]) for k in counts)]
        return log_of_sum((weight, (2 * x * k - k**2) / (2 * variance)) for k, weight in shifts)
