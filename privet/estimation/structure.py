"""Which reported edges are true: posterior probabilities from randomised neighbour lists.

Every bit was flipped with the same known probability q, so among n pairs that look alike q of the non-edges were
reported, and the number T of edges among them can be counted without seeing one:

    E[ayes] = k (T (1 - q) + (n - T) q),        k reports a pair.

The log-odds that a pair is an edge are those of its kind, log(rho / (1 - rho)) with rho = T / n, plus
(2 ayes - k) epsilon. What a kind is may be computed from all reports but the pair's own: here degrees and the number of
common neighbours. All of this is post-processing. Pairs that nobody named are left out: at the epsilons where a graph
can be learnt from at all, one of them is an edge with probability q rho at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.mechanisms import AdjacencyResponse, NeighbourReports

__all__ = [
    "ReportedPairs",
    "Symmetrise",
    "closure_log_odds",
    "common_neighbours",
    "estimated_degrees",
    "noisy_graph",
]

Symmetrise: TypeAlias = Literal["directed", "intersection", "posterior", "union"]

_BLOCK = 1 << 24  # entries of the squared graph held at once
_MOST_COMMON = 4  # common neighbours from here on are one kind
_QUARTERS = 4  # groups of degrees
_SMOOTHING = 5.0  # edges


@dataclass(frozen=True, eq=False)
class ReportedPairs:
    """The pairs i < j that at least one endpoint named: ``ayes`` of ``asked`` reports said yes."""

    num_nodes: int
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    ayes: NDArray[np.int64]
    asked: int
    flip: float

    @classmethod
    def from_reports(cls, reports: NeighbourReports, mechanism: AdjacencyResponse) -> ReportedPairs:
        """Both endpoints' reports of a pair side by side; every node must have reported."""
        entries = _square(mechanism.validate(reports))
        counts = sp.csr_array(sp.triu(entries, format="csr") + sp.triu(entries.T, format="csr")).tocoo()
        sources, targets = (axis.astype(np.int64) for axis in counts.coords)
        asked = 1 if mechanism.one_sided else 2
        return cls(mechanism.num_nodes, sources, targets, counts.data.astype(np.int64), asked, mechanism.flip)

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def num_pairs(self) -> int:
        """All pairs of nodes, n."""
        return self.num_nodes * (self.num_nodes - 1) // 2

    @property
    def evidence(self) -> NDArray[np.float64]:
        """(2 ayes - k) epsilon: by how much the reports change the log-odds of each pair."""
        return np.asarray((2 * self.ayes - self.asked) * (math.log1p(-self.flip) - math.log(self.flip)))

    @cached_property
    def num_edges(self) -> float:
        """The estimated number of true edges, at least 1."""
        return max(1.0, float(self.count_edges(self.ayes.sum(), self.num_pairs)))

    @property
    def expected_noise(self) -> float:
        """How many of these pairs are no edges, on average: (n - T) (1 - (1 - q)^k)."""
        missed = (1 - self.flip) ** self.asked
        return max(0.0, self.num_pairs - self.num_edges) * (1 - missed)

    @property
    def unanimous(self) -> NDArray[np.bool_]:
        """Where all that were asked said yes."""
        return np.asarray(self.ayes == self.asked)

    def count_edges(self, ayes: NDArray[Any], pairs: NDArray[Any] | float) -> NDArray[np.float64]:
        """T = (ayes / k - n q) / (1 - 2 q), the unbiased number of edges among n pairs."""
        return np.asarray((ayes / self.asked - pairs * self.flip) / (1 - 2 * self.flip))

    def adjacency(self, values: NDArray[np.float64]) -> sp.csr_array:
        """The symmetric matrix with a value for each pair; zeros are not stored."""
        shape = (self.num_nodes, self.num_nodes)
        half = sp.coo_array((values.astype(np.float32), (self.sources, self.targets)), shape=shape).tocsr()
        half.eliminate_zeros()
        return sp.csr_array(half + half.T)

    def posterior(self, prior_log_odds: NDArray[np.float64] | float | None = None) -> NDArray[np.float64]:
        """The probability that each pair is an edge; without a prior each is taken to be like all others."""
        if prior_log_odds is None:
            prior_log_odds = _logit(np.asarray(self.num_edges / self.num_pairs))
        return np.asarray(1 / (1 + np.exp(-(prior_log_odds + self.evidence))))


def noisy_graph(pairs: ReportedPairs, reports: NeighbourReports, rule: Symmetrise) -> sp.csr_array:
    """The graph that the reports are taken for.

    ``directed`` keeps each list as it was sent (row i is what i named), ``union`` and ``intersection`` join pairs that
    one or that all endpoints named, and ``posterior`` weighs each named pair by its probability.
    """
    match rule:
        case "directed":
            return _square(reports)
        case "union":
            return pairs.adjacency(np.ones(len(pairs)))
        case "intersection":
            return pairs.adjacency(pairs.unanimous.astype(np.float64))
        case "posterior":
            return pairs.adjacency(pairs.posterior())


def estimated_degrees(
    pairs: ReportedPairs, lengths: NDArray[np.float64] | None = None, variance: float = 0.0
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Each node's degree, and what one aye of a pair adds to the degrees of its first and of its second end.

    Ayes count the edges of a list without bias, with variance q (1 - q) / (1 - 2 q)^2 a bit. Where devices sent the
    ``lengths`` of their lists, unbiased with ``variance``, both are weighed by their precision; a one-sided list leaves
    out the neighbours of smaller id, who are counted from theirs. The sum is shrunk towards the average degree by the
    share of its variance over the nodes that noise explains.
    """
    place, others = np.arange(pairs.num_nodes), pairs.num_nodes - 1
    first, second = (np.bincount(end, pairs.ayes, pairs.num_nodes) for end in (pairs.sources, pairs.targets))
    one_sided = pairs.asked == 1
    listed = pairs.count_edges(first, others - place) if one_sided else pairs.count_edges(first + second, others)
    rest = pairs.count_edges(second, place) if one_sided else np.zeros(pairs.num_nodes)
    # Half of the pairs are in a one-sided list on average, and half of the variance is in a mean of two.
    noise = others / 2 * pairs.flip * (1 - pairs.flip) / (1 - 2 * pairs.flip) ** 2
    share = 1.0
    if lengths is not None:
        share = variance / (variance + noise)
        listed = share * listed + (1 - share) * lengths
    found = listed + rest
    mean = 2 * pairs.num_edges / pairs.num_nodes
    spread = float(np.mean((found - mean) ** 2))
    kept = max(0.0, 1 - (share + one_sided) * noise / spread) if spread else 0.0
    step = kept / (pairs.asked * (1 - 2 * pairs.flip))
    return np.maximum(mean + kept * (found - mean), mean / 10), (share * step, step if one_sided else share * step)


def closure_log_odds(
    pairs: ReportedPairs, degrees: NDArray[np.float64] | None = None, steps: tuple[float, float] = (0.0, 0.0)
) -> NDArray[np.float64]:
    """The prior log-odds log(rho / (1 - rho)) of each pair, from all reports but its own.

    rho = T / n is counted among the n pairs of the same kind: equally many common neighbours in the graph of unanimous
    pairs and, if ``degrees`` are given, both ends in the same quarters of them, after the pair's own ayes times
    ``steps`` are taken off. A kind by degrees is smoothed towards the density of its common neighbours alone.
    """
    groups = np.zeros(pairs.num_nodes, dtype=np.int64)
    borders = np.zeros(0)
    if degrees is not None:
        borders = np.quantile(degrees, np.arange(1, _QUARTERS) / _QUARTERS)
        groups = np.searchsorted(borders, degrees, side="right")
    common, sizes = common_neighbours(pairs, groups)
    overall = np.full(_MOST_COMMON + 1, pairs.num_edges / pairs.num_pairs)
    density = _density(pairs, common, sizes.sum(axis=(1, 2)), overall)
    if degrees is None:
        return _logit(density[common])
    ends = (pairs.sources, pairs.targets)
    kinds = _kind(common, *(groups[end] for end in ends))
    without = (degrees[end] - step * pairs.ayes for end, step in zip(ends, steps, strict=True))
    own = _kind(common, *(np.searchsorted(borders, each, side="right") for each in without))
    # Unreported pairs are counted as they are; a reported one moves to where it would be without its own reports.
    moved = sizes.ravel() + np.bincount(own, minlength=sizes.size) - np.bincount(kinds, minlength=sizes.size)
    return _logit(_density(pairs, own, moved, np.repeat(density, _QUARTERS**2))[own])


def common_neighbours(pairs: ReportedPairs, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many neighbours c (4 or more are 4) each reported pair has in common, and how many pairs there are *in all*.

    The latter is indexed by c and the lower and higher of both ends' ``groups`` (from 0 to 3). The squared graph is
    made in blocks of rows, so that memory stays bounded.
    """
    graph = pairs.adjacency(pairs.unanimous.astype(np.float64))
    work = np.cumsum(graph @ np.diff(graph.indptr))
    cuts = np.searchsorted(work, np.arange(_BLOCK, max(work[-1], 1), _BLOCK))
    starts = np.unique(np.concatenate([[0], cuts, [pairs.num_nodes]]))
    first = np.searchsorted(pairs.sources, starts)  # pairs are in row order
    common = np.zeros(len(pairs), dtype=np.int64)
    shape = (_MOST_COMMON + 1, _QUARTERS, _QUARTERS)
    sizes = np.zeros(shape)
    for block, (start, stop) in enumerate(pairwise(starts)):
        squared = sp.csr_array(graph[start:stop] @ graph)
        chosen = slice(first[block], first[block + 1])
        if chosen.start < chosen.stop:  # without places SciPy answers with a matrix
            found = np.asarray(squared[pairs.sources[chosen] - start, pairs.targets[chosen]])
            common[chosen] = np.minimum(found, _MOST_COMMON)
        rows = np.repeat(np.arange(start, stop), np.diff(squared.indptr))
        above = squared.indices > rows
        shared = np.minimum(squared.data[above], _MOST_COMMON).astype(np.int64)
        kinds = _kind(shared, groups[rows[above]], groups[squared.indices[above]])
        sizes += np.bincount(kinds, minlength=sizes.size).reshape(shape)
    members = np.bincount(groups, minlength=_QUARTERS).astype(np.float64)
    everyone = np.triu(np.outer(members, members), 1) + np.diag(members * (members - 1) / 2)
    sizes[0] = everyone - sizes[1:].sum(axis=0)
    return common, sizes


def _density(
    pairs: ReportedPairs, kinds: NDArray[np.int64], sizes: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """rho = (T + s) / (n + s / expected) of each kind: s pseudo-edges at the expected density."""
    ayes = np.bincount(kinds, pairs.ayes, len(sizes)).astype(np.float64)
    edges = np.maximum(pairs.count_edges(ayes, sizes), 0.0)
    return np.asarray((edges + _SMOOTHING) / (np.maximum(sizes, 1.0) + _SMOOTHING / expected))


def _kind(common: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    low, high = np.minimum(left, right), np.maximum(left, right)
    return np.asarray((common * _QUARTERS + low) * _QUARTERS + high)


def _square(reports: NeighbourReports) -> sp.csr_array:
    """Row i is node i's list."""
    if reports.users is None:
        return reports.to_sparse()
    order = np.argsort(reports.users)
    if not np.array_equal(reports.users[order], np.arange(reports.num_nodes)):
        raise InvalidReports("neighbour reports", f"one list from each of {reports.num_nodes} nodes", "others")
    return sp.csr_array(reports.to_sparse()[order])


def _logit(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(probability, 1e-12, 0.999)
    return np.asarray(np.log(inside) - np.log1p(-inside))
