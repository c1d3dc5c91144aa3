"""Advice in words: a table of candidates, one paragraph with its uncertainty, and what to type next."""

from __future__ import annotations

import math
import shlex
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
    """The recommendation and how sure it is; what need not be collected comes first."""
    best = _described(advice["recommended"])
    collected = f"{advice['protect'].replace(',', ' and ')} with a total epsilon of {advice['budget']:g}"
    needless = "no" in advice["collect"].values()
    chosen = f"Who collects them all the same does best with {best}, as far as found."
    if not needless:
        chosen = f"The best way found to collect {collected} is {best}."
    close = [row for row in advice["candidates"][1:] if row["behind"] <= row["margin"]]
    rest = "Every other setting was worse beyond noise."
    if close:
        many = f"{len(close)} other settings are" if len(close) > 1 else "One other setting is"
        rest = f"{many} within noise of it (next: {_described(close[0])}), so the choice among these is open."
    answers = [_answer(advice, part) for part in advice["comparison"]]
    places = len(next(iter(advice["comparison"].values())))
    chance = (
        f"Each world was drawn {advice['seeds']} times anew and compared in pairs, with 95 % confidence: without any "
        f"gain, one of the {places} worlds would still show one in up to {math.ceil(places * 2.5)} of 100 simulations. "
        "Real people may be like none of these worlds."
    )
    return " ".join([*answers, chosen, rest, chance] if needless else [chosen, rest, *answers, chance])


def next_commands(advice: Mapping[str, Any]) -> list[str]:
    """What to type next, as it stands; DIRECTORY is for a directory of one's own (edges, nodes, schema.json).

    The guarantee of what should be collected, and a run that shows the controls beside the system.
    """
    best = advice["recommended"]
    budgets = [f"--epsilon-{part} {value:g}" for part, value in best["epsilons"].items()]
    shape = f"--dimension {advice['features']} --classes {advice['classes']}"
    hops = best["settings"].get("hops", best["settings"].get("feature_hops"))
    known = {field.name: field.default for field in fields(SYSTEMS[best["system"]])}
    changed = {k: v for k, v in best["settings"].items() if k not in _LEFT_OUT and v != known[k]}
    others = [f"--set {name}={_toml(value)}" for name, value in sorted(changed.items())]
    source = advice["source"]
    dataset = source if source in KNOWN or Path(source).is_dir() or source.endswith(".npz") else "DIRECTORY"
    far = [] if hops is None else [f"--hops {hops}"]
    run = " ".join([f"privet run {best['system']} --dataset {shlex.quote(dataset)}", *budgets, *far, *others])
    if advice["collect"]["features"] != "no":
        return [" ".join([f"privet account {best['system']}", *budgets, shape]), run]
    whole = f"--epsilon {advice['budget']:g}"
    if "labels" in best["epsilons"]:
        return [f"privet account randomized-response {whole} --classes {advice['classes']}", run]
    if "edges" in best["epsilons"]:
        return [f"privet account adjacency-response {whole} --num-nodes {advice['nodes']} --one-sided", run]
    return [run]


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
    title = f"What {_NAMES[part]} add, accuracy (%); without them: {rival}"
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
    other = f"{rival['system']}{spent}"
    helped = [row for row in rows if row["helps"]]
    if not helped:
        alone = "The structure alone does as well" if part == "features" else "Other data alone do as well"
        least = f"{advice['worth']:g} point{'' if advice['worth'] == 1 else 's'}"
        return (
            f"Do not collect {what}. {alone}: in none of the {len(rows)} worlds did they gain {least} beyond noise "
            f"over {other}, so they need not be collected at all."
        )
    least_gain, most_gain = min(row["gain"] for row in helped), max(row["gain"] for row in helped)
    points = f"{least_gain:.1f} to {most_gain:.1f} points" if len(helped) > 1 else f"{most_gain:.1f} points"
    if len(helped) == len(rows):
        return f"Collecting {what} is worth it in all {len(rows)} worlds: they gain {points} over {other}."
    return (
        f"Collecting {what} is worth it in {len(helped)} of {len(rows)} worlds ({_where(rows)}), where they gain "
        f"{points} over {other}; in the others they need not be collected. Collect them only if there is reason to "
        "expect such a world, and try a small pilot first."
    )


def _where(rows: list[dict[str, Any]]) -> str:
    """The worlds that helped, or those that did not if they are fewer."""
    helped = [row for row in rows if row["helps"]]
    few = helped if 2 * len(helped) <= len(rows) else [row for row in rows if not row["helps"]]
    named = "; ".join(f"{row['signal']} signal with {row['homophily']} homophily" for row in few)
    return named if few is helped else f"all but {named}"


def _described(row: Mapping[str, Any]) -> str:
    far = f" and K = {row['hops']}" if row["hops"] else ""
    return f"{row['system']} with {row['mechanism']}, {_split(row)}{far}"


def _split(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{part} {value:g}" for part, value in row["epsilons"].items()) or "nothing private"


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
