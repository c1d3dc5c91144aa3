"""Private data of some people, on their devices: what questions are asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData

__all__ = ["PrivateData"]


@dataclass(frozen=True, eq=False, repr=False)
class PrivateData:
    """Raw values of some people. A real device holds one row; a simulation plays all devices at once.

    Attributes:
        users: The people's ids.
        features: One row of features for each of them, dense or CSR, or None.
        labels: The class of each of them, or None; a negative class means that the person has none.
        neighbours: One row of the 0/1 adjacency matrix for each of them, over all N people, or None.
    """

    users: NDArray[np.int64]
    features: Any = None
    labels: NDArray[np.int64] | None = None
    neighbours: sp.csr_array | None = None

    @classmethod
    def of(cls, graph: Graph, users: NDArray[np.int64] | None = None) -> PrivateData:
        """Read the private fields of some nodes of a graph, all by default."""
        everybody = np.arange(graph.num_nodes, dtype=np.int64)
        whole = cls(everybody, graph.features, graph.labels, graph.adjacency)
        return whole if users is None else whole.take(np.asarray(users, dtype=np.int64))

    @classmethod
    def one(cls, user: int, num_nodes: int, features: Any, label: int | None, neighbours: Any) -> PrivateData:
        """Hold one person's own answers.

        Args:
            user: The person's id.
            num_nodes: The number of people, N.
            features: The values of the features, in the order of the schema; None where they are not asked for.
            label: The person's class, or None.
            neighbours: The ids of the person's neighbours.
        """
        listed = np.asarray(neighbours)
        if listed.ndim != 1 or (listed.size and not np.issubdtype(listed.dtype, np.integer)):
            raise InvalidData("neighbours", "a list of ids", f"{listed.ndim}-d {listed.dtype}")
        columns = np.unique(listed.astype(np.int64))
        ones = np.ones(len(columns), dtype=np.float32)
        return cls(
            np.array([user], dtype=np.int64),
            None if features is None else np.array([features], dtype=np.float64),
            None if label is None else np.array([label], dtype=np.int64),
            sp.csr_array((ones, columns, [0, len(columns)]), shape=(1, num_nodes)),
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> PrivateData:
        """Keep some rows, in the order given."""
        parts = (None if part is None else part[rows] for part in (self.features, self.labels, self.neighbours))
        return PrivateData(self.users[rows], *parts)

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        """Name the number of people only, so that a private value never reaches a log or a traceback."""
        return f"PrivateData({len(self)} people)"
