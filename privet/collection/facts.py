"""What can be said of a model trained from a study: who answered, how good it is, whether the reports helped."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.estimation.labels import corrected_accuracy
from privet.systems import Collected, Fitted

__all__ = ["response_facts", "validation_accuracy", "validation_facts"]


def response_facts(collected: Collected, topology: Graph) -> dict[str, float]:
    """Who answered, whose features come from neighbours, and about whom nothing is known."""
    completed = collected.completed(topology.adjacency)
    answered = int(collected.answered().sum())
    return {
        "nodes": collected.num_nodes,
        "respondents": answered,
        "response_rate": answered / collected.num_nodes,
        "features_from_neighbours": completed.borrowed,
        "features_unknown": completed.unknown,
        "training_nodes": int(collected.train.sum()),
        "validation_nodes": int(collected.validation.sum()),
    }


def validation_accuracy(collected: Collected, fitted: Fitted, nodes: NDArray[np.bool_] | None = None) -> float:
    """Accuracy on held-out nodes, all of them or some."""
    chosen = collected.validation if nodes is None else nodes
    agreement = float((fitted.predict() == collected.seen_labels())[chosen].mean())
    return corrected_accuracy(agreement, *_chances(collected))


def validation_facts(collected: Collected, fitted: Fitted, control: Fitted) -> dict[str, float]:
    """Validation accuracy of the model and of the control, and their difference with its 95 % margin.

    Agreement with private reports is turned into accuracy on true classes, E[agreement] = q + (p - q) accuracy.
    """
    seen, held = collected.seen_labels(), collected.validation
    keep, flip = _chances(collected)
    hits, by_chance = (model.predict() == seen for model in (fitted, control))
    answered = collected.answered()
    differences = (hits[held].astype(np.float64) - by_chance[held]) / (keep - flip)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else math.inf
    scores = {
        "validation_accuracy": validation_accuracy(collected, fitted),
        "control_accuracy": validation_accuracy(collected, control),
    }
    for name, part in (("respondents", held & answered), ("others", held & ~answered)):
        if part.any() and not answered.all():
            scores[f"validation_accuracy_{name}"] = validation_accuracy(collected, fitted, part)
    margin = 1.96 * spread / math.sqrt(len(differences))
    return {**scores, "gain": float(differences.mean()), "gain_margin": margin if math.isfinite(margin) else 1.0}


def _chances(collected: Collected) -> tuple[float, float]:
    """With what probability a seen class is the true one, and each of the others."""
    response = collected.label_response
    return (1.0, 0.0) if response is None else (response.keep, response.flip)
