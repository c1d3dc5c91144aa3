"""`privet sweep`: accuracy against one budget, with confidence intervals and the controls beside it. Resumable."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from scipy import stats

import privet
from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.choosing import system_for
from privet.evaluation.run import run_system
from privet.evaluation.tasks import KIND_TITLES, TASKS, task_of
from privet.systems import CENTRAL_SYSTEMS
from privet.systems.presets import condition_for

__all__ = ["BUDGETS", "CONFIDENCE", "budget_field", "half_width", "parse_epsilons", "print_sweep", "run_sweep"]

BUDGETS = {"features": "epsilon_features", "labels": "epsilon_labels", "edges": "epsilon_edges"}
CONFIDENCE = 0.95
_CSR = ("indptr", "indices", "data")


def parse_epsilons(text: str) -> tuple[float, ...]:
    """Budgets as on the command line, each once and in order.

    >>> parse_epsilons("1, 0.1,2")
    (0.1, 1.0, 2.0)
    """
    try:
        found = sorted({float(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 < epsilon < math.inf for epsilon in found):
        raise InvalidParameter("--epsilon", "privet sweep", "numbers above 0, comma separated, such as 0.1,1,4", text)
    return tuple(found)


def budget_field(system: str, of: str | None) -> str:
    """The setting that a sweep changes: the trained model's epsilon, or one of a device's reports."""
    if system in CENTRAL_SYSTEMS:
        if of is not None:
            raise InvalidParameter("--of", f"privet sweep {system}", "left out: a model has one epsilon", of)
        return "epsilon"
    if of is not None and of not in BUDGETS:
        raise InvalidParameter("--of", "privet sweep", "one of " + ", ".join(BUDGETS), of)
    return BUDGETS[of or "features"]


def half_width(values: Sequence[float]) -> float | None:
    """Of the 95 % confidence interval of the mean (Student's t); None for one value, which tells nothing about it.

    >>> round(half_width([84.0, 85.0, 86.0]), 2)
    2.48
    """
    count = len(values)
    if count < 2:
        return None
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * np.std(values, ddof=1) / math.sqrt(count))


def run_sweep(
    name: str,
    graph: Graph,
    dataset: str,
    swept: str,
    epsilons: Sequence[float],
    settings: dict[str, Any],
    seeds: int,
    store: Store,
    *,
    controls: bool = True,
    done: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """One result document, as of `privet run`, for every budget; those that the store has are not measured again."""
    if swept in settings:
        raise InvalidParameter(f"--{swept.replace('_', '-')}", "privet sweep", "left to the sweep", settings[swept])
    figures = seeds * (len(TASKS[task_of(name)].kinds) if controls else 1)
    marked, points = _fingerprint(graph), []
    for epsilon in epsilons:
        chosen = {**settings, swept: epsilon}
        system = system_for(name, Path(dataset).stem, chosen, condition_for(name, chosen))
        counted = _Counted(done)

        def work(system: Any = system, counted: _Counted = counted) -> dict[str, Any]:
            return run_system(system, graph, dataset, seeds, controls=controls, done=counted)

        key = {
            "sweep": name, "dataset": dataset, "graph": marked, "settings": system.settings(), "seeds": seeds,
            "controls": controls, "version": privet.__version__,
        }  # fmt: skip
        points.append(store.compute(key, work))
        for _ in range(figures - counted.times):  # what came from the store
            done()
    return {
        "system": name,
        "dataset": dataset,
        "swept": swept,
        "epsilons": list(epsilons),
        "confidence": CONFIDENCE,
        "half_widths": [half_width(point["values"]) for point in points],
        "points": points,
        "version": privet.__version__,
    }


def print_sweep(result: dict[str, Any]) -> None:
    """The curve as a table: accuracy with its interval, and the controls."""
    console, points = Console(), result["points"]
    metric, seeds = points[0]["metric"], len(points[0]["seeds"])
    title = f"{result['system']} on {result['dataset']}: {metric} by {result['swept']}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    shown = [kind for kind in KIND_TITLES if kind in points[0]["controls"]]
    for column in ("epsilon", "true eps", result["system"], *(KIND_TITLES[kind][0] for kind in shown)):
        table.add_column(column, justify="right")
    for epsilon, point in zip(result["epsilons"], points, strict=True):
        others = [f"{point['controls'][kind]['mean']:.1f}" for kind in shown]
        table.add_row(f"{epsilon:g}", f"{point['guarantee']['epsilon']:.4g}", _with_interval(point), *others)
    console.print(table)
    if shown:
        console.print("; ".join(": ".join(KIND_TITLES[kind]) for kind in shown) + ".")
    if seeds > 1:
        console.print(f"+- is the {CONFIDENCE:.0%} confidence interval of the mean (Student's t, {seeds} seeds).")
    else:
        console.print("One seed: nothing is known about the spread; use --seeds 5 for intervals.")
    for epsilon, point in zip(result["epsilons"], points, strict=True):
        if "verdict" in point:
            console.print(f"At {epsilon:g}: {point['verdict']}")


def _with_interval(figures: dict[str, Any]) -> str:
    width = half_width(figures["values"])
    return f"{figures['mean']:.1f}" + ("" if width is None else f" +- {width:.1f}")


def _fingerprint(graph: Graph) -> str:
    """Of everything that a measurement reads: a user's file may change under the same name."""
    mark = hashlib.sha256()
    declared = None if graph.schema is None else graph.schema.to_json()
    parts: list[Any] = [graph.adjacency.indptr, graph.adjacency.indices, graph.labels, declared]
    features = graph.features
    parts += [features] if isinstance(features, np.ndarray | None) else [getattr(features, n) for n in _CSR]
    for part in parts:
        mark.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return mark.hexdigest()[:32]


class _Counted:
    """A callback that knows how often it was called."""

    def __init__(self, inner: Callable[[], None]) -> None:
        self.inner, self.times = inner, 0

    def __call__(self) -> None:
        self.times += 1
        self.inner()
