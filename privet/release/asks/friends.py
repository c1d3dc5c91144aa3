"""The question "how many of your friends are in each group": counts over a published table of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism
from privet.privacy import Unit
from privet.release.asks._base import ATTACHED, Ask
from privet.release.asks.neighbours import Neighbours
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Friends", "check_rounds", "counts_whom", "ranks_of"]

_LARGEST = np.iinfo(np.int32).max
_ENTRIES = 1 << 20  # list entries at once


def counts_whom(own: NDArray[np.integer[Any]], ranks: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Tell which friends a person counts: those of lower rank than the person's own.

    Proof that every pair is counted by at most one end: i counts j only if r_j < r_i, and j counts i only if
    r_i < r_j; both cannot hold of one table r. So one relationship is in one count of one person at most.

    Args:
        own: The rank of the person who counts.
        ranks: The rank of the friend; both are broadcast against each other.
    """
    return np.asarray(ranks < own)


def ranks_of(
    labelled: NDArray[np.bool_],
    calibrating: NDArray[np.bool_],
    confidence: NDArray[np.floating[Any]] | None = None,
    levels: int = 4,
) -> NDArray[np.int32]:
    """Rank people so that the unlabelled count labelled friends, and calibrators those of them who do not calibrate.

    Labelled people have rank 0 and do not answer, unless they calibrate, which gives rank 1. Unlabelled people have
    rank 2. If the table also holds predicted classes of unlabelled people, those whose class is more certain have lower
    ranks among them: the less certain then count them, and learn more from it.

    Args:
        labelled: True for each person whose label is in the table.
        calibrating: True for each labelled person who answers too, so that answers of people of known class are seen.
        confidence: A public number for each person, larger if the predicted class is more certain; None if the table
            holds labels only.
        levels: The number of ranks among unlabelled people.
    """
    ranks = np.where(labelled, np.where(calibrating, 1, 0), 2).astype(np.int32)
    if confidence is not None:
        others = np.flatnonzero(~labelled)
        order = others[np.argsort(-confidence[others], kind="stable")]
        ranks[order] += (np.arange(len(order)) * levels // max(len(order), 1)).astype(np.int32)
    return ranks


@dataclass(frozen=True)
class Friends(Ask):
    """The number of friends in each published class, among the friends of lower rank.

    Each device downloads both tables whole: asking the server about one friend would tell who the friend is.

    Formal guarantee: one bit of a list changes one count by at most one, whatever the tables are, so a mechanism for
    counts that differ by one in one class protects a list bit with its epsilon. If everybody has the same tables, a
    pair is counted by at most one end (:func:`counts_whom`). A device cannot know that, and charges both ends.

    Attributes:
        table: The published class of each of the N people, -1 where none is published.
        ranks: The rank of each person; a person counts friends of lower rank, so people of rank 0 do not answer.
    """

    name = "friends"
    unit = Unit.NEIGHBOUR_BIT
    part = "friends per group"
    subject = "the number of your friends in each group"
    budget = "epsilon_edges"
    publishes_classes = True
    table: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)
    ranks: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)

    def __post_init__(self) -> None:
        lowest = {"table": -1, "ranks": 0}
        for name, low in lowest.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, name, _checked(name, value, low))
        if (
            isinstance(self.table, np.ndarray)
            and isinstance(self.ranks, np.ndarray)
            and len(self.table) != len(self.ranks)
        ):
            raise InvalidParameter("ranks", f"as long as the table, {len(self.table)}", len(self.ranks))

    def people(self) -> NDArray[np.int64] | None:
        """Return the people who count somebody: all whose rank is above 0."""
        return np.flatnonzero(self.ranks > 0) if isinstance(self.ranks, np.ndarray) else None

    def apply(self, private: PrivateData, mechanism: Mechanism) -> NDArray[np.int16]:
        """Count each person's friends of lower rank in each class, at most the mechanism's cap."""
        table, ranks = (_small(self.attachment(name)) for name in ("table", "ranks"))
        lists = private.neighbours
        if lists is None:
            raise InvalidData("The private data have no neighbour lists.")
        _check_length(table, lists.shape[1])
        classes, cap = mechanism.classes, mechanism.cap  # type: ignore[attr-defined]
        if not hasattr(lists, "indptr"):  # a simulation whose lists lie elsewhere and can only be multiplied with
            found = _by_products(lists, table, ranks, private.users, classes)
            return np.asarray(np.minimum(found, cap), dtype=np.int16)
        counted_as = np.where(table >= 0, ranks, ranks.max(initial=0))  # nobody's rank exceeds the largest
        counts = np.empty((len(private), classes), dtype=np.int16)
        starts = np.searchsorted(lists.indptr, np.arange(0, lists.nnz, _ENTRIES), side="right") - 1
        for begin, end in pairwise(np.unique([0, *starts, len(private)])):
            friends = lists.indices[lists.indptr[begin] : lists.indptr[end]]
            rows = np.repeat(np.arange(end - begin), np.diff(lists.indptr[begin : end + 1]))
            own = ranks[private.users[begin:end]]
            counted = counts_whom(own[rows], counted_as[friends])
            cells = rows[counted] * classes + table[friends[counted]]
            block = np.bincount(cells, minlength=(end - begin) * classes).reshape(-1, classes)
            counts[begin:end] = np.minimum(block, cap)
        return counts

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array:
        """Count as many friends as possible in every class but the own one.

        A server that learns from people of known class how counts go with classes may learn the opposite from them.
        """
        return -pretence.votes(pretence.own)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand ids of other people and tables over all of them."""
        Neighbours().check(private, population)
        _check_length(self.attachment("table"), population.num_nodes)
        self.attachment("ranks")

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not report one count for each class of the table."""
        super().check_mechanism(mechanism)
        classes = getattr(mechanism, "classes", None)
        if classes is None or not hasattr(mechanism, "cap"):
            raise InvalidParameter(
                f"The question '{self.name}' needs a mechanism that randomises counts, not {mechanism.name}."
            )
        if isinstance(self.table, np.ndarray) and self.table.size and self.table.max() >= classes:
            expected = f"-1 or a class below {classes} for each person"
            raise InvalidParameter("table", expected, int(self.table.max()))


def _by_products(
    lists: Any, table: NDArray[Any], ranks: NDArray[Any], users: NDArray[np.int64], classes: int
) -> NDArray[np.int64]:
    """Count friends by one product for each rank: with the classes of all people whom that rank counts."""
    counts = np.zeros((len(users), classes), dtype=np.int64)
    for rank in np.unique(ranks[users]):
        published = np.flatnonzero((table >= 0) & counts_whom(rank, ranks))
        hot = np.zeros((len(table), classes), dtype=np.float32)
        hot[published, table[published]] = 1
        own = ranks[users] == rank
        counts[own] = np.rint((lists @ hot)[own])
    return counts


def check_rounds(rounds: Sequence[Friends]) -> None:
    """Refuse rounds of the friend question in which a pair might be counted twice.

    Nobody who is published in one round may be published, or answer, in a later one. A pair counted in the earlier
    round has an end that was published there; a pair counted in the later one has no such end. So no pair is counted
    in both, and all rounds together cost a list bit, and a relationship, the epsilon of one round, even if the tables
    of a round depend on earlier answers.

    Args:
        rounds: The question of each round, with its tables, in order.
    """
    for later, ask in enumerate(rounds):
        takes_part = (ask.attachment("table") >= 0) | (ask.attachment("ranks") > 0)
        for earlier in rounds[:later]:
            _check_length(earlier.attachment("table"), len(takes_part))
            again = np.flatnonzero(takes_part & (earlier.attachment("table") >= 0))
            if len(again):
                expected = "of people who were not published in an earlier round, so that no pair is counted twice"
                raise InvalidData(f"table of round {later + 1}", expected, f"person {again[0]}, who was")


def _checked(name: str, values: Any, low: int) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidParameter(name, "a vector of integers", f"{array.ndim}-d {array.dtype}")
    if array.size and not low <= array.min() <= array.max() <= _LARGEST:
        expected = f"integers of at least {low}"
        raise InvalidParameter(name, expected, int(array.min() if array.min() < low else array.max()))
    return array.astype(np.int32)  # one type everywhere, or equal tables would have different digests


def _small(table: NDArray[Any]) -> NDArray[Any]:
    """Use the narrowest integers: looking friends up at random is faster in a table that fits the processor's cache."""
    return table.astype(np.min_scalar_type(-1 - int(table.max(initial=0))))


def _check_length(table: NDArray[Any], people: int) -> None:
    if len(table) != people:
        raise InvalidData(
            "published table of classes", f"one entry for each of {people} people", f"{len(table)} entries"
        )
