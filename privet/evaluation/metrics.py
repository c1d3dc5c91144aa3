"""Metrics of a classification: accuracy alone says nothing where most people are of one class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

__all__ = ["METRICS", "classification_metrics", "is_unbalanced", "majority_share"]

METRICS = {
    "accuracy": "accuracy (%)",
    "balanced_accuracy": "balanced accuracy (%)",
    "macro_f1": "macro F1 (%)",
    "auc": "AUC (%)",
}
"""The title of each metric."""

_UNBALANCED = 0.7


def classification_metrics(probabilities: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, float]:
    """Compute every metric of :data:`METRICS`, from 0 to 1, over the classes that occur among the labels.

    Args:
        probabilities: Class probabilities, one row a node; a row of NaN is a wrong prediction of no class.
        labels: The true classes; nodes with a negative one do not count.

    >>> rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> found = classification_metrics(rows, np.array([0, 0, 1, 1]))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'accuracy': 0.75, 'balanced_accuracy': 0.75, 'macro_f1': 0.733, 'auc': 1.0}
    """
    known = labels >= 0
    rows, truth = np.asarray(probabilities)[known], labels[known]
    made = ~np.isnan(rows).any(axis=1)
    predicted = np.where(made, np.argmax(np.nan_to_num(rows, nan=-1.0), axis=1), -1)
    classes = np.unique(truth)
    recalls, scores, areas = [], [], []
    for number in classes:
        own, said = truth == number, predicted == number
        hits = float((own & said).sum())
        recalls.append(hits / own.sum())
        scores.append(2 * hits / (own.sum() + said.sum()))
        areas.append(_area(np.nan_to_num(rows[:, number], nan=0.0), own))
    return {
        "accuracy": float((predicted == truth).mean()),
        "balanced_accuracy": float(np.mean(recalls)),
        "macro_f1": float(np.mean(scores)),
        "auc": float(np.mean(areas)),
    }


def majority_share(labels: NDArray[np.int64]) -> float:
    """Return the share of the most frequent class among the known labels."""
    known = labels[labels >= 0]
    return float(np.bincount(known).max() / len(known)) if len(known) else 0.0


def is_unbalanced(labels: NDArray[np.int64]) -> bool:
    """Tell whether one class has at least 70 % of the known labels, so that guessing it looks like knowledge."""
    return majority_share(labels) >= _UNBALANCED


def _area(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve of one class against the rest; 1/2 if there is no rest."""
    ones, others = int(positive.sum()), int((~positive).sum())
    if not ones or not others:
        return 0.5
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * others))
