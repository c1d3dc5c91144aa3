"""Measures of published tables: a figure of the system itself and of whatever stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation.cache import Store
from privet.evaluation.keys import figure_key, split_digest
from privet.evaluation.scoring import SPLIT, scored, with_split
from privet.systems.controls import SAME_SETTINGS, Control, simulate

__all__ = [
    "ACCURACY",
    "BY_SETTING",
    "OWN",
    "Column",
    "Measure",
    "Measurement",
    "Score",
    "accuracy",
    "classification",
    "of_kinds",
]

Measurement = dict[str, float]
Score = Callable[[NDArray[np.int64], NDArray[np.int64], int], float]
OWN = "private"


@dataclass(frozen=True)
class Column:
    """One figure of each cell.

    Attributes:
        key: Its name in files; that of the system itself is ``private``.
        short: Its name in a narrow column.
        title: Its name in words.
        measure: Called with a system, a graph, a seed and the cell's protocol; returns the figure.
        subject: The system whose settings decide the figure, so that equal ones are measured once.
    """

    key: str
    short: str
    title: str
    measure: Callable[..., float]
    subject: Callable[[Any], Any] = lambda system: system

    def figure(
        self, system: Any, graph: Graph, seed: int, store: Store, *, task: str, data: str, protocol: Mapping[str, Any]
    ) -> float:
        """Return the figure of a system, from the store if it has it.

        Args:
            system: The system.
            graph: The graph to measure on.
            seed: The seed.
            store: The finished figures.
            task: The name of the measure.
            data: The digest of the graph.
            protocol: What the evaluation does differently.
        """
        subject = self.subject(system)
        how = {"model": system.model, **protocol}
        key = figure_key(self.key, subject, seed, data=data, split=how, task=task)
        return float(store.compute(key, lambda: {"test": self.measure(subject, graph, seed, **protocol)})["test"])


@dataclass(frozen=True, kw_only=True)
class ControlColumn(Column):
    """The accuracy of a control, which is the same figure as beside the system in :func:`~privet.evaluate`.

    Attributes:
        control: The control.
    """

    control: Control

    def figure(
        self, system: Any, graph: Graph, seed: int, store: Store, *, task: str, data: str, protocol: Mapping[str, Any]
    ) -> float:
        """Do the same as any column, with the key and all scores of an evaluation."""
        view = split_as_published(system, graph, seed, **protocol)
        key = figure_key(self.key, self.subject(system), seed, data=data, split=split_digest(view.split))
        found = store.compute(key, lambda: scored(lambda: self.control.trained(system, view, seed), view).to_dict())
        return float(found["test"])


@dataclass(frozen=True)
class Measure:
    """A way to measure the cells of a table.

    Attributes:
        name: Its name in files.
        metric: The metric and its unit.
        columns: Returns a system's columns, the system's own first.
        factor: The factor at which figures are shown: 100 for shares.
        quick: The protocol of a run that only shows that the program works.
    """

    name: str
    metric: str
    columns: Callable[[Any], tuple[Column, ...]]
    factor: float = 100.0
    quick: Mapping[str, Any] = field(default_factory=dict)


def classification(name: str, metric: str, score: Score, *more: Control) -> Measure:
    """Make a measure of predictions on test nodes, for a system, its own controls and more of them."""

    def columns(system: Any) -> tuple[Column, ...]:
        controls = (Control(OWN, "", "", simulate), *system.controls(), *more)
        return tuple(_column(control, score) for control in controls)

    return Measure(name, metric, columns)


def of_kinds(
    measure: Callable[..., Measurement], own: str, titles: Mapping[str, tuple[str, str]]
) -> tuple[Column, ...]:
    """Make columns of a function that measures several kinds of figure.

    Args:
        measure: Called with a kind, a system, a graph, a seed and a cell's protocol.
        own: The kind of the system itself.
        titles: The short and the long name of every other kind.
    """

    def column(kind: str, short: str = "", title: str = "") -> Column:
        def figure(system: Any, graph: Graph, seed: int, **protocol: Any) -> float:
            return measure(kind, system, graph, seed, **protocol)["test"]

        return Column(kind, short, title, figure)

    return (column(own), *(column(kind, *names) for kind, names in titles.items()))


def accuracy(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> float:
    """Return the share of right predictions."""
    return float((predicted == labels).mean())


def split_as_published(
    system: Any, graph: Graph, seed: int, label_rate: float | None = None, split: Sequence[float] | None = None
) -> Graph:
    """Return the graph with a split: the central paper's 80 % for training for central systems, else everybody's.

    Args:
        system: The system that is measured.
        graph: The graph.
        seed: The seed of the split.
        label_rate: The share of all nodes whose labels are used for training (default: all training nodes).
        split: The shares of training and validation nodes, in place of the papers'.
    """
    papers = (0.8, 0.0) if system.model == "central" else SPLIT
    train, validation = papers if split is None else split
    return with_split(system, graph, seed, label_rate, (train, validation))


def _column(control: Control, score: Score) -> Column:
    def measure(subject: Any, graph: Graph, seed: int, **protocol: Any) -> float:
        view = split_as_published(subject, graph, seed, **protocol)
        if view.labels is None or view.split is None:
            raise InvalidData("graph to measure on", "one with labels", "one without")
        fitted = control.fit(subject, view, seed)
        test = view.split.test
        return score(fitted.predict()[test], view.labels[test], fitted.probabilities.shape[1])

    named = (control.key, control.short, control.title, measure, control.subject)
    return ControlColumn(*named, control=control) if score is accuracy else Column(*named)


ACCURACY = classification("nodes", "accuracy (%)", accuracy)
BY_SETTING = classification("nodes", "accuracy (%)", accuracy, SAME_SETTINGS)
"""Accuracy, for curves over a setting, of which raw data get every value too."""
