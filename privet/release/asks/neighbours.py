"""The question "your list": who a person is linked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.data.population import Population
from privet.errors import InvalidData
from privet.mechanisms import Mechanism
from privet.privacy import Unit
from privet.release.asks._base import Ask
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

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand ids of other people."""
        listed = () if private.neighbours is None else private.neighbours.indices
        if np.any(np.equal(listed, private.users[0])):
            raise InvalidData("answers' neighbours", f"other people's ids below {population.num_nodes}", "your own")
