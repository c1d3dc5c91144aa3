"""What `privet run` and `privet sweep` do, behind the thin command line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from rich.console import Console

from privet.data import Graph, group_columns, load
from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.choosing import system_for
from privet.evaluation.outputs import check_writable, write_json
from privet.evaluation.run import print_result, run_system, write_result
from privet.evaluation.sweep import budget_field, parse_epsilons, print_sweep, run_sweep
from privet.evaluation.tasks import TASKS, task_of
from privet.evaluation.tune import tune as tune_system
from privet.reporting.drawing import check_format
from privet.reporting.sweep_plot import plot_sweep
from privet.reproduction.runner import figure_progress
from privet.systems import System
from privet.systems.presets import condition_for, prepared

__all__ = ["load_dataset", "parse_settings", "run_command", "sweep_command"]


def run_command(
    name: str,
    dataset: str,
    root: Path | None,
    settings: dict[str, Any],
    seeds: int,
    *,
    group: int | None,
    controls: bool,
    tune: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Build the system from its preset and the options, perhaps tune it, measure, print and write."""
    check_writable(out)
    system = system_for(name, Path(dataset).stem, settings, condition_for(name, settings))
    graph = load_dataset(dataset, root)
    graph = prepared(graph, name, Path(dataset).stem) if group is None else group_columns(graph, group)
    messages = Console(stderr=True)
    tuning: list[dict[str, Any]] = []
    if tune:
        if not isinstance(system, System):
            expected = "used with a local system: a search on protected data would spend budget"
            raise InvalidParameter("--tune", "privet run", expected, name)
        with messages.status(f"searching {tune} settings by validation labels"):
            system, trials = tune_system(system, graph, tune)
        tuning = trials
        best = max(trial["validation"] for trial in trials)
        messages.print(f"Chose {_differences(system, trials)} with validation accuracy {100 * best:.1f}.")
    figures = seeds * (len(TASKS[task_of(name)].kinds) if controls else 1)
    with figure_progress(figures, show=messages.is_terminal) as advance:
        result = run_system(system, graph, dataset, seeds, controls=controls, done=lambda: advance(f"{name} {dataset}"))
    if tuning:
        result["tuning"] = tuning
    if out is not None:
        write_result(result, out)
    print(json.dumps(result)) if as_json else print_result(result)


def sweep_command(
    name: str,
    dataset: str,
    root: Path | None,
    epsilons: str,
    of: str | None,
    settings: dict[str, Any],
    seeds: int,
    store: Path,
    *,
    group: int | None,
    controls: bool,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure the points that the store does not have yet, print the curve, perhaps write and draw it."""
    for path in (out, plot):
        check_writable(path)
    if plot is not None:
        check_format(plot)
    swept, values = budget_field(name, of), parse_epsilons(epsilons)
    system_for(name, Path(dataset).stem, {**settings, swept: values[0]})  # refuses wrong words before the data is read
    graph = load_dataset(dataset, root)
    graph = prepared(graph, name, Path(dataset).stem) if group is None else group_columns(graph, group)
    figures = len(values) * seeds * (len(TASKS[task_of(name)].kinds) if controls else 1)
    with figure_progress(figures, show=Console(stderr=True).is_terminal) as advance:
        result = run_sweep(
            name, graph, dataset, swept, values, settings, seeds, Store(store), controls=controls,
            done=lambda: advance(f"{name} {dataset}"),
        )  # fmt: skip
    if out is not None:
        write_json(result, out)
    if plot is not None:
        plot_sweep(result, plot)
    print(json.dumps(result)) if as_json else print_sweep(result)


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """NAME=VALUE as on the command line, the value as TOML would read it, or a word.

    >>> parse_settings(["hops=4", "dropout=0.5", "batch_norm=false", "aggregator=mean"])
    {'hops': 4, 'dropout': 0.5, 'batch_norm': False, 'aggregator': 'mean'}
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not name.isidentifier() or not equals or not text:
            raise InvalidParameter("--set", "privet run", "NAME=VALUE, such as hops=4", pair)
        try:
            settings[name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            settings[name] = text
    return settings


def load_dataset(dataset: str, root: Path | None) -> Graph:
    """Load a graph that has features and labels: privet's own, the user's, or one of PyTorch Geometric's."""
    graph = load(dataset, root)
    graph.require("features", "labels", owner="privet run")
    return graph


def _differences(system: Any, trials: list[dict[str, Any]]) -> str:
    names = [name for name in trials[0] if name != "validation"]
    return ", ".join(f"{name} {getattr(system, name)}" for name in names)
