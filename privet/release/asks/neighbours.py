"""The question "your list": who a person is linked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism
from privet.mechanisms.core.shapes import ListShape
from privet.privacy import Unit
from privet.release.asks._base import Ask
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Neighbours"]


@dataclass(frozen=True)
class Neighbours(Ask):
    """The neighbour list itself."""

    name = "neighbours"
    unit = Unit.NEIGHBOUR_BIT
    part = "neighbour list"
    subject = "your neighbours"
    budget = "epsilon_edges"

    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        """Return the rows of the adjacency matrix."""
        return private.neighbours

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array | None:
        """Name everybody who is publicly of the other class, and everybody whose class is not public."""
        groups = [np.flatnonzero((pretence.labels == each) | (pretence.labels < 0)) for each in range(pretence.classes)]
        named = [groups[each] for each in pretence.wanted]  # a view for each liar, who are few
        starts = np.concatenate([[0], np.cumsum([len(each) for each in named])]).astype(np.int64)
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *named])
        shape = (len(pretence.users), len(pretence.labels))
        return sp.csr_array((np.ones(len(columns), dtype=np.float32), columns, starts), shape=shape)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand ids of other people."""
        listed = np.zeros(0, dtype=np.int64) if private.neighbours is None else private.neighbours.indices
        if (listed == private.users[0]).any():
            raise InvalidData("Your list of neighbours names yourself. List other people only.")
        if ((listed < 0) | (listed >= population.num_nodes)).any():
            raise InvalidData(f"Your list of neighbours must have ids from 0 to {population.num_nodes - 1} only.")

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not report lists."""
        super().check_mechanism(mechanism)
        if not isinstance(mechanism.shape, ListShape):
            raise InvalidParameter(
                f"The question '{self.name}' needs a mechanism that randomises lists, not {mechanism.name}."
            )
