"""Advice in words: a table of candidates, one paragraph with its uncertainty, and what to type next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from privet.data import KNOWN
from privet.systems import SYSTEMS

__all__ = ["advice_paragraph", "next_commands", "print_advice"]

_SHOWN = 8
_NAMES = {"features": "the features", "edges": "the friend lists"}
_BUDGETS = {"epsilon_features", "epsilon_labels", "epsilon_edges"}
_LEFT_OUT = {*_BUDGETS, "hops", "feature_hops", "seed", "max_epochs", "patience"}


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


def advice_paragraph(advice: Mapping[str, Any]) -> str:
    """The recommendation and how sure it is."""
    best = advice["recommended"]
    chosen = (
        f"The best way found to collect {advice['protect'].replace(',', ' and ')} with a total epsilon of "
        f"{advice['budget']:g} is {_described(best)}."
    )
    close = [row for row in advice["candidates"][1:] if row["behind"] <= row["margin"]]
    rest = "Every other setting was worse beyond noise."
    if close:
        many = f"{len(close)} other settings are" if len(close) > 1 else "One other setting is"
        rest = f"{many} within noise of it (the next is {_described(close[0])}), so the choice among these is open."
    answers = [_answer(advice, part) for part in advice["comparison"]]
    places = len(next(iter(advice["comparison"].values())))
    chance = (
        f"Each world was drawn {advice['seeds']} times anew and compared in pairs, with 95 % confidence: without any "
        f"gain, one of the {places} worlds would still show one in up to {math.ceil(places * 2.5)} of 100 simulations. "
        "Real people may be like none of these worlds."
    )
    return " ".join([chosen, rest, *answers, chance])


def next_commands(advice: Mapping[str, Any]) -> list[str]:
    """What to type next, as it stands; DIRECTORY is for a directory of one's own (edges, nodes, schema.json)."""
    best = advice["recommended"]
    system = SYSTEMS[best["system"]]
    budgets = [f"--epsilon-{part} {value:g}" for part, value in best["epsilons"].items()]
    shape = f"--dimension {advice['features']} --classes {advice['classes']}"
    hops = best["settings"].get("hops", best["settings"].get("feature_hops"))
    known = {field.name: field.default for field in fields(system)}
    changed = {k: v for k, v in best["settings"].items() if k not in _LEFT_OUT and v != known[k]}
    others = [f"--set {name}={_toml(value)}" for name, value in sorted(changed.items())]
    source = advice["source"]
    dataset = source if source in KNOWN or Path(source).is_dir() or source.endswith(".npz") else "DIRECTORY"
    far = [] if hops is None else [f"--hops {hops}"]
    commands = [
        " ".join([f"privet account {best['system']}", *budgets, shape]),
        " ".join([f"privet run {best['system']} --dataset {dataset}", *budgets, *far, *others]),
    ]
    if advice["collect"]["features"] == "no" and "labels" in best["epsilons"]:
        return [f"privet account randomized-response --epsilon {advice['budget']:g} --classes {advice['classes']}"]
    return commands[1:] if advice["collect"]["features"] == "no" else commands


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
        table.add_row(row["system"], row["mechanism"], *budget, row["hops"] or "-", f"{row['mean']:.1f}", behind)
    return table


def _comparison(advice: Mapping[str, Any], part: str) -> Table:
    rival = advice["without"][part]["system"]
    title = f"What {_NAMES[part]} add to {rival} without them, accuracy (%)"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("signal of features", "homophily", "with", "without", "gain", "worth it"):
        words = column in ("signal of features", "homophily")
        table.add_column(column, justify="left" if words else "right")
    for row in advice["comparison"][part]:
        gain = f"{row['gain']:+.1f} ± {row['margin']:.1f}"
        figures = [f"{row[name]:.1f}" for name in ("with", "without")]
        table.add_row(row["signal"], row["homophily"], *figures, gain, "yes" if row["helps"] else "no")
    return table


def _answer(advice: Mapping[str, Any], part: str) -> str:
    rows = advice["comparison"][part]
    what, rival = _NAMES[part], advice["without"][part]
    spent = f" with the whole budget for the {' and '.join(rival['epsilons'])}" if rival["epsilons"] else ""
    other = f"{rival['system']} without them{spent}"
    helped = [row for row in rows if row["helps"]]
    if not helped:
        alone = " The structure alone does as well." if part == "features" else ""
        return (
            f"Do not collect {what}: in none of the {len(rows)} worlds did they gain {advice['worth']:g} points beyond "
            f"noise over {other}.{alone} The data need not be collected at all."
        )
    least, most = min(row["gain"] for row in helped), max(row["gain"] for row in helped)
    points = f"{least:.1f} to {most:.1f} points" if len(helped) > 1 else f"{most:.1f} points"
    if len(helped) == len(rows):
        return f"Collecting {what} is worth it in all {len(rows)} worlds: they gain {points} over {other}."
    where = "; ".join(f"{row['signal']} signal with {row['homophily']} homophily" for row in helped)
    return (
        f"Collecting {what} is worth it in {len(helped)} of {len(rows)} worlds ({where}), where they gain {points} "
        f"over {other}; in the others the data need not be collected. Collect {what} only if there is reason to expect "
        "such a world, and try a small pilot first."
    )


def _described(row: Mapping[str, Any]) -> str:
    far = f" and K = {row['hops']}" if row["hops"] else ""
    return f"{row['system']} with {row['mechanism']}, {_split(row)}{far}"


def _split(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{part} {value:g}" for part, value in row["epsilons"].items()) or "nothing private"


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
