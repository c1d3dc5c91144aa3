"""The question "your class"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from privet.data.population import Population
from privet.errors import InvalidData
from privet.mechanisms import Mechanism
from privet.privacy import Unit
from privet.release.asks._base import Ask
from privet.release.pretence import Pretence
from privet.release.private import PrivateData

__all__ = ["Label"]


@dataclass(frozen=True)
class Label(Ask):
    """The person's class."""

    name = "label"
    unit = Unit.LABEL
    part = "label"
    subject = "your class"
    budget = "epsilon_labels"

    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        """Return the class."""
        return private.labels

    def speaks_for(self, pretence: Pretence, mechanism: Mechanism) -> sp.csr_array:
        """Tell the other class."""
        return pretence.votes(pretence.wanted)

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand a class of the schema."""
        if private.labels is None or private.labels[0] not in range(population.classes):
            raise InvalidData(f"Your class must be a number from 0 to {population.classes - 1}.")
