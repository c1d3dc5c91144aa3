"""Coalitions of liars: some of the people, or accounts that belong to nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph, Split
from privet.errors import InvalidParameter
from privet.release import LocalRelease, PrivateData
from privet.systems.collected import public_view

__all__ = ["Choice", "Coalition", "fake_accounts", "recruit"]

Choice: TypeAlias = Literal["random", "hubs"]


@dataclass(frozen=True, eq=False)
class Coalition:
    """Liars who pool what they know: public data, and their own raw data. They see nobody else's.

    Attributes:
        users: Their ids, ascending.
        private: Their own features, classes and friends.
        public: Schema, split, and labels and topology as far as the release leaves them public.
    """

    users: NDArray[np.int64]
    private: PrivateData
    public: Graph

    @classmethod
    def of(cls, graph: Graph, release: LocalRelease, users: NDArray[np.integer[Any]]) -> Coalition:
        """Let some people of a graph lie."""
        chosen = np.unique(np.asarray(users, dtype=np.int64))
        return cls(chosen, PrivateData.of(graph, chosen), public_view(graph, release))

    @property
    def labels(self) -> NDArray[np.int64]:
        """The public class of everybody, -1 where it is not public."""
        known = self.public.labels
        return np.full(self.public.num_nodes, -1, dtype=np.int64) if known is None else known

    @property
    def own(self) -> NDArray[np.int64]:
        """The class of each liar, which they know; -1 for accounts that belong to nobody."""
        known = self.private.labels
        return np.full(len(self.users), -1, dtype=np.int64) if known is None else known


def recruit(
    graph: Graph, share: float, seed: int, choice: Choice = "random", first: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.int64]:
    """Choose a share of all people as liars.

    Args:
        graph: The people.
        share: The share of them who lie, from 0 to 1.
        seed: The seed of a random choice.
        choice: "random" people, or the "hubs", who have most friends.
        first: People who lie before others do, such as the friends of a victim (default: nobody).
    """
    if not 0 <= share <= 1:
        raise InvalidParameter("share", "from 0 to 1", share)
    if choice not in ("random", "hubs"):
        raise InvalidParameter("choice", "random or hubs", choice)
    order = np.random.default_rng([seed, 11]).permutation(graph.num_nodes)
    if choice == "hubs":
        order = order[np.argsort(-np.diff(graph.adjacency.indptr)[order], kind="stable")]
    if first is not None:
        order = np.concatenate([first, order[~np.isin(order, first)]])
    return np.sort(order[: round(share * graph.num_nodes)])


def fake_accounts(graph: Graph, count: int) -> Graph:
    """Put accounts that belong to nobody before all people: they have no friends, no class, and features of zero.

    Their ids are the smallest, which is the worst case: where one end reports a pair, it is the smaller id.

    Args:
        graph: The people, with a split.
        count: The number of accounts.
    """
    old = graph.adjacency
    starts = np.concatenate([np.zeros(count, dtype=old.indptr.dtype), old.indptr])
    size = graph.num_nodes + count
    adjacency = sp.csr_array((old.data, old.indices + count, starts), shape=(size, size))
    features = sp.csr_array(graph.features)
    blank = sp.csr_array((count, features.shape[1]), dtype=features.dtype)
    nobody = np.zeros(count, dtype=np.bool_)
    split = graph.split
    return graph.replace(
        adjacency=adjacency,
        features=sp.csr_array(sp.vstack([blank, features], format="csr")),
        labels=None if graph.labels is None else np.concatenate([np.full(count, -1), graph.labels]),
        split=None
        if split is None
        else Split(*(np.concatenate([nobody, part]) for part in (split.train, split.validation, split.test))),
    )
