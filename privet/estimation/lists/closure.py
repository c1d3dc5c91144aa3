"""The probability that a reported edge is true, from randomised neighbour lists.

Every bit was flipped with the same known probability q, so among n pairs that look alike q of the non-edges were
reported, and the number T of edges among them can be counted without seeing one:

    E[ayes] = k (T (1 - q) + (n - T) q),        k reports a pair.

The log-odds that a pair is an edge are those of its kind, log(rho / (1 - rho)) with rho = T / n, plus
(2 ayes - k) epsilon. A pair's kind may be computed from all reports but its own: here degrees and the number of common
neighbours. All of this is post-processing. Pairs that nobody named are left out: at the epsilons where a graph
can be learnt from at all, one of them is an edge with probability q rho at most.
If not all lists arrived, n counts the pairs that somebody was asked about and k the reports of them that came.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.estimation.lists.pairs import ReportedPairs, Symmetrise, log_odds, noisy_graph

__all__ = [
    "ReportedPairs",
    "Symmetrise",
    "closure_log_odds",
    "common_neighbours",
    "estimated_degrees",
    "noisy_graph",
]

Steps: TypeAlias = tuple[float | NDArray[np.float64], float | NDArray[np.float64]]

_BLOCK = 1 << 24  # entries of the squared graph held at once
_MOST_COMMON = 4  # common neighbours from here on are one kind
_QUARTERS = 4  # groups of degrees
_SMOOTHING = 5.0  # edges


def estimated_degrees(
    pairs: ReportedPairs, lengths: NDArray[np.float64] | None = None, variance: float = 0.0
) -> tuple[NDArray[np.float64], Steps]:
    """Estimate each node's degree, and the amount that one aye of a pair adds to the degrees of its two ends.

    Ayes count the edges of a list without bias, with variance q (1 - q) / (1 - 2 q)^2 a bit. Where devices sent the
    ``lengths`` of their lists, unbiased with ``variance``, both are weighed by their precision; a one-sided list leaves
    out the neighbours of smaller id, who are counted from theirs. The sum is shrunk towards the average degree by the
    share of its variance over the nodes that noise explains. If only some lists arrived, the amount that one aye adds
    differs from pair to pair.

    Args:
        pairs: The reported pairs.
        lengths: The reported lengths of all lists, if devices sent them.
        variance: The variance of a reported length.
    """
    if pairs.answered is not None:
        if lengths is not None:
            raise InvalidReports("Lengths help only if every list arrived. Estimate degrees without them.")
        return _degrees_from_some(pairs, pairs.answered)
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


def _degrees_from_some(
    pairs: ReportedPairs, answered: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Estimate degrees from the pairs that were asked about, scaled to all; the average where there is no such pair."""
    others, heard = pairs.num_nodes - 1, int(answered.sum())
    if pairs.asked == 1:
        due = np.cumsum(answered) - answered + answered * (others - np.arange(pairs.num_nodes))
        doubt = due.astype(np.float64)
    else:
        due = np.where(answered, others, heard)
        doubt = np.where(answered, others - (heard - 1) / 2, heard)  # two reports of a pair halve its variance
    scale = others / np.maximum(due, 1)
    votes = sum(np.bincount(end, pairs.votes, pairs.num_nodes) for end in (pairs.sources, pairs.targets))
    mean = others * pairs.num_edges / pairs.num_pairs
    found = np.where(due > 0, pairs.count_edges(np.asarray(votes), due) * scale, mean)
    noise = float(np.mean(scale**2 * doubt)) * pairs.flip * (1 - pairs.flip) / (1 - 2 * pairs.flip) ** 2
    spread = float(np.mean((found - mean) ** 2))
    kept = max(0.0, 1 - noise / spread) if spread else 0.0
    first, second = (kept * scale[end] / (pairs.asks * (1 - 2 * pairs.flip)) for end in (pairs.sources, pairs.targets))
    return np.maximum(mean + kept * (found - mean), mean / 10), (first, second)


def closure_log_odds(
    pairs: ReportedPairs, degrees: NDArray[np.float64] | None = None, steps: Steps = (0.0, 0.0)
) -> NDArray[np.float64]:
    """Compute the prior log-odds log(rho / (1 - rho)) of each pair, from all reports but its own.

    rho = T / n is counted among the n pairs of the same kind: equally many common neighbours in the graph of unanimous
    pairs and, if ``degrees`` are given, both ends in the same quarters of them. A kind by degrees is smoothed towards
    the density of its common neighbours alone.

    Args:
        pairs: The reported pairs.
        degrees: Each node's estimated degree; None to leave degrees aside.
        steps: The amounts by which one aye of a pair raises its ends' degrees, which are taken off again.
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
        return log_odds(density[common])
    ends = (pairs.sources, pairs.targets)
    kinds = _kind(common, *(groups[end] for end in ends))
    without = (degrees[end] - step * pairs.ayes for end, step in zip(ends, steps, strict=True))
    own = _kind(common, *(np.searchsorted(borders, each, side="right") for each in without))
    # Unreported pairs are counted as they are; a reported one moves to where it would be without its own reports.
    moved = sizes.ravel() + np.bincount(own, minlength=sizes.size) - np.bincount(kinds, minlength=sizes.size)
    return log_odds(_density(pairs, own, moved, np.repeat(density, _QUARTERS**2))[own])


def common_neighbours(pairs: ReportedPairs, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the common neighbours c of each reported pair (4 or more are 4), and *all* pairs by c and groups.

    Pairs that nobody was asked about are left out of both. The squared graph is made in blocks of rows, so that memory
    stays bounded.

    Args:
        pairs: The reported pairs.
        groups: Each node's group from 0 to 3; the second count is indexed by c and the lower and higher group.
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
        above[above] = pairs.was_asked(rows[above], squared.indices[above])
        shared = np.minimum(squared.data[above], _MOST_COMMON).astype(np.int64)
        kinds = _kind(shared, groups[rows[above]], groups[squared.indices[above]])
        sizes += np.bincount(kinds, minlength=sizes.size).reshape(shape)
    between = pairs.pairs_between(groups, _QUARTERS)
    everyone = np.triu(2 * between, 1) + np.diag(np.diag(between))
    sizes[0] = everyone - sizes[1:].sum(axis=0)
    return common, sizes


def _density(
    pairs: ReportedPairs, kinds: NDArray[np.int64], sizes: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Estimate rho = (T + s) / (n + s / expected) of each kind, with s pseudo-edges at the expected density."""
    votes = np.bincount(kinds, pairs.votes, len(sizes)).astype(np.float64)
    edges = np.maximum(pairs.count_edges(votes, sizes), 0.0)
    return np.asarray((edges + _SMOOTHING) / (np.maximum(sizes, 1.0) + _SMOOTHING / expected))


def _kind(common: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    low, high = np.minimum(left, right), np.maximum(left, right)
    return np.asarray((common * _QUARTERS + low) * _QUARTERS + high)
