"""What can be said of a model trained from a study: who answered, how good it is, whether the reports helped."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privet.estimation.labels import corrected_accuracy
from privet.systems import Collected, Fitted

__all__ = ["response_facts", "validation_facts"]


def response_facts(collected: Collected) -> dict[str, float]:
    """Who answered, whose features come from neighbours, and about whom nothing is known."""
    completed = collected.completed()
    answered = int(collected.answered().sum())
    return {
        "nodes": collected.graph.num_nodes,
        "respondents": answered,
        "response_rate": answered / collected.graph.num_nodes,
        "features_from_neighbours": completed.borrowed,
        "features_unknown": completed.unknown,
        "training_nodes": int(collected.train.sum()),
        "validation_nodes": int(collected.validation.sum()),
    }


def validation_facts(collected: Collected, fitted: Fitted, control: Fitted) -> dict[str, float]:
    """Validation accuracy of the model and of the control, and their difference with its 95 % margin.

    Agreement with private reports is turned into accuracy on true classes, E[agreement] = q + (p - q) accuracy.
    """
    seen, held, response = collected.seen_labels(), collected.validation, collected.label_mechanism
    keep, flip = (1.0, 0.0) if response is None else (response.keep, response.flip)
    hits, by_chance = (model.predict() == seen for model in (fitted, control))
    answered = collected.answered()

    def accuracy(nodes: NDArray[np.bool_], right: NDArray[np.bool_]) -> float:
        return corrected_accuracy(float(right[nodes].mean()), keep, flip)

    differences = (hits[held].astype(np.float64) - by_chance[held]) / (keep - flip)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else math.inf
    scores = {"validation_accuracy": accuracy(held, hits), "control_accuracy": accuracy(held, by_chance)}
    for name, part in (("respondents", held & answered), ("others", held & ~answered)):
        if part.any() and not answered.all():
            scores[f"validation_accuracy_{name}"] = accuracy(part, hits)
    margin = 1.96 * spread / math.sqrt(len(differences))
    return {**scores, "gain": float(differences.mean()), "gain_margin": margin if math.isfinite(margin) else 1.0}
