"""Three plugins that state a guarantee and break it: what they say about themselves is right, what they do is not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privet.data import Graph, Population
from privet.mechanisms import Bits, MultiBit, RandomizedResponse, Reports
from privet.systems import Collected, Fitted, LocalSystem

__all__ = ["OneClassInTheClear", "RawFeatures", "Truthful"]


@dataclass(frozen=True, kw_only=True)
class Truthful(RandomizedResponse):
    """Return the truth, and state the probabilities of randomised response."""

    name = "truthful"

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """Draw nothing."""
        return Reports(1, np.asarray(values)[:, None].astype(self.symbol_dtype))


@dataclass(frozen=True, kw_only=True)
class OneClassInTheClear(RandomizedResponse):
    """Randomise every class but one."""

    name = "one-class-in-the-clear"

    def perturb(self, values: Any, bits: Bits) -> Reports:
        """Draw as stated, except for people of class 2."""
        labels, drawn = np.asarray(values)[:, None], super().perturb(values, bits).symbols
        return Reports(1, np.where(labels == 2, labels, drawn).astype(self.symbol_dtype))


@dataclass(frozen=True, kw_only=True)
class RawFeatures(LocalSystem):
    """Ask with a sound mechanism, and hand the raw features to the server beside the answers."""

    name = "raw-features"

    def feature_mechanism(self, population: Population) -> MultiBit:
        """Return the randomiser of every device."""
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def collect(self, graph: Graph, bits: Bits | None = None, **options: Any) -> Collected:
        """Collect as every system does, and put the features where the server finds them."""
        collected = super().collect(graph, bits, **options)
        hidden = {"adjacency": graph.features}
        object.__setattr__(collected.public, "_cache", hidden)
        return replace(collected)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Predict the same for everybody: the leak has happened already."""
        same = np.full((collected.num_nodes, collected.schema.classes), 1 / collected.schema.classes, dtype=np.float32)
        return self.fitted(collected, same)
