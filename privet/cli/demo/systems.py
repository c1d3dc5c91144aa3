"""Every system that has settings for it, beside all its controls, for ``privet demo --all``."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from privet.cli.demo.tables import print_rows
from privet.data import Graph
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import Result
from privet.systems import SYSTEMS
from privet.systems.presets import demonstrated

__all__ = ["show_systems"]

_SHORT = {"feature vector": "F", "label": "L", "relationship": "R", " and ": " + "}


def show_systems(console: Console, graph: Graph, seeds: int, progress: Callable[[str], None]) -> list[Result]:
    """Measure all of them, print two tables, and return the results.

    Args:
        console: Where to print.
        graph: The people.
        seeds: The number of seeds.
        progress: Called with a few words after each training.
    """
    cases = [(kind(**settings), view) for name, kind in SYSTEMS.items() for settings, view in demonstrated(name, graph)]
    store = Store(None)  # controls that systems share are measured once
    results = [
        evaluate(system, view, seeds, dataset="a synthetic society", store=store, progress=progress)
        for system, view in cases
    ]
    for model, title in (
        ("local", "Devices perturb (local model)"),
        ("central", "A trusted holder trains (central model)"),
    ):
        _print(console, f"{title}, right (%)", [result for result in results if result.guarantee.model == model])
    console.print(
        "F: feature vector, L: label, R: relationship. 'structure' asks nobody, 'no info' runs the same pipeline on "
        "reports that carry no information, and the DP-MLP sees no edge: where a control does as well, the private "
        "data, or the graph, need not have been used."
    )
    return results


def _print(console: Console, title: str, results: list[Result]) -> None:
    """Print one column a system and one row a control."""
    shorts = {key: figures.short for result in results for key, figures in result.controls.items()}
    rows = [
        ("protects", *(_protected(result) for result in results)),
        ("true epsilon", *(f"{result.guarantee.epsilon:.3g}" for result in results)),
        ("[bold]private", *(f"[bold]{result.mean:.1f}" for result in results)),
    ]
    for key, short in shorts.items():
        figures = (result.controls.get(key) for result in results)
        rows.append((short, *("" if each is None else f"{each.mean:.1f}" for each in figures)))
    print_rows(console, title, ("", *(result.system for result in results)), rows)


def _protected(result: Result) -> str:
    unit = str(result.guarantee.unit)
    for long, short in _SHORT.items():
        unit = unit.replace(long, short)
    return unit
