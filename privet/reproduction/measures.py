"""Measures of published tables: a figure of the system itself and of whatever stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation.scoring import SPLIT, with_split
from privet.systems.controls import Control, simulate

__all__ = ["ACCURACY", "OWN", "Column", "Measure", "Measurement", "Score", "accuracy", "classification", "of_kinds"]

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


def _column(control: Control, score: Score) -> Column:
    def measure(
        system: Any, graph: Graph, seed: int, label_rate: float | None = None, split: Sequence[float] | None = None
    ) -> float:
        papers = (0.8, 0.0) if system.model == "central" else SPLIT  # the central paper's, and everybody else's
        train, validation = papers if split is None else split
        view = with_split(system, graph, seed, label_rate, (train, validation))
        if view.labels is None or view.split is None:
            raise InvalidData("graph to measure on", "one with labels", "one without")
        fitted = control.fit(system, view, seed)
        test = view.split.test
        return score(fitted.predict()[test], view.labels[test], fitted.probabilities.shape[1])

    return Column(control.key, control.short, control.title, measure, control.subject)


ACCURACY = classification("nodes", "accuracy (%)", accuracy)
