"""The demo's second part: every system beside its controls, as result documents that a report can be made of."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from privet.data import Graph, group_columns
from privet.evaluation.run import run_system
from privet.evaluation.tasks import KIND_TITLES, TASKS, task_of
from privet.systems import LPGNN, RGNN, AnySystem, HeterPoisson, PrivGE, SmoothedMLP, Solitude

__all__ = ["show_systems"]

_SHORT = {
    "structure_only": "structure only",
    "features_only": "features only",
    "non_private": "not private",
    "private_mlp": "DP-MLP",
}


def show_systems(console: Console, graph: Graph, seeds: int) -> list[dict[str, Any]]:
    """Measure all of them, print two tables, and return the results."""
    cases = _cases(graph)
    total = sum(seeds * len(TASKS[task_of(system.name)].kinds) for system, _ in cases)
    results = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("training", total=total)
        for system, view in cases:
            progress.update(bar, description=f"training {system.name}")
            results.append(run_system(system, view, "a synthetic society", seeds, done=lambda: progress.advance(bar)))
    for model, title in (
        ("local", "Devices perturb (local model)"),
        ("central", "A trusted holder trains (central model)"),
    ):
        chosen = [result for result in results if result["guarantee"]["model"] == model]
        _print(console, f"\n{title}, test accuracy in per cent", chosen)
    console.print(
        "'structure only' runs the same pipeline on reports that carry no information, and the DP-MLP sees no edge: "
        "where a control does as well, the private data, or the graph, need not have been used."
    )
    return results


def _print(console: Console, title: str, results: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    kinds = [kind for kind in results[0]["controls"] if all(kind in result["controls"] for result in results)]
    for column in (
        "system",
        "protects",
        "epsilon",
        "private",
        *(_SHORT.get(kind, KIND_TITLES[kind][1]) for kind in kinds),
    ):
        table.add_column(column, justify="left" if column in ("system", "protects") else "right")
    for result in results:
        figures = [f"{result['controls'][kind]['mean']:.1f}" for kind in kinds]
        guarantee = result["guarantee"]
        unit = guarantee["unit"].replace("feature vector", "features").replace("neighbour list bit", "list bit")
        table.add_row(result["system"], unit, f"{guarantee['epsilon']:.3g}", f"[bold]{result['mean']:.1f}", *figures)
    console.print(table)


def _cases(graph: Graph) -> list[tuple[AnySystem, Graph]]:
    """Local systems at epsilon 1 for features, 2 for labels and 7 for a relationship, central ones at a fixed noise."""
    central: dict[str, Any] = {"noise_multiplier": 4.0, "batch_size": max(50, graph.num_nodes // 5)}
    return [
        (LPGNN(hops=4, max_epochs=100), graph),
        (LPGNN(hops=4, max_epochs=100, epsilon_labels=2.0), graph),
        (PrivGE(alpha=0.05, r=0.0, scale=10.0, dropout=0.1, weight_decay=0.0, max_epochs=100), graph),
        (RGNN(sample=4, epsilon_labels=2.0), group_columns(graph, 1)),
        (Solitude(epsilon_edges=7.0, max_epochs=100), graph),
        (HeterPoisson(multiplier=0.0, **central), graph),
        (SmoothedMLP(**central), graph),
    ]
