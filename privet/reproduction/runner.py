"""Measure a published table: our figures beside the paper's, the controls and the true epsilon. Resumable."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import privet
from privet.data import Graph, load
from privet.evaluation.cache import Store
from privet.evaluation.choosing import system_for
from privet.evaluation.keys import data_digest
from privet.evaluation.results import Figures
from privet.reproduction.cells import Cell, PublishedTable
from privet.reproduction.figures.made_graphs import MADE
from privet.reproduction.measures import Column
from privet.reproduction.quick import shrunk, stand_in, thinned
from privet.reproduction.table import Table, TableCell
from privet.systems.presets import prepared

__all__ = ["figures_needed", "run_table"]


def run_table(
    table: PublishedTable,
    root: str | Path | None,
    seeds: int,
    store: Store,
    *,
    controls: bool = True,
    quick: bool = False,
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
        progress: Called with a few words after each figure.
    """
    if quick:
        table, seeds = thinned(table), 1

    @cache
    def graph_of(dataset: str, system: str) -> Graph:
        if dataset in MADE:
            return MADE[dataset]()
        return prepared(stand_in(dataset) if quick else load(dataset, root), system, dataset)

    @cache
    def digest_of(dataset: str, system: str) -> str:
        return data_digest(graph_of(dataset, system))

    def measured(cell: Cell) -> TableCell:
        facts = (cell.dataset, cell.label, cell.paper, cell.paper_std, cell.panel or cell.dataset)
        place = (cell.series, cell.at, cell.tick, cell.references)
        if not cell.available:
            return TableCell(*facts, *place)
        system = _system(table, cell, quick)
        found: dict[str, list[float]] = {}
        columns = _columns(table, cell, system, controls)
        source = (cell.dataset, cell.system or table.system)
        graph = graph_of(*source)
        for seed in range(seeds):
            for column in columns:
                figure = column.figure(
                    system, graph, seed, store,
                    task=table.measure.name, data=digest_of(*source), protocol=cell.protocol,
                )  # fmt: skip
                found.setdefault(column.key, []).append(table.measure.factor * figure)
                progress(f"{cell.dataset} {cell.label} {column.short}".strip())
        own, *beside = (Figures(tuple(found[each.key]), each.short, each.title) for each in columns)
        keys = [column.key for column in columns[1:]]
        guarantee = system.guarantee(graph)
        return TableCell(*facts, *place, own, dict(zip(keys, beside, strict=True)), guarantee)

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
        cells=tuple(measured(cell) for cell in table.cells),
        version=privet.__version__,
    )


def figures_needed(table: PublishedTable, seeds: int, *, controls: bool = True, quick: bool = False) -> int:
    """Return how many figures :func:`run_table` measures or reads, for a progress bar."""
    if quick:
        table, seeds = thinned(table), 1
    cells = [cell for cell in table.cells if cell.available]
    return seeds * sum(len(_columns(table, cell, _system(table, cell, quick), controls)) for cell in cells)


def _system(table: PublishedTable, cell: Cell, quick: bool) -> Any:
    system = system_for(cell.system or table.system, cell.dataset, cell.settings, cell.condition)
    return shrunk(system) if quick else system


def _columns(table: PublishedTable, cell: Cell, system: Any, controls: bool) -> tuple[Column, ...]:
    own, *others = table.measure.columns(system)
    if not controls or not cell.controls:
        return (own,)
    return own, *(column for column in others if table.beside is None or column.key in table.beside)
