"""Structure: predict from the public graph and visible labels alone, and collect nothing.

It is what a private system must beat to be worth anybody's privacy. Private labels enter through their reports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidParameter
from privet.estimation.priors.structural_prior import calibrated, structural_prior
from privet.mechanisms import RandomizedResponse
from privet.release import Question
from privet.release.asks.label import Label
from privet.systems.base import LocalSystem
from privet.systems.collected import Collected
from privet.systems.controls import MAJORITY, Control, shuffled_reports
from privet.systems.fitted import Fitted

__all__ = ["Structure"]


@dataclass(frozen=True, kw_only=True)
class Structure(LocalSystem):
    """The strong structural prior as a system: no feature is asked for, and no label unless labels are private.

    Attributes:
        epsilon_features: Always None: no feature is asked for.
    """

    name: ClassVar[str] = "structure"
    on_cluster: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("schema", "labels", "split")
    epsilon_features: float | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon_features is not None:
            expected = "None: it asks for no features"
            raise InvalidParameter("epsilon_features", expected, self.epsilon_features)

    def questions(self, population: Population) -> tuple[Question, ...]:
        """Ask for the label where labels are private, and for nothing else."""
        if self.epsilon_labels is None:
            return ()
        return (Question(Label(), RandomizedResponse.declare(population, epsilon=self.epsilon_labels)),)

    @classmethod
    def decided_by(cls, release: Any) -> dict[str, Any]:
        """Return the release's budget of labels."""
        return {"epsilon_labels": release.question(Label.name).line().epsilon if release.asks(Label.name) else None}

    def controls(self) -> tuple[Control, ...]:
        """Compare with the most frequent class: nothing else is as modest."""
        return (replace(MAJORITY, question=None),)

    def dealt(self, collected: Collected) -> Collected:
        """Deal the reported labels to other people at random: there are no other reports."""
        return shuffled_reports(collected, self.seed, Label.name) if collected.release.asks(Label.name) else collected

    def without_privacy(self) -> Self:
        """Return the same system with public labels."""
        return type(self)(seed=self.seed)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Make the prior and take it for the prediction."""
        return self.fit_on(collected, collected.topology)

    def fit_on(self, collected: Collected, topology: Graph) -> Fitted:
        """Do the same on another graph than the public one, such as one that devices reported."""
        seen, _, held = collected.supervised("Structure")
        response = collected.label_response
        transition, classes = None if response is None else response.transition, collected.schema.classes
        prior = structural_prior(topology.adjacency, seen, classes, label_transition=transition, seed=self.seed)
        prior = calibrated(prior, seen, transition)
        score = float((prior[held].argmax(axis=1) == seen[held]).mean())
        return self.fitted(collected, np.exp(prior).astype(np.float32), validation_score=score)
