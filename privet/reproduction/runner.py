"""`privet table`: a published table beside our figures, the controls and the true epsilon. Resumable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import privet
from privet.data import Graph, load
from privet.evaluation.cache import Store
from privet.evaluation.choosing import system_for
from privet.evaluation.measure import summary
from privet.evaluation.tasks import KIND_TITLES, TASKS, Task
from privet.reproduction.catalogue import Cell, PublishedTable
from privet.reproduction.figures.made_graphs import MADE
from privet.reproduction.quick import NO_MEASUREMENT, shrunk, stand_in, thinned
from privet.systems import AnySystem
from privet.systems.presets import prepared

__all__ = ["figure_progress", "print_table", "run_table"]


def run_table(
    table: PublishedTable,
    root: str | Path | None,
    seeds: int,
    store: Store,
    *,
    controls: bool = True,
    show_progress: bool = True,
    quick: bool = False,
) -> dict[str, Any]:
    """Measure every available cell; a figure that the store has is not computed again.

    A ``quick`` run has one seed, few cells, a made-up graph for each dataset and hardly any training.
    """
    if quick:
        table, seeds = thinned(table), 1
    task = TASKS[table.task]
    kinds = (table.kinds or task.kinds) if controls else task.kinds[:1]
    jobs = [
        (cell, seed, kind)
        for cell in table.cells
        if cell.available
        for seed in range(seeds)
        for kind in (kinds if cell.controls else kinds[:1])
    ]
    figures: dict[tuple[int, str], list[float]] = {}

    @cache
    def graph_of(dataset: str) -> Graph:
        if dataset in MADE:
            return MADE[dataset]()
        graph = stand_in(dataset) if quick else load(dataset, root)
        return prepared(graph, table.system, dataset)

    def system_of(cell: Cell) -> AnySystem:
        system = system_for(table.system, cell.dataset, cell.settings, cell.condition)
        return shrunk(system) if quick else system

    with figure_progress(len(jobs), show=show_progress) as advance:
        for cell, seed, kind in jobs:
            system = task.subject(kind, system_of(cell))
            key = _key(table, cell, system, seed, kind)

            def work(
                cell: Cell = cell, system: AnySystem = system, seed: int = seed, kind: str = kind
            ) -> dict[str, Any]:
                return dict(task.measure(kind, system, graph_of(cell.dataset), seed, **cell.protocol))

            found = store.compute(key, work)
            figures.setdefault((id(cell), kind), []).append(found["test"])
            advance(f"{cell.dataset} {cell.label} {kind.replace('_', ' ')}")
    return {
        "table": table.name,
        "title": table.title,
        "statement": table.statement,
        "remark": table.remark,
        "task": table.task,
        "metric": task.metric,
        "axis": table.axis,
        "seeds": seeds,
        "quick": quick,
        "version": privet.__version__,
        "cells": [_row(cell, kinds, figures, task, system_of, graph_of) for cell in table.cells],
    }


def _key(table: PublishedTable, cell: Cell, system: AnySystem, seed: int, kind: str) -> dict[str, Any]:
    settings = {name: _finite(value) for name, value in {**system.settings(), "seed": seed}.items()}
    key = {
        "task": table.task, "system": system.name, "dataset": cell.dataset, "settings": settings, "kind": kind,
        "version": privet.__version__,
    }  # fmt: skip
    return {**key, "protocol": cell.protocol} if cell.protocol else key


def _finite(value: Any) -> Any:
    """JSON has no infinity, which is how little a run without privacy clips."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _row(
    cell: Cell,
    kinds: Sequence[str],
    figures: dict[tuple[int, str], list[float]],
    task: Task,
    system_of: Callable[[Cell], AnySystem],
    graph_of: Callable[[str], Graph],
) -> dict[str, Any]:
    row = {
        "dataset": cell.dataset, "condition": cell.label, "paper": cell.paper, "paper_std": cell.paper_std,
        "panel": cell.panel or cell.dataset, "series": cell.series, "at": cell.at, "tick": cell.tick,
    }  # fmt: skip
    if not cell.available:
        return {**row, "measured": None}
    guarantee = system_of(cell).promise(graph_of(cell.dataset))
    ours = summary(figures[id(cell), "private"], task.factor)
    return {
        **row,
        "measured": ours,
        "difference": None if cell.paper is None else round(float(ours["mean"]), 1) - cell.paper,  # type: ignore[arg-type]
        "controls": {kind: summary(figures[id(cell), kind], task.factor) for kind in kinds[1:] if cell.controls},
        "guarantee": None if guarantee is None else guarantee.to_dict(),
    }


def print_table(result: dict[str, Any]) -> None:
    """Paper, ours, controls and true epsilon side by side."""
    console, printed = Console(), TASKS[result["task"]].printed
    shown: dict[str, Any] = next((row["controls"] for row in result["cells"] if row.get("controls")), {})
    seeds = "one seed" if result["seeds"] == 1 else f"{result['seeds']} seeds"
    table = Table(title=f"{result['title']} ({result['metric']}, {seeds})", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("dataset", no_wrap=True)
    table.add_column("condition")
    for column in ("true eps", "paper", "ours", *(KIND_TITLES[kind][0] for kind in shown)):
        table.add_column(column, justify="right")
    for row in result["cells"]:
        paper = "" if row["paper"] is None else f"{row['paper']:.1f}"
        if row["measured"] is None:
            table.add_row(row["dataset"], row["condition"], "", paper, "not measured")
            continue
        ours, judged = row["measured"], row["difference"] is not None and not result["quick"]
        colour = "" if not judged else "[green]" if row["difference"] >= -1e-9 else "[red]"
        spread = f" +- {printed(ours['std'])}" if result["seeds"] > 1 else ""
        controls = [printed(row["controls"][kind]["mean"]) for kind in shown if kind in row["controls"]]
        epsilon = "none" if row["guarantee"] is None else f"{row['guarantee']['epsilon']:.4g}"
        figure = f"{colour}{printed(ours['mean'])}{spread}"
        table.add_row(row["dataset"], row["condition"], epsilon, paper, figure, *controls)
    console.print(table)
    if shown:
        console.print("; ".join(": ".join(KIND_TITLES[kind]) for kind in shown) + ".")
    if result["statement"]:
        console.print(f"The paper says: {result['statement']}")
    if result["remark"]:
        console.print(result["remark"])
    missing = [row for row in result["cells"] if row["measured"] is None]
    if missing:
        console.print("Not measured: " + ", ".join(sorted({row["dataset"] for row in missing})) + " cannot be had.")
    if result["quick"]:
        console.print(f"[bold]{NO_MEASUREMENT}[/]")


@contextmanager
def figure_progress(total: int, *, show: bool) -> Iterator[Callable[[str], None]]:
    """A bar on standard error with the time that is left; what it yields is called after each figure."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), disable=not show, speed_estimate_period=math.inf) as bars:
        task = bars.add_task("starting", total=total)
        yield lambda text: bars.update(task, advance=1, description=text)
