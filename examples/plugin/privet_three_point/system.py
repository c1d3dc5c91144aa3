"""Nearest centre: the class whose training nodes' neighbourhoods look most alike, from averaged reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet.data import Population
from privet.systems import Collected, Fitted, LocalSystem
from privet_three_point.mechanism import ThreePoint

__all__ = ["NearestCentre"]


@dataclass(frozen=True, kw_only=True)
class NearestCentre(LocalSystem):
    """Compare each node's neighbourhood with the mean neighbourhood of every class.

    Attributes:
        sharpness: The weight of squared distances in the class probabilities.
    """

    name = "nearest-centre"
    sharpness: float = 1.0

    def feature_mechanism(self, population: Population) -> ThreePoint:
        """Return the randomiser of every device."""
        return ThreePoint.declare(population, epsilon=self.epsilon_features)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Average reports over neighbours, then compare them with the classes' centres."""
        graph, labels = self.topology(collected), collected.seen_labels()
        degrees = np.maximum(graph.degrees, 1)[:, None]
        smoothed = graph.adjacency @ collected.estimate().dense() / degrees
        classes = range(collected.schema.classes)
        centres = np.stack([smoothed[collected.train & (labels == c)].mean(axis=0) for c in classes])
        distances = self.sharpness * ((smoothed[:, None, :] - centres) ** 2).sum(axis=2)
        chances = np.exp(distances.min(axis=1, keepdims=True) - distances)
        chances = (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)
        return Fitted(self.name, collected.guarantee(), chances, settings=self.settings())
