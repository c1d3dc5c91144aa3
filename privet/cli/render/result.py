"""A result on the screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from privet.cli.render.whole import print_whole
from privet.evaluation.results import Figures, Result
from privet.privacy.rounding import at_most

__all__ = ["print_result"]


def print_result(result: Result) -> None:
    """Print the figures beside their controls, the verdict and the guarantee."""
    console, guarantee = Console(), result.guarantee
    table = Table(title=f"{result.system} on {result.dataset}: {result.task}", title_justify="left")
    for column in ("", result.metric, "std"):
        table.add_column(column, justify="left" if not column else "right", no_wrap=bool(column))
    table.add_row(f"[bold]{result.system}", f"[bold]{result.mean:.1f}", _spread(result.figures))
    for figures in result.controls.values():
        table.add_row(figures.title, f"{figures.mean:.1f}", _spread(figures))
    print_whole(console, table)
    if result.verdict:
        console.print(result.verdict)
    if result.asked is not None:
        console.print(f"{100 * result.asked:.0f} % of people were asked.")
    certified = [100 * result.facts.get(f"certified_accuracy_{liars}", 0.0) for liars in (1, 2, 3)]
    if any(certified):
        told = ", ".join(f"{figure:.1f}" for figure in certified)
        console.print(
            f"Right, and against 1, 2 or 3 lies about friends: {told} % of test nodes (certified, last seed)."
        )
    if "reported_pairs" in result.facts:
        pairs, noise = (result.facts[name] for name in ("reported_pairs", "expected_noise"))
        noise = min(noise, pairs)
        console.print(f"Of {pairs:,.0f} reported edges about {noise:,.0f} are noise ({noise / max(pairs, 1):.0%}).")
    if not guarantee.epsilon:
        console.print(f"Nothing private was collected. Not protected: {'; '.join(guarantee.unprotected)}.")
        return
    published = guarantee.published_epsilon
    console.print(
        f"Protected: {guarantee.unit} ({guarantee.model} model), true epsilon at most {at_most(guarantee.epsilon)}"
        + (f" (the paper's claim: {published:.3g})" if published is not None else "")
        + (f", delta at most {at_most(guarantee.delta, 3)}." if guarantee.delta else ".")
        + f" Not protected: {'; '.join(guarantee.unprotected)}."
    )


def _spread(figures: Figures) -> str:
    return "one seed" if figures.std is None else f"{figures.std:.1f}"
