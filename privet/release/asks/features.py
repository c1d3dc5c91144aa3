"""The question "your features": the whole vector, as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.data import Categories, Interval
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import Mechanism, OfferedResponse
from privet.privacy import Unit
from privet.release.asks._base import Ask
from privet.release.private import PrivateData

__all__ = ["Features"]


@dataclass(frozen=True)
class Features(Ask):
    """The feature vector itself."""

    name = "features"
    unit = Unit.FEATURES
    part = "features"
    subject = "your answers"
    budget = "epsilon_features"

    def apply(self, private: PrivateData, mechanism: Mechanism) -> Any:
        """Return the features."""
        return private.features

    def check_mechanism(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that does not randomise a whole vector."""
        super().check_mechanism(mechanism)
        if isinstance(mechanism, OfferedResponse):
            raise InvalidParameter(
                f"The question '{self.name}' needs a mechanism that randomises vectors, not {mechanism.name}."
            )

    def check(self, private: PrivateData, population: Population) -> None:
        """Demand one number a feature, and a known category where categories are declared."""
        values = private.features
        if values is None or values.shape[1] != population.dimension or not np.isfinite(values).all():
            raise InvalidData(f"Your answers must be {population.dimension} numbers, one for each question.")
        for column, domain in enumerate(population.schema.features):
            top = int(population.schema.top[column])
            kind = "category" if isinstance(domain, Categories) else "whole number"
            if not isinstance(domain, Interval) and values[0, column] not in range(top + 1):
                raise InvalidData(f"Your answer to question {column + 1} must be a {kind} from 0 to {top}.")
