"""The demo's second part: every system that has settings for it, beside its controls."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from privet.cli.render.whole import print_whole
from privet.data import Graph
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate, figures_needed
from privet.evaluation.results import Result
from privet.systems import SYSTEMS
from privet.systems.presets import demonstrated

__all__ = ["show_systems"]


def show_systems(console: Console, graph: Graph, seeds: int) -> list[Result]:
    """Measure all of them, print two tables, and return the results."""
    cases = [(kind(**settings), view) for name, kind in SYSTEMS.items() for settings, view in demonstrated(name, graph)]
    results, store = [], Store(None)  # controls that systems share are measured once
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("training", total=sum(figures_needed(system, seeds, True) for system, _ in cases))
        for system, view in cases:
            results.append(
                evaluate(
                    system,
                    view,
                    seeds,
                    dataset="a synthetic society",
                    store=store,
                    progress=lambda text: progress.update(bar, advance=1, description=f"training {text}"),
                )
            )
    for model, title in (
        ("local", "Devices perturb (local model)"),
        ("central", "A trusted holder trains (central model)"),
    ):
        chosen = [result for result in results if result.guarantee.model == model]
        _print(console, f"\n{title}, test accuracy in per cent", chosen)
    console.print(
        "'structure' asks nobody, 'no info' runs the same pipeline on reports that carry no information, and the "
        "DP-MLP sees no edge: where a control does as well, the private data, or the graph, need not have been used."
    )
    return results


def _print(console: Console, title: str, results: list[Result]) -> None:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    known = {key: figures.short for result in results for key, figures in result.controls.items()}
    keys = [key for key in known if 2 * sum(key in result.controls for result in results) >= len(results)]
    shorts = [known[key] for key in keys]
    for column in ("system", "protects", "epsilon", "private", *shorts):
        words = column in ("system", "protects")
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "protects")
    for result in results:
        figures = [f"{result.controls[key].mean:.1f}" if key in result.controls else "" for key in keys]
        unit = (
            str(result.guarantee.unit).replace("feature vector", "features").replace("neighbour list bit", "list bit")
        )
        epsilon = f"{result.guarantee.epsilon:.3g}"
        table.add_row(result.system, unit, epsilon, f"[bold]{result.mean:.1f}", *figures)
    print_whole(console, table, keys=2)
