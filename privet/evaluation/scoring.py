"""The evaluator: the only code that compares predictions with test labels, after training has ended.

Accuracy alone says nothing where most people are of one class, so that there are other metrics beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from privet.data import Graph, Split, label_rate, split_nodes
from privet.errors import InvalidData
from privet.evaluation.results import ClassFigures
from privet.systems import System
from privet.systems.fitted import Fitted

__all__ = [
    "METRICS",
    "SPLIT",
    "Scores",
    "class_figures",
    "classification_metrics",
    "is_unbalanced",
    "majority_share",
    "recalls",
    "scored",
    "with_split",
]

METRICS = {
    "accuracy": "accuracy (%)",
    "balanced_accuracy": "balanced accuracy (%)",
    "macro_f1": "macro F1 (%)",
    "auc": "AUC (%)",
}
"""The title of each metric."""

_UNBALANCED = 0.7

SPLIT = (0.5, 0.25)
"""The shares of training and validation nodes where a graph has no split of its own."""


@dataclass(frozen=True)
class Scores:
    """One trained model on the test nodes of one split.

    Attributes:
        test: Accuracy, from 0 to 1.
        seconds: The time that training took.
        metrics: Every metric of :data:`METRICS` by its name, from 0 to 1.
        recall: For each class the share of its test nodes that are recognised; None for a class without test nodes.
        support: For each class its number of test nodes.
        facts: What the server found out about the data on its way, by name.
    """

    test: float
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)
    recall: tuple[float | None, ...] = ()
    support: tuple[int, ...] = ()
    facts: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Read what :meth:`to_dict` made."""
        return cls(**document | {"recall": tuple(document["recall"]), "support": tuple(document["support"])})


def with_split(
    system: System, graph: Graph, seed: int, labelled: float | None = None, parts: tuple[float, float] | None = None
) -> Graph:
    """Return the graph with its own split or, if it has none, with a random one.

    Local and central systems get the same test nodes. A central system chooses nothing by validation labels, so the
    validation nodes join its training nodes unless the shares are given.

    Args:
        system: The system that is measured.
        graph: The graph, with or without a split.
        seed: The seed of a random split.
        labelled: The share of all nodes whose labels are used for training, at most that of the training nodes
            (default: all of them).
        parts: The shares of training and validation nodes (default: the graph's own split, else 50 % and 25 %).
    """
    if graph.split is not None and labelled is None and parts is None:
        return graph
    chosen = SPLIT if parts is None else parts
    split = split_nodes(graph, *chosen, seed=seed)
    if labelled is not None and labelled != chosen[0]:
        split = label_rate(split, labelled / chosen[0], seed=seed)
    if parts is None and system.model == "central":
        split = Split(split.train | split.validation, np.zeros_like(split.validation), split.test)
    return graph.replace(split=split)


def scored(train: Callable[[], Fitted], graph: Graph) -> Scores:
    """Train, then compare the predictions with the labels of the graph's test nodes."""
    if graph.split is None or graph.labels is None:
        raise InvalidData("A model is scored on a graph with labels and a split; this graph lacks one of them.")
    began = time.perf_counter()
    fitted = train()
    seconds = time.perf_counter() - began
    classes = fitted.probabilities.shape[1]
    recall, support = recalls(fitted.predict(), graph.labels, graph.split.test, classes)
    facts = {name: float(value) for name, value in fitted.facts.items() if isinstance(value, int | float)}
    test, certificate = graph.split.test, fitted.certificate
    if certificate is not None:
        found, labels = fitted.predict(), graph.labels
        numbers = certificate.numbers()
        facts |= {f"certified_accuracy_{k}": certificate.accuracy(found, labels, test, k) for k in numbers}
    metrics = classification_metrics(fitted.probabilities[test], graph.labels[test])
    return Scores(fitted.score(graph.labels, test), seconds, metrics, recall, support, facts)


def recalls(
    predicted: NDArray[np.int64], labels: NDArray[np.int64], nodes: NDArray[np.bool_], classes: int
) -> tuple[tuple[float | None, ...], tuple[int, ...]]:
    """Return each class's recall and number of nodes; nodes without a label do not count.

    >>> recalls(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([True, True, False]), 2)
    ((0.5, None), (2, 0))
    """
    nodes = nodes & (labels >= 0)
    truth, right = labels[nodes], predicted[nodes] == labels[nodes]
    support = np.bincount(truth, minlength=classes).tolist()
    hits = np.bincount(truth[right], minlength=classes).tolist()
    return tuple(hit / all_ if all_ else None for hit, all_ in zip(hits, support, strict=True)), tuple(support)


def class_figures(own: Sequence[Scores], controls: dict[str, Sequence[Scores]]) -> tuple[ClassFigures, ...]:
    """Average over the seeds, class by class; seeds whose test nodes lack a class do not count for its recall."""

    def percents(scores: Sequence[Scores], place: int) -> list[float]:
        return [100 * one.recall[place] for one in scores if one.recall[place] is not None]  # type: ignore[operator]

    def mean(values: list[float]) -> float | None:
        return float(np.mean(values)) if values else None

    rows = []
    for place in range(len(own[0].support)):
        values = percents(own, place)
        rows.append(
            ClassFigures(
                place,
                support=float(np.mean([one.support[place] for one in own])),
                recall=mean(values),
                std=float(np.std(values, ddof=1)) if len(values) > 1 else None,
                controls={key: mean(percents(scores, place)) for key, scores in controls.items()},
            )
        )
    return tuple(rows)


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
