"""Randomised neighbour lists (Solitude): every bit of a list is flipped with a small probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Distribution, Mechanism, check_count
from privet.mechanisms.core.extremes import random_lists
from privet.mechanisms.core.reports import NeighbourReports
from privet.mechanisms.core.shapes import ListShape
from privet.mechanisms.core.tally import Channel, Tally
from privet.mechanisms.primitives.bits import Bits
from privet.mechanisms.primitives.odds import Odds, odds
from privet.mechanisms.primitives.sparse_bits import bernoulli_positions
from privet.privacy import Guarantee
from privet.privacy.guarantee import check_epsilon

__all__ = ["AdjacencyResponse"]


@dataclass(frozen=True, kw_only=True)
class AdjacencyResponse(Mechanism):
    """Flip each bit of a user's neighbour list with probability 1 / (1 + e^epsilon).

    Each user reports a bit about every other node, or with ``one_sided`` only about nodes of larger id, so that each
    pair is reported once. The cost is O(edges + flips): the gaps between flips are drawn, not the bits.

    Formal guarantee: epsilon-edge-LDP for one bit of one list. In an undirected graph both endpoints report an edge,
    so a relationship costs 2 epsilon unless ``one_sided``; k bits of a list cost k epsilon.
    """

    name = "adjacency-response"
    words = "each entry of the list of contacts is turned into its opposite with some probability"
    implied = ("num_nodes",)
    personal = True
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 1.0, "num_nodes": 6}
    epsilon: float
    num_nodes: int
    one_sided: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "num_nodes", check_count(self.num_nodes, "num_nodes", 2, (1 << 31) - 1))
        if not isinstance(self.one_sided, bool):
            raise InvalidParameter("one_sided", "True or False", self.one_sided)
        _ = self.odds

    @cached_property
    def odds(self) -> Odds:
        """The weights of the true bit and of its opposite."""
        return odds(Fraction(self.epsilon))

    @property
    def flip(self) -> float:
        """q, the probability that a bit is flipped."""
        return self.odds.low / self.odds.total

    def expected_entries(self, num_bits: int, num_ones: int) -> float:
        """Return the expected number of reported neighbours."""
        return num_ones * (1 - self.flip) + (num_bits - num_ones) * self.flip

    def perturb(
        self, values: Any, bits: Bits, *, users: NDArray[np.int64] | None = None, max_entries: int = 1 << 29
    ) -> NeighbourReports:
        """Rows of a 0/1 adjacency matrix, one for each of ``users`` (default: all nodes), to reported lists.

        More than ``max_entries`` expected flips in all are refused before anything is allocated. The decision uses
        public numbers only: a refusal that depended on somebody's degree would betray it.
        """
        users = None if users is None else self._users(users)
        starts = self._starts(np.arange(self.num_nodes) if users is None else users)
        self.check_size(max_entries, int(starts[-1]))
        rows, columns, ids = self._entries(values, users)
        # The lists are laid end to end as one stream of bits; what is reported is the true ones XOR the flips.
        true = starts[rows] + self._rank(ids[rows], columns)
        flips = bernoulli_positions(int(starts[-1]), self.odds.low, self.odds.total, bits)
        reported = np.setxor1d(true, flips, assume_unique=True)
        row = np.searchsorted(starts, reported, side="right") - 1
        neighbours = self._unrank(ids[row], reported - starts[row])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(ids)))])
        return NeighbourReports(self.num_nodes, indptr, neighbours.astype(np.int32), users)

    @property
    def shape(self) -> ListShape:
        """A list of other nodes."""
        return ListShape(self.num_nodes)

    def possible(self, reports: NeighbourReports) -> NDArray[np.bool_]:
        """Tell which rows list only nodes that are asked about."""
        fine = np.ones(len(reports), dtype=np.bool_)
        if self.one_sided:
            ids = np.arange(len(reports)) if reports.users is None else reports.users
            row = np.repeat(np.arange(len(reports)), np.diff(reports.indptr))
            fine[row[reports.indices < ids[row]]] = False
        return fine

    def sends(self) -> str:
        """Tell whom the list is about, and how often an entry is wrong."""
        about = "people of larger id" if self.one_sided else "all other people"
        return f"a list about {about}, each entry wrong with {self.flip:.2%} probability"

    def estimate(self, reports: NeighbourReports) -> AffineFeatures:
        """(bit - q) / (1 - 2q), unbiased for every bit that was asked; an N x N matrix in sparse form."""
        gap = 1 - 2 * self.flip
        ones = np.ones(self.num_nodes)
        return AffineFeatures(self.validate(reports).to_sparse(), ones / gap, -self.flip / gap * ones)

    def strongest(self, directions: Any, reports: NeighbourReports) -> NeighbourReports:
        """Everybody of a direction above 0, as far as a person is asked about them."""
        ids = np.arange(len(reports)) if reports.users is None else reports.users
        wanted = sp.csr_array(directions).tocoo()
        rows, columns = (axis.astype(np.int64) for axis in wanted.coords)
        asked = (columns > ids[rows]) if self.one_sided else (columns != ids[rows])
        kept = asked & (wanted.data > 0)
        order = np.lexsort((columns[kept], rows[kept]))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(ids)))])
        return NeighbourReports(self.num_nodes, indptr, columns[kept][order].astype(np.int32), reports.users)

    def uniform(self, reports: NeighbourReports, bits: Bits) -> NeighbourReports:
        """A uniform list of the same length: half of all people, a uniform list of any length, would be no control."""
        ids = np.arange(len(reports)) if reports.users is None else reports.users
        return random_lists(reports, ids + 1 if self.one_sided else 0 * ids, bits)

    def influence(self) -> float:
        """One entry named or not, 1 / (1 - 2q); each liar has one such entry about everybody."""
        return 1 / (1 - 2 * self.flip)

    def guarantee(self) -> Guarantee:
        """epsilon for one bit of one list."""
        return Guarantee.of_list_bit(self.epsilon)

    def tallies(self, reports: NeighbourReports) -> tuple[Tally, ...]:
        """One column for each node that lists are about; a bit is 1 with a probability between q and 1 - q."""
        ids = np.arange(len(self.validate(reports))) if reports.users is None else reports.users
        ones = np.bincount(reports.indices, minlength=self.num_nodes)
        own = np.bincount(ids, minlength=self.num_nodes)
        asked = np.concatenate([[0], np.cumsum(own)[:-1]]) if self.one_sided else len(ids) - own
        return (Tally(Channel.response(1 - self.flip, self.flip, 2), np.stack([asked - ones, ones], axis=1)),)

    def log_peaks(self, reports: NeighbourReports) -> NDArray[np.float64]:
        """(bits) log (1 - q): the list may be the truth."""
        return np.asarray(self._bits(reports) * math.log1p(-self.flip))

    def p_values(self, reports: NeighbourReports, most: int | None = None) -> NDArray[np.float64]:
        """A list shorter than noise alone makes it; with ``most``, also one longer than its longest list and noise."""
        bits, sizes = self._bits(self.validate(reports)), np.diff(reports.indptr)
        short = np.where(bits > 0, bdtr(sizes.astype(np.float64), bits, self.flip), 1.0)
        if most is None:
            return np.asarray(short)
        kinds, inverse = np.unique(np.stack([bits, sizes]), axis=1, return_inverse=True)
        long = self._tail(kinds[0], kinds[1], np.minimum(most, kinds[0]))[inverse.ravel()]
        return np.asarray(np.minimum(1.0, 2 * np.minimum(short, long)))

    def _tail(self, bits: NDArray[np.int64], sizes: NDArray[np.int64], ones: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probability of a list of at least some sizes from lists with a number of ones."""
        from scipy.stats import binom

        result = np.zeros(len(bits))
        for kept in range(int(ones.max(initial=0)) + 1):  # the ones that are still there
            more, others = sizes - kept, bits - ones
            noise = np.where(more > 0, bdtrc(np.clip(more - 1.0, 0.0, others), others, self.flip), 1.0)
            result += binom.pmf(kept, ones, 1 - self.flip) * noise
        return result

    def _bits(self, reports: NeighbourReports) -> NDArray[np.int64]:
        """Return the number of bits that each list stands for."""
        ids = np.arange(len(reports)) if reports.users is None else reports.users
        return np.diff(self._starts(ids))

    def log_likelihood(self, reports: NeighbourReports, values: Any) -> NDArray[np.float64]:
        """flips log q + (bits - flips) log (1 - q) of each list."""
        rows, columns, ids = self._entries(values, self.validate(reports).users)
        starts = self._starts(ids)
        row = np.repeat(np.arange(len(reports)), np.diff(reports.indptr))
        reported = starts[row] + self._rank(ids[row], reports.indices.astype(np.int64))
        flips = np.setxor1d(starts[rows] + self._rank(ids[rows], columns), reported, assume_unique=True)
        count = np.bincount(np.searchsorted(starts, flips, side="right") - 1, minlength=len(ids))
        return np.asarray(count * math.log(self.flip) + (np.diff(starts) - count) * math.log1p(-self.flip))

    def worst_values(self) -> sp.csr_array:
        """Lists of people who know nobody: all bits are alike."""
        return sp.csr_array((self.num_nodes, self.num_nodes))

    @property
    def span(self) -> float:
        """From no contact to a contact."""
        return 1.0

    def variance(self, values: Any) -> NDArray[np.float64]:
        """q (1 - q) / (1 - 2q)^2 for every bit, whatever its value: a view of one number, not an N x N matrix."""
        constant = self.flip * (1 - self.flip) / (1 - 2 * self.flip) ** 2
        return np.broadcast_to(np.float64(constant), (np.shape(values)[0], self.num_nodes))

    def exact_distribution(self, value: Any, user: int = 0) -> Distribution:
        """All 2^(N-1) lists that a node (default 0) may report, given its row of the adjacency matrix."""
        _, columns, _ = self._entries(np.atleast_2d(value), np.array([user]))
        true = set(columns.tolist())
        flip = Fraction(self.odds.low, self.odds.total)
        others = [each for each in range(self.num_nodes) if (each > user if self.one_sided else each != user)]
        result: Distribution = {}
        for size in range(len(others) + 1):
            for reported in itertools.combinations(others, size):
                flips = len(true.symmetric_difference(reported))
                chance = flip**flips * (1 - flip) ** (len(others) - flips)
                result[reported] = (chance, chance)
        return result

    @property
    def num_reports(self) -> int:
        """2^(N-1) lists."""
        return 1 << min(self.num_nodes - 1, 4096)

    def adjacent_pairs(self) -> Iterator[tuple[Any, Any]]:
        """Node 0's empty and full lists with one bit changed; bits are treated alike, so a few stand for all."""
        for base in (0.0, 1.0):
            for bit in range(1, min(self.num_nodes, 6)):
                row = np.full(self.num_nodes, base)
                row[0] = 0.0
                other = row.copy()
                other[bit] = 1.0 - base
                yield row, other
                yield other, row

    def inputs(self) -> Iterator[Any]:
        """Lists of the first, a middle and the last node: empty, full, one entry, random ones."""
        generator = np.random.default_rng(0)
        for user in sorted({0, self.num_nodes // 2, self.num_nodes - 1}):
            lists = [np.zeros(self.num_nodes), np.ones(self.num_nodes), *np.eye(self.num_nodes)[:8]]
            for each in [*lists, *(generator.random((6, self.num_nodes)) < 0.5).astype(np.float64)]:
                each[user] = 0.0
                yield each, user

    def report_key(self, reports: NeighbourReports, row: int) -> Hashable:
        """The reported neighbours."""
        return tuple(reports.indices[reports.indptr[row] : reports.indptr[row + 1]].tolist())

    def _entries(
        self, values: Any, users: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The true ones that are reported on, as row, column and the id of each row."""
        matrix = sp.csr_array(values)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # the caller's matrix stays as it is
            matrix.sum_duplicates()
        ids = np.arange(self.num_nodes) if users is None else users
        if matrix.shape != (len(ids), self.num_nodes):
            expected = f"{len(ids)} rows of {self.num_nodes} bits"
            raise InvalidData("adjacency given to AdjacencyResponse", expected, " x ".join(map(str, matrix.shape)))
        rows = np.repeat(np.arange(len(ids)), np.diff(matrix.indptr))[matrix.data != 0]
        columns = matrix.indices[matrix.data != 0].astype(np.int64)
        if not np.isin(matrix.data, (0, 1)).all() or (columns == ids[rows]).any():
            raise InvalidData("AdjacencyResponse takes an adjacency matrix of 0 and 1, with 0 on the diagonal.")
        asked = columns > ids[rows] if self.one_sided else np.ones(len(rows), dtype=bool)
        return rows[asked], columns[asked], ids

    def _users(self, users: Any) -> NDArray[np.int64]:
        ids = np.asarray(users)
        integers = ids.ndim == 1 and (np.issubdtype(ids.dtype, np.integer) or not ids.size)
        if not integers or (ids.size and not 0 <= ids.min() <= ids.max() < self.num_nodes):
            raise InvalidParameter(f"users must be a vector of node ids below {self.num_nodes}.")
        return ids.astype(np.int64)

    def _starts(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        lengths = self.num_nodes - 1 - (ids if self.one_sided else 0 * ids)
        return np.concatenate([[0], np.cumsum(lengths)])

    def _rank(self, user: NDArray[np.int64], neighbour: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of a neighbour in a user's list, which leaves the user out."""
        return neighbour - user - 1 if self.one_sided else neighbour - (neighbour > user)

    def _unrank(self, user: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.int64]:
        return rank + user + 1 if self.one_sided else rank + (rank >= user)

    def check_size(self, max_entries: int, num_bits: int | None = None) -> None:
        """Refuse more than ``max_entries`` expected flips, by public numbers only."""
        everybody = self.num_nodes * (self.num_nodes - 1) // (2 if self.one_sided else 1)
        num_bits = everybody if num_bits is None else num_bits
        expected = num_bits * self.flip
        if expected <= max_entries:
            return
        share = max_entries / num_bits
        feasible = math.log(1 / share - 1) if 0 < share < 0.5 else 0.0
        allowed = f"at least {feasible:.2f} for {self.num_nodes} nodes and at most {max_entries:,} flipped bits"
        found = f"{self.epsilon:g}, which flips about {expected:,.0f}"
        raise InvalidParameter("epsilon", allowed, found)
