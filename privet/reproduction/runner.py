"""Measure a published table: our figures beside the paper's, the controls and the true epsilon. Resumable.

A quick run only shows that everything works: made-up graphs, few cells, hardly any training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import privet
from privet.data import KNOWN, Graph, load, social_graph
from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.measuring import Described, measured
from privet.evaluation.results import Figures
from privet.evaluation.scoring import Scores
from privet.evaluation.workers import usual_workers
from privet.reproduction.measured import Table, TableCell
from privet.reproduction.published import Cell, PublishedTable, accuracy
from privet.systems import LocalSystem, System
from privet.systems.controls import Control
from privet.systems.presets import is_published, prepared, system_for

__all__ = ["NO_MEASUREMENT", "figures_needed", "run_table", "shrunk", "stand_in", "thinned"]

_NODES = 240
_MOST_FEATURES = 4000  # enough to group columns and to sample from
_CELLS = 6
_SMALL: dict[str, Any] = {"max_epochs": 2, "epochs": 1.0, "networks": 1, "clusters": 4, "hidden_channels": 8}
_SMALL["panel"] = 0.5  # of few people, so that every class is among them
_SMALL_BATCH = 64
NO_MEASUREMENT = (
    f"Quick figures are no measurements: a made-up graph of {_NODES} nodes stands for each dataset, one seed, at most "
    f"{_SMALL['max_epochs']} epochs, at most {_CELLS} cells of a table. They show that it runs, nothing else."
)


def run_table(
    table: PublishedTable,
    root: str | Path | None,
    seeds: int,
    store: Store,
    *,
    controls: bool = True,
    quick: bool = False,
    workers: int | None = 1,
    progress: Callable[[str], None] = lambda text: None,
) -> Table:
    """Measure every available cell of a table.

    Args:
        table: The published table.
        root: The directory of the named datasets.
        seeds: The number of seeds.
        store: The finished figures; what it has is not measured again.
        controls: Whether to measure what stands beside the system.
        quick: Only show that it runs: one seed, few cells, a made-up graph for each dataset, hardly any training.
        workers: The number of processes, of a table that :mod:`privet.reproduction.papers` has; figures do not depend
            on it. None uses one for each core, and 1 where every graph is small.
        progress: Called with a few words after each figure.
    """
    if quick:
        table, seeds = thinned(table), 1
    work = _Cells(table, root, quick)
    columns = {place: work.columns(cell, controls) for place, cell in enumerate(table.cells) if cell.available}
    tasks = [_Task(place, each.key, seed) for place, own in columns.items() for seed in range(seeds) for each in own]
    told = {(place, each.key): f"{table.cells[place].dataset} {table.cells[place].label} {each.short}".strip()
            for place, own in columns.items() for each in own}  # fmt: skip
    sources = [work.source(table.cells[place]) for place in columns]
    usual = max((usual_workers(graph, len(tasks)) for graph in sources), default=1)
    found = measured(
        work, tasks, store, workers=workers or usual, done=lambda task: progress(told[task.cell, task.column])
    ).figures

    def cell_of(place: int, cell: Cell) -> TableCell:
        facts = (cell.dataset, cell.label, cell.paper, cell.paper_std, cell.panel or cell.dataset)
        where = (cell.series, cell.at, cell.tick, cell.references)
        if not cell.available:
            return TableCell(*facts, *where)
        figures = {
            each.key: Figures(
                tuple(table.measure.factor * found[_Task(place, each.key, seed)].test for seed in range(seeds)),
                each.short,
                each.title,
            )
            for each in columns[place]
        }
        own = figures.pop(columns[place][0].key)
        return TableCell(*facts, *where, own, figures, work.system(cell).guarantee(work.source(cell)))

    return Table(
        name=table.name,
        title=table.title,
        statement=table.statement,
        remark=table.remark,
        task=table.measure.name,
        metric=table.measure.metric,
        axis=table.axis,
        seeds=seeds,
        quick=quick,
        printed=table.printed,
        percent=table.measure.factor == 100,
        cells=tuple(cell_of(place, cell) for place, cell in enumerate(table.cells)),
        version=privet.__version__,
    )


def figures_needed(table: PublishedTable, seeds: int, *, controls: bool = True, quick: bool = False) -> int:
    """Return how many figures :func:`run_table` measures or reads, for a progress bar."""
    if quick:
        table, seeds = thinned(table), 1
    work = _Cells(table, None, quick)
    return seeds * sum(len(work.columns(cell, controls)) for cell in table.cells if cell.available)


@dataclass(frozen=True)
class _Task:
    cell: int
    column: str
    seed: int


@dataclass(frozen=True, eq=False)
class _Cells:
    """The figures of a table's cells."""

    table: PublishedTable
    root: str | Path | None
    quick: bool
    _graphs: dict[tuple[str, str], Graph] = field(default_factory=dict)
    kind = Scores

    def system(self, cell: Cell) -> System:
        system = system_for(cell.system or self.table.system, cell.dataset, cell.settings, cell.condition)
        return shrunk(system) if self.quick else system

    def columns(self, cell: Cell, controls: bool = True) -> tuple[Control, ...]:
        """Return the columns of a cell, the system's own first."""
        own, *others = self.table.measure.columns(self.system(cell))
        if not controls or not cell.controls:
            return (own,)
        beside = (each for each in others if self.table.beside is None or each.key in self.table.beside)
        return own, *self._as_published(cell, own), *beside

    def _as_published(self, cell: Cell, own: Control) -> tuple[Control, ...]:
        """Return the column of the paper's settings, where it prints a figure and the cell does not contradict them."""
        name = cell.system or self.table.system
        if cell.paper is None or not is_published(name):
            return ()
        try:
            system = system_for(name, cell.dataset, cell.settings, cell.condition, as_published=True)
        except InvalidParameter:  # such as one report a pair, which the paper does not have
            return ()
        small = shrunk(system) if self.quick else system
        if small == self.system(cell):
            return ()
        title = "the paper's own algorithm and settings"
        return (replace(own, key="as_published", short="as published", title=title, subject=lambda _: small),)

    def source(self, cell: Cell) -> Graph:
        """Return the cell's graph, made or loaded once."""
        system = cell.system or self.table.system
        if (cell.dataset, system) not in self._graphs:
            if self.table.made is not None:
                graph = self.table.made()
            else:
                raw = stand_in(cell.dataset) if self.quick else load(cell.dataset, self.root)
                graph = prepared(raw, system, cell.dataset)
            self._graphs[cell.dataset, system] = graph
        return self._graphs[cell.dataset, system]

    def graph(self, task: _Task) -> Graph:
        cell = self.table.cells[task.cell]
        return self.table.measure.view(self.system(cell), self.source(cell), task.seed, cell.protocol)

    def describe(self, task: _Task) -> Described:
        cell, measure = self.table.cells[task.cell], self.table.measure
        system = self.system(cell)
        own = {} if measure.score is accuracy else {"task": measure.name, "protocol": cell.protocol}
        return Described(task.column, system, self._column(task).subject(system), task.seed, own)

    def measure(self, task: _Task) -> Scores:
        cell = self.table.cells[task.cell]
        system, view = self.system(cell), self.graph(task)
        return self.table.measure.figure(self._column(task), system, view, task.seed, cell.protocol)

    def together(self, task: _Task) -> tuple[str, int]:
        return self.table.cells[task.cell].dataset, task.seed

    def _column(self, task: _Task) -> Control:
        return next(each for each in self.columns(self.table.cells[task.cell]) if each.key == task.column)


def thinned(table: PublishedTable) -> PublishedTable:
    """Return the table with at most a few cells, evenly spaced over those that can be measured."""
    able = [cell for cell in table.cells if cell.available]
    places = np.unique(np.linspace(0, len(able) - 1, _CELLS).round().astype(int))
    chosen = [replace(able[place], protocol={**able[place].protocol, **table.measure.quick}) for place in places]
    return replace(table, cells=tuple(chosen))


def shrunk(system: System) -> System:
    """Return the same system, hardly trained."""
    known = {field.name for field in fields(system)}
    small = {name: value for name, value in _SMALL.items() if name in known and getattr(system, name) is not None}
    if not isinstance(system, LocalSystem):
        small["batch_size"] = _SMALL_BATCH
    return replace(system, **small)


def stand_in(dataset: str) -> Graph:
    """Make a social graph with as many classes and, up to a point, features as a known dataset has."""
    facts = KNOWN[dataset]
    return social_graph(
        _NODES, classes=facts.classes, average_degree=6, features=min(facts.features, _MOST_FEATURES), seed=0
    )
