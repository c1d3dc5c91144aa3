"""Reports of the same pair of nodes side by side, and the probability that each reported pair is an edge.

A list that was not sent is not a list of zeros: only pairs that somebody was asked about are counted, with the reports
that arrived. One report may have come of a pair that both ends report, and none of others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.mechanisms import AdjacencyResponse, NeighbourReports

__all__ = ["ReportedPairs", "Symmetrise", "log_odds", "noisy_graph"]

Symmetrise: TypeAlias = Literal["directed", "intersection", "posterior", "union"]


@dataclass(frozen=True, eq=False)
class ReportedPairs:
    """The pairs i < j that at least one endpoint named.

    A pair with one silent end has one report only; where a pair is reported once, by its smaller end, nobody was asked
    about the pairs of silent nodes.

    Attributes:
        num_nodes: The number of nodes.
        sources: Each pair's i.
        targets: Each pair's j.
        ayes: The number of reports of each pair that said yes.
        asked: The number of ends that report a pair, 1 or 2.
        flip: The probability q that a report is flipped.
        answered: The nodes whose lists arrived; None if all did.
    """

    num_nodes: int
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    ayes: NDArray[np.int64]
    asked: int
    flip: float
    answered: NDArray[np.bool_] | None = None

    @classmethod
    def from_reports(
        cls, reports: NeighbourReports, mechanism: AdjacencyResponse, *, some: bool = False
    ) -> ReportedPairs:
        """Put both endpoints' reports of a pair side by side.

        Args:
            reports: The neighbour lists.
            mechanism: Their mechanism.
            some: True if not all nodes need to have reported.
        """
        entries = _square(mechanism.validate(reports), some)
        counts = sp.csr_array(sp.triu(entries, format="csr") + sp.triu(entries.T, format="csr")).tocoo()
        sources, targets = (axis.astype(np.int64) for axis in counts.coords)
        asked = 1 if mechanism.one_sided else 2
        ayes = counts.data.astype(np.int64)
        return cls(mechanism.num_nodes, sources, targets, ayes, asked, mechanism.flip, _answered(reports))

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def num_pairs(self) -> int:
        """The number n of pairs of nodes that somebody was asked about."""
        if self.answered is None:
            return self.num_nodes * (self.num_nodes - 1) // 2
        return int(self.pairs_between(np.zeros(self.num_nodes, dtype=np.int64), 1)[0, 0])

    @cached_property
    def asks(self) -> NDArray[np.int64]:
        """The number k of reports of each pair that arrived."""
        if self.answered is None or self.asked == 1:
            return np.full(len(self), self.asked)
        return np.asarray(self.answered[self.sources].astype(np.int64) + self.answered[self.targets])

    @cached_property
    def votes(self) -> NDArray[np.float64]:
        """The ayes of each pair as they would be if all its reports had arrived and agreed with those that did."""
        return np.asarray(self.ayes * (self.asked / self.asks))

    @property
    def evidence(self) -> NDArray[np.float64]:
        """The change (2 ayes - k) epsilon that the reports make to the log-odds of each pair."""
        return np.asarray((2 * self.ayes - self.asks) * (math.log1p(-self.flip) - math.log(self.flip)))

    @cached_property
    def num_edges(self) -> float:
        """The estimated number of true edges among the pairs that were asked about, at least 1."""
        return max(1.0, float(self.count_edges(self.votes.sum(), self.num_pairs)))

    @property
    def expected_noise(self) -> float:
        """The expected number of these pairs that are no edges: (n - T) (1 - (1 - q)^k), k averaged over all pairs."""
        silent = 0 if self.answered is None else int(np.count_nonzero(~self.answered))
        once = silent * (self.num_nodes - silent) / max(self.num_pairs, 1) if self.asked == 2 else 0.0
        named = (1 - once) * (1 - (1 - self.flip) ** self.asked) + once * self.flip
        return max(0.0, self.num_pairs - self.num_edges) * named

    @property
    def unanimous(self) -> NDArray[np.bool_]:
        """True for each pair of which all reports that arrived said yes."""
        return np.asarray(self.ayes == self.asks)

    def was_asked(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for each pair about which a report arrived.

        Args:
            sources: Each pair's smaller node.
            targets: Each pair's larger node.
        """
        if self.answered is None:
            return np.ones(len(sources), dtype=np.bool_)
        first = self.answered[sources]
        return np.asarray(first if self.asked == 1 else first | self.answered[targets])

    def pairs_between(self, groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
        """Count the pairs between groups of nodes that somebody was asked about.

        Entry (a, b) has half of the pairs between a and b, entry (a, a) those within a: the sum is that of all pairs.

        Args:
            groups: Each node's group, -1 for none.
            count: The number of groups.
        """
        inside = groups >= 0
        if self.answered is not None and self.asked == 1:
            member = (groups[:, None] == np.arange(count)).astype(np.float64)
            later = member.sum(axis=0) - np.cumsum(member, axis=0)
            forward = member[self.answered].T @ later[self.answered]
            return np.asarray((forward + forward.T) / 2)
        silent = np.zeros(len(groups), dtype=np.bool_) if self.answered is None else ~self.answered
        everybody, unheard = (
            np.bincount(groups[chosen], minlength=count).astype(np.float64) for chosen in (inside, inside & silent)
        )
        return np.asarray(_meetings(everybody) - _meetings(unheard))

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
            prior_log_odds = log_odds(np.asarray(self.num_edges / self.num_pairs))
        return np.asarray(1 / (1 + np.exp(-(prior_log_odds + self.evidence))))


def noisy_graph(pairs: ReportedPairs, reports: NeighbourReports, rule: Symmetrise) -> sp.csr_array:
    """Make a graph of the reports.

    Args:
        pairs: The reported pairs.
        reports: The neighbour lists.
        rule: ``"directed"`` keeps each list as it was sent (row i holds the nodes that i named), ``"union"`` and
            ``"intersection"`` join pairs that one or that all endpoints named, and ``"posterior"`` weighs each named
            pair by its probability.
    """
    match rule:
        case "directed":
            return _square(reports, pairs.answered is not None)
        case "union":
            return pairs.adjacency(np.ones(len(pairs)))
        case "intersection":
            return pairs.adjacency(pairs.unanimous.astype(np.float64))
        case "posterior":
            return pairs.adjacency(pairs.posterior())


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute log(p / (1 - p)), kept finite.

    Args:
        probability: p.
    """
    inside = np.clip(probability, 1e-12, 0.999)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _meetings(members: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count the pairs between and within groups of so many members, laid out as in ``pairs_between``."""
    return np.asarray((np.outer(members, members) - np.diag(members)) / 2)


def _answered(reports: NeighbourReports) -> NDArray[np.bool_] | None:
    if reports.users is None or len(reports) == reports.num_nodes:
        return None
    answered = np.zeros(reports.num_nodes, dtype=np.bool_)
    answered[reports.users] = True
    return answered


def _square(reports: NeighbourReports, some: bool) -> sp.csr_array:
    """Make the matrix whose row i is node i's list, an empty one if ``some`` have sent theirs and i has not."""
    if reports.users is None:
        return reports.to_sparse()
    order = np.argsort(reports.users)
    ordered = reports.users[order]
    if not some and not np.array_equal(ordered, np.arange(reports.num_nodes)):
        raise InvalidReports(
            f"{len(reports)} neighbour lists are not one list from each of {reports.num_nodes} nodes. Set some=True."
        )
    if (ordered[1:] == ordered[:-1]).any():
        raise InvalidReports("neighbour reports", "one list a node", f"two from node {_first_repeated(ordered)}")
    lists = sp.csr_array(reports.to_sparse()[order])
    lengths = np.zeros(reports.num_nodes, dtype=np.int64)
    lengths[ordered] = np.diff(lists.indptr)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((lists.data, lists.indices, starts), shape=(reports.num_nodes, reports.num_nodes))


def _first_repeated(ordered: NDArray[np.int64]) -> int:
    return int(ordered[1:][ordered[1:] == ordered[:-1]][0])
