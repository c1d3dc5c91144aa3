"""A table or figure of a paper: its cells, what the paper prints in them or says of them, and how they are measured."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data import Graph, Schema
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.scoring import SPLIT, Scores, scored, with_split
from privet.systems import System
from privet.systems.controls import OWN, SAME_SETTINGS, Control
from privet.systems.fitted import Fitted

__all__ = [
    "ACCURACY",
    "BY_SETTING",
    "NOT_TO_BE_HAD",
    "Cell",
    "Measure",
    "PublishedTable",
    "accuracy",
    "classification",
    "no_edges",
    "of_kinds",
]

NOT_TO_BE_HAD = ("lastfm", "reddit")
"""Datasets of papers that cannot be had."""

Score = Callable[[NDArray[np.int64], NDArray[np.int64], int], float]


@dataclass(frozen=True)
class Measure:
    """A way to measure the cells of a table.

    Attributes:
        name: Its name in files.
        metric: The metric and its unit.
        columns: Returns a system's columns: :data:`~privet.systems.controls.OWN` first, then what stands beside it.
        score: The figure of predictions on test nodes: a function of predictions, labels and the number of classes.
            None where columns return their figure themselves, from the graph and the cell's protocol.
        factor: The factor at which figures are shown: 100 for shares.
        quick: The protocol of a run that only shows that the program works.
    """

    name: str
    metric: str
    columns: Callable[[System], tuple[Control, ...]]
    score: Score | None = None
    factor: float = 100.0
    quick: Mapping[str, Any] = field(default_factory=dict)

    def view(self, system: System, graph: Graph, seed: int, protocol: Mapping[str, Any]) -> Graph:
        """Return the graph as columns are given it: with the papers' split where predictions are scored."""
        return graph if self.score is None else split_as_published(system, graph, seed, **protocol)

    def figure(self, column: Control, system: System, view: Graph, seed: int, protocol: Mapping[str, Any]) -> Scores:
        """Measure one column of a cell.

        Args:
            system: The system of the cell.
            view: The graph as :meth:`view` returns it.
            seed: The seed of the training.
            protocol: What the cell's evaluation does differently.
        """
        if self.score is accuracy:
            return scored(lambda: column.trained(system, view, seed), view)  # as beside the system in an evaluation
        began = time.perf_counter()
        found = column.fit(column.subject(system), view, seed, **(protocol if self.score is None else {}))
        if self.score is not None and isinstance(found, Fitted):
            if view.labels is None or view.split is None:
                raise InvalidData("This table is measured on a graph with labels.")
            test = view.split.test
            found = self.score(found.predict()[test], view.labels[test], found.probabilities.shape[1])
        return Scores(float(found), time.perf_counter() - began)


def classification(name: str, metric: str, score: Score, *more: Control) -> Measure:
    """Make a measure of predictions on test nodes, for a system, its own controls and more of them."""
    return Measure(name, metric, lambda system: (OWN, *system.controls(), *more), score)


def of_kinds(measure: Callable[..., float], titles: Mapping[str, tuple[str, str]]) -> tuple[Control, ...]:
    """Make columns of a function that measures several kinds of figure.

    Args:
        measure: Called with a kind, a system, a graph, a seed and a cell's protocol; the system's own kind is
            "private".
        titles: The short and the long name of every other kind.
    """
    own = replace(OWN, fit=partial(measure, OWN.key))
    return own, *(Control(kind, *names, partial(measure, kind)) for kind, names in titles.items())


def accuracy(predicted: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> float:
    """Return the share of right predictions."""
    return float((predicted == labels).mean())


def split_as_published(
    system: System, graph: Graph, seed: int, label_rate: float | None = None, split: Sequence[float] | None = None
) -> Graph:
    """Return the graph with a split: the central paper's 80 % for training for central systems, else everybody's.

    Args:
        system: The system that is measured.
        seed: The seed of the split.
        label_rate: The share of all nodes whose labels are used for training (default: all training nodes).
        split: The shares of training and validation nodes, in place of the papers'.
    """
    papers = (0.8, 0.0) if system.model == "central" else SPLIT
    train, validation = papers if split is None else split
    return with_split(system, graph, seed, label_rate, (train, validation))


ACCURACY = classification("nodes", "accuracy (%)", accuracy)
BY_SETTING = classification("nodes", "accuracy (%)", accuracy, SAME_SETTINGS)
"""Accuracy, for curves over a setting, of which raw data get every value too."""


@dataclass(frozen=True)
class Cell:
    """One figure of a table.

    Attributes:
        dataset: The dataset's name.
        label: The condition in words.
        settings: The system's settings, on top of the dataset's preset.
        paper: The paper's figure, in per cent; None where it prints nothing.
        paper_std: The paper's standard deviation.
        condition: The variant of the preset.
        at: The cell's place on a plot's horizontal axis.
        panel: The plot's panel (default: the dataset's).
        series: The line that the cell belongs to in a plot.
        tick: The name of its place, where it is not a number.
        protocol: What the evaluation does differently, such as a smaller ``label_rate``.
        controls: Whether anything is measured beside the system itself.
        system: The name of the system that is measured (default: the table's).
        references: Other published figures of the same condition, in per cent, by a short name.
    """

    dataset: str
    label: str
    settings: dict[str, Any] = field(hash=False)
    paper: float | None = None
    paper_std: float | None = None
    condition: str | None = None
    at: float | None = None
    panel: str = ""
    series: str = ""
    tick: str = ""
    protocol: dict[str, Any] = field(default_factory=dict, hash=False)
    controls: bool = True
    system: str = ""
    references: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def available(self) -> bool:
        """True if the dataset can be had."""
        return self.dataset not in NOT_TO_BE_HAD


@dataclass(frozen=True)
class PublishedTable:
    """A table or a figure of a paper.

    Attributes:
        name: Its id, such as ``lpgnn-3``.
        title: Its title.
        system: The name of the system that it is about.
        cells: Its cells.
        measure: What is measured in them.
        remark: Our own remark about it.
        axis: The name of a plot's horizontal axis.
        statement: What the paper says where it prints no numbers.
        beside: The keys of the columns beside the system's own (default: all that the measure has).
        printed: The name of the column of published figures.
        made: Makes the graph where a table needs no data: only its size and schema matter.
    """

    name: str
    title: str
    system: str
    cells: tuple[Cell, ...]
    measure: Measure = ACCURACY
    remark: str = ""
    axis: str = "epsilon"
    statement: str = ""
    beside: tuple[str, ...] | None = None
    printed: str = "paper"
    made: Callable[[], Graph] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process by name: functions of a table cannot be sent."""
        return _published, (self.name, self.cells)

    def only(self, datasets: Sequence[str] = (), condition: str | None = None) -> PublishedTable:
        """Return the table with fewer cells.

        Args:
            datasets: Patterns of datasets' names (default: all).
            condition: A pattern of conditions, such as ``gin*`` (default: all).
        """
        cells = self.cells
        for parameter, patterns, attribute in (
            ("datasets", datasets, "dataset"),
            ("condition", [condition] if condition else [], "label"),
        ):
            known = list(dict.fromkeys(getattr(cell, attribute) for cell in cells))
            unknown = [pattern for pattern in patterns if not fnmatch.filter(known, pattern)]
            if unknown:
                raise InvalidParameter(parameter, "among " + "; ".join(known), ", ".join(unknown))
            wanted = {name for pattern in patterns or ["*"] for name in fnmatch.filter(known, pattern)}
            cells = tuple(cell for cell in cells if getattr(cell, attribute) in wanted)
        return replace(self, cells=cells)


def no_edges(nodes: int, schema: Schema) -> Graph:
    """Return a graph without edges, for studies that read sizes and the schema alone."""
    return Graph.from_edges(np.empty((2, 0), dtype=np.int64), nodes, schema=schema)


def _published(name: str, cells: tuple[Cell, ...]) -> PublishedTable:
    from privet.reproduction.papers import published_table

    return replace(published_table(name), cells=cells)
