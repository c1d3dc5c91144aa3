"""Advice on the screen: what was simulated, the candidates, the worlds, the paragraph, the commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from privet.advice.words import NAMES, mechanism_words

__all__ = ["print_advice"]

_SHOWN = 8


def print_advice(advice: Mapping[str, Any]) -> None:
    """For people: what was simulated, the candidates, the worlds, the paragraph, the commands."""
    console = Console()
    console.print(_simulated(advice))
    console.print(_candidates(advice))
    for part in advice["comparison"]:
        console.print(_comparison(advice, part))
    console.print(advice["advice"])
    console.print("\nNext:")
    for command in advice["next"]:
        console.print(f"  {command}", highlight=False, soft_wrap=True, markup=False)


def _simulated(advice: Mapping[str, Any]) -> str:
    seen = f"{advice['source']}: {advice['nodes']:,} people, {advice['degree']:.1f} contacts each."
    if advice["simulated_nodes"] < advice["nodes"]:
        seen += (
            f" Simulated on a region of it with {advice['simulated_nodes']:,} people and "
            f"{advice['simulated_degree']:.1f} contacts each."
        )
    levels = ", ".join(
        f"{name} {level['follow']:.0%} (edges within a class: {level['edges']:.0%})"
        for name, level in advice["homophily"].items()
    )
    signals = ", ".join(f"{name} {share:.0%}" for name, share in advice["signal"].items())
    return (
        f"{seen} Everything about people below is synthetic: {advice['features']} features and {advice['classes']} "
        f"classes as declared; nothing private was read. Worlds: people who have their community's class: {levels}; "
        f"features that the class decides: {signals}."
    )


def _candidates(advice: Mapping[str, Any]) -> Table:
    parts = [part for part in ("features", "labels", "edges") if part in advice["protect"]]
    table = Table(
        title="\nWays to spend the budget, best first: epsilon of each part, K hops, accuracy (%), points behind",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for column in ("system", "mechanism", *parts, "K", "right", "behind"):
        table.add_column(column, justify="left" if column in ("system", "mechanism") else "right")
    rows = advice["candidates"]
    for row in [*rows[:_SHOWN], *advice["without"].values()]:
        budget = [f"{row['epsilons'][part]:g}" if part in row["epsilons"] else "-" for part in parts]
        behind = "" if row is rows[0] else f"{row['behind']:.1f} ± {row['margin']:.1f}"
        table.add_row(row["system"], mechanism_words(row), *budget, row["hops"] or "-", f"{row['mean']:.1f}", behind)
    return table


def _comparison(advice: Mapping[str, Any], part: str) -> Table:
    rival = advice["without"][part]["system"]
    title = f"What {NAMES[part]} add, accuracy (%); without them: {rival}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("signal of features", "homophily", "with", "without", "gain", "worth it"):
        words = column in ("signal of features", "homophily")
        table.add_column(column, justify="left" if words else "right")
    for row in advice["comparison"][part]:
        gain = f"{row['gain']:+.1f} ± {row['margin']:.1f}"
        figures = [f"{row[name]:.1f}" for name in ("with", "without")]
        helps = "yes" if row["helps"] else "open" if row["open"] else "no"
        table.add_row(row["signal"], row["homophily"], *figures, gain, helps)
    return table
