"""Advice on the screen: what was simulated, the candidates, the worlds, the paragraph, what to type next."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np
from rich.console import Console

from privet.advice.plan import Advice, Way
from privet.advice.words import NAMES
from privet.cli.render.screen import print_rows
from privet.data import KNOWN, Graph, Schema
from privet.release import LocalRelease
from privet.systems import SYSTEMS, System

__all__ = ["next_commands", "print_advice"]

_SHOWN = 8
_HOPS = ("hops", "feature_hops")
_LEFT_OUT = {*_HOPS, "seed", "max_epochs", "patience"}


def print_advice(advice: Advice) -> None:
    """Print what was simulated, the candidates, the worlds, the recommendation and the next commands."""
    console = Console()
    console.print(_simulated(advice))
    _print_candidates(console, advice)
    for part in advice.comparison:
        _print_comparison(console, advice, part)
    console.print(advice.advice)
    console.print("\nNext:")
    for command in next_commands(advice):
        console.print(f"  {command}", highlight=False, soft_wrap=True, markup=False)


def next_commands(advice: Advice) -> list[str]:
    """Return what to type next; words in capitals stand for one's own: a DIRECTORY has edges, nodes and schema.json.

    That is the guarantee of what should be collected, a run that shows the controls beside the system, and a study.
    """
    best = advice.chosen if advice.chosen.system in SYSTEMS else advice.recommended
    budgets = [f"--epsilon-{part} {value:.12g}" for part, value in best.epsilons.items()]
    kind = SYSTEMS.find(best.system)
    known = {field.name: field.default for field in fields(kind)}
    changed = {
        name: value
        for name, value in best.settings.items()
        if name not in _LEFT_OUT and not name.startswith("epsilon_") and _plain(value) != known[name]
    }
    others = [f"--set {name}={_toml(value)}" for name, value in sorted(changed.items())]
    source = advice.source
    dataset = source if source in KNOWN or Path(source).is_dir() or source.endswith(".npz") else "DIRECTORY"
    far = next((f"--hops {best.settings[name]}" for name in _HOPS if name in best.settings), "")
    run = f"privet run {best.system} --dataset {shlex.quote(dataset)}"
    run = " ".join([run, *budgets, *filter(None, [far]), *others])
    if advice.collect["features"] != "no" or best is advice.chosen:
        shape = f"--dimension {advice.features} --classes {advice.classes}"
        account = " ".join([f"privet account {best.system}", *budgets, shape])
        asked = {question.name for question in _release(kind, best, advice).questions}
        if advice.collect["features"] == "no" or not asked <= {"features", "label", "neighbours"}:
            return [account, run]  # a study with a mechanism asks once, and for features
        changes = {"people.nodes": advice.nodes, "mechanism.name": best.mechanism}
        changes |= {"mechanism.sample": best.sample} if best.sample else {}
        changes |= {f"budgets.{part}": f"{value:.12g}" for part, value in best.epsilons.items()}
        study = [f"--set {key}={value}" for key, value in changes.items()]
        return [account, run, " ".join(["privet study new study.toml", *study])]
    rest = _release(kind, best, advice).lines()[1:2]
    shapes = {"labels": f"--classes {advice.classes}", "edges": f"--num-nodes {advice.nodes} --one-sided"}
    shape = next((text for part, text in shapes.items() if part in best.epsilons), "")
    return [*(f"privet account {line.mechanism} --epsilon {advice.budget:g} {shape}" for line in rest), run]


def _release(kind: type[System], way: Way, advice: Advice) -> LocalRelease:
    """Return what a system would ask people for, about a few features."""
    schema = Schema.categorical([2] * 16, classes=advice.classes)
    public = Graph.from_edges(np.empty((2, 0), dtype=np.int64), 2, schema=schema)
    return cast(LocalRelease, kind(**way.settings).release(public))


def _simulated(advice: Advice) -> str:
    seen = f"{advice.source}: {advice.nodes:,} people, {advice.degree:.1f} contacts each."
    if advice.simulated_nodes < advice.nodes:
        seen += (
            f" Simulated on a region of it with {advice.simulated_nodes:,} people and "
            f"{advice.simulated_degree:.1f} contacts each."
        )
    levels = ", ".join(
        f"{name} {level['follow']:.0%} (edges within a class: {level['edges']:.0%})"
        for name, level in advice.homophily.items()
    )
    signals = ", ".join(f"{name} {share:.0%}" for name, share in advice.signal.items())
    return (
        f"{seen} Everything about people below is synthetic: {advice.features} features and {advice.classes} classes "
        f"as declared; nothing private was read. Worlds: people who have their community's class: {levels}; features "
        f"that the class decides: {signals}."
    )


def _print_candidates(console: Console, advice: Advice) -> None:
    parts = [
        part
        for part in ("features", "labels", "edges", "person")
        if part in advice.protect or any(part in way.epsilons for way in advice.candidates)
    ]
    first = {way.system: place for place, way in reversed(list(enumerate(advice.candidates)))}
    shown = [way for place, way in enumerate(advice.candidates) if place < _SHOWN or place in first.values()]
    rows = []
    for way in [*shown, *advice.without.values()]:
        budget = [f"{way.epsilons[part]:g}" if part in way.epsilons else "-" for part in parts]
        behind = "" if way is advice.candidates[0] else f"{way.behind:.1f} ± {way.margin:.1f}"
        rows.append((way.system, way.mechanism_words, *budget, way.hops or "-", f"{way.mean:.1f}", behind))
    title = "\nWays to spend the budget, best first: epsilon of each part, K hops, accuracy (%), points behind"
    print_rows(console, title, ("system", "mechanism", *parts, "K", "right", "behind"), rows, words=2, keys=2)


def _print_comparison(console: Console, advice: Advice, part: str) -> None:
    rows = []
    for row in advice.comparison[part]:
        helps = "yes" if row.helps else "open" if row.open else "no"
        figures = (f"{row.collected:.1f}", f"{row.without:.1f}", f"{row.gain:+.1f} ± {row.margin:.1f}")
        rows.append((row.signal, row.homophily, *figures, helps))
    title = f"What {NAMES[part]} add, accuracy (%); without them: {advice.without[part].system}"
    columns = ("signal of features", "homophily", "with", "without", "gain", "worth it")
    print_rows(console, title, columns, rows, words=2, keys=2)


def _plain(value: Any) -> Any:
    """Return a list as the tuple that it was before it went through JSON."""
    return tuple(value) if isinstance(value, list) else value


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
