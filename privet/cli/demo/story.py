"""The demo's first four parts: one answer a person, friend lists that stay on devices, a trusted holder, and claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.console import Console

from privet.auditing import audit
from privet.auditing.central.sequential import audit_sequentially
from privet.cli.render.screen import print_rows
from privet.data import Graph, social_graph
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import Result
from privet.mechanisms import MECHANISMS
from privet.systems import LPGNN, CentralSystem, HeterPoisson, Inquiry, Structure, System
from privet.systems.controls import Control, simulate

__all__ = ["show_answers", "show_claims", "show_friends", "show_holder"]

Progress = Callable[[str], None]

INTERESTS: dict[str, Any] = {
    "classes": 3,
    "average_degree": 9,
    "homophily": 0.55,
    "features": 200,
    "active_features": 16,
    "feature_signal": 0.6,
}
"""Friends are alike a little, and people's features tell more than their friends do."""

CAMPUS: dict[str, Any] = {"classes": 5, "average_degree": 75, "homophily": 0.38, "features": 8}
"""Dense friendships, as real people have them."""

REGISTER: dict[str, Any] = {"classes": 4, "average_degree": 10, "homophily": 0.8, "features": 16, "active_features": 4}
"""Friends are much alike, and features tell a little."""

TUNED: dict[str, Any] = {"hops": 4, "num_layers": 3, "weight_decay": 0.1, "self_loops": True}
"""LPGNN's settings: the best of 60 by validation labels, on four such societies that the demo does not show."""

_RAW_GRAPH = Control(
    "raw_graph",
    "raw graph",
    "the same graph seen raw, by a strong model of the structure",
    lambda system, graph, seed: simulate(Structure(), graph, seed),
)


def show_answers(console: Console, nodes: int, seed: int, seeds: int, progress: Progress) -> list[Result]:
    """Compare a noisy copy of everybody's features with one answer a person, both at epsilon 2."""
    graph = social_graph(nodes, **INTERESTS, seed=seed)
    name = "a synthetic society"
    inquiry = Inquiry(epsilon_features=2.0, panel=0.1)
    answers = _measured(inquiry, graph, seeds, _controls(inquiry, "structure", "panel_only"), name, progress)
    lpgnn = LPGNN(epsilon_features=2.0, **TUNED)
    copies = _measured(lpgnn, graph, seeds, _controls(lpgnn, "structure_only"), name, progress)
    print_rows(
        console,
        f"{graph.num_nodes:,} people, {graph.num_edges:,} public friendships, 200 private features, 3 classes",
        ("what the server asks for", "epsilon", "right (%)"),
        [
            ("nothing: the public structure alone", "0", _mean(answers, "structure")),
            ("a noisy copy of the features (LPGNN)", "2", _mean(copies)),
            ("  the same pipeline, reports without information", "0", _mean(copies, "structure_only")),
            ("one answer a person (Inquiry)", "2", f"[bold]{_mean(answers)}[/]"),
            ("  its panel of 10 % who show their features, no answers", "", _mean(answers, "panel_only")),
        ],
    )
    copied = copies.mean - copies.controls["structure_only"].mean
    answered = answers.mean - max(each.mean for each in answers.controls.values())
    _say(
        console,
        f"a noisy copy of the features is worth {copied:+.1f} points over reports without information, and one "
        f"answer a person is worth {answered:+.1f} points over everything that does without it.",
    )
    return [answers, copies]


def show_friends(console: Console, nodes: int, seed: int, seeds: int, progress: Progress) -> list[Result]:
    """Compare friends that are counted on devices with the same graph seen raw, and with nothing."""
    graph = social_graph(nodes, **CAMPUS, seed=seed)
    inquiry = Inquiry(epsilon_edges=0.5)  # a relationship is on two lists: it costs twice as much
    controls = (*_controls(inquiry, "structure"), _RAW_GRAPH)
    counts = _measured(inquiry, graph, seeds, controls, "a synthetic campus", progress)
    print_rows(
        console,
        f"{graph.num_nodes:,} people with {2 * graph.num_edges / graph.num_nodes:.0f} friends each, 5 classes",
        ("what the server sees of friendships", "epsilon", "right (%)"),
        [
            ("nothing, and no other data: the most frequent class", "0", _mean(counts, "structure")),
            ("5 noisy counts from each device (Inquiry)", "1", f"[bold]{_mean(counts)}[/]"),
            ("the whole graph, raw", "none", _mean(counts, "raw_graph")),
        ],
    )
    raw, nothing = counts.controls["raw_graph"].mean, counts.controls["structure"].mean
    _say(
        console,
        f"with epsilon {counts.guarantee.epsilon:g} for a relationship, devices that keep their lists give "
        f"{100 * (counts.mean - nothing) / (raw - nothing):.0f} % of what the raw graph would add to no data "
        f"({counts.mean:.1f}; raw {raw:.1f}, nothing {nothing:.1f}).",
    )
    return [counts]


def show_holder(console: Console, nodes: int, seed: int, seeds: int, progress: Progress) -> list[Result]:
    """Compare HeterPoisson with every other private model that gives the same promise."""
    graph = social_graph(nodes, **REGISTER, seed=seed)
    system = HeterPoisson(target_epsilon=4.0, batch_size=nodes // 5)
    private = ("structure_alone", "private_mlp", "smoothed_mlp", "gap", "progap", "ndp", "dpar")
    trained = _measured(system, graph, seeds, _controls(system, *private), "a synthetic register", progress)
    known = trained.split.train if trained.split is not None else 0
    ranked = sorted(trained.controls.values(), key=lambda each: -each.mean)
    print_rows(
        console,
        f"{known:,} of {graph.num_nodes:,} people train a holder's model and are protected whole",
        ("private model", "epsilon", "right (%)"),
        [
            ("HeterPoisson", f"{trained.guarantee.epsilon:.3g}", f"[bold]{trained.mean:.1f}[/]"),
            (f"  the strongest of {len(ranked)} controls ({ranked[0].short})", "same", f"{ranked[0].mean:.1f}"),
            ("  a perceptron that sees no friendship (DP-MLP)", "same", _mean(trained, "private_mlp")),
        ],
    )
    lead = trained.mean - ranked[0].mean
    _say(
        console,
        f"the graph is worth {trained.mean - trained.controls['private_mlp'].mean:+.1f} points to a holder who must "
        f"not tell who is in it; HeterPoisson is {abs(lead):.1f} points {'above' if lead >= 0 else 'below'} the "
        "strongest control.",
    )
    return [trained]


def show_claims(console: Console, seed: int, runs: int, progress: Progress) -> None:
    """List every report of each mechanism that a paper promises too much of, and attack a published training run.

    Args:
        console: Where to print.
        seed: The seed of the attack.
        runs: The most training runs of the attack.
        progress: Called with a few words before each audit.
    """
    broken = []
    for kind in MECHANISMS.values():
        mechanism = kind(**{**kind.example, **kind.small})
        published = mechanism.guarantee().published_epsilon
        if published is None:
            continue
        progress(f"listing the reports of {mechanism.name}")
        found = audit(mechanism, replace(mechanism.guarantee(), epsilon=published))
        broken.append(not found.holds)
        console.print(
            f"RGNN's sampler ({mechanism.name}) is published as {found.claim:.3f}-LDP. Its {found.num_reports} "
            f"reports, listed in exact arithmetic, have {found.epsilon:.3f}: {_verdict(broken[-1])}."
        )
    progress("training with and without canaries")
    attack = audit_sequentially(noise="sml", runs=runs, seed=seed)
    broken.append(attack.broken)
    trained = "1 training run" if attack.runs == 1 else f"{attack.runs} training runs"
    console.print(
        f"A training run with HeterPoisson's published SML noise is said to have epsilon {attack.claim:.3g}. After "
        f"{trained} with {attack.canaries:,} canaries it has at least {attack.epsilon_lower:.2f}: "
        f"{_verdict(attack.broken)} (95 % confidence)."
    )
    console.print(
        f"[bold]Seen:[/] {sum(broken)} of {len(broken)} published claims break; privet reports the true epsilon and "
        "keeps the claim as published_epsilon."
    )


def _measured(
    system: System, graph: Graph, seeds: int, controls: tuple[Control, ...], dataset: str, progress: Progress
) -> Result:
    """Measure now, whatever was kept of an earlier demo."""
    return evaluate(system, graph, seeds, controls=controls, dataset=dataset, store=Store(None), progress=progress)


def _controls(system: Inquiry | LPGNN | CentralSystem, *keys: str) -> tuple[Control, ...]:
    known = {control.key: control for control in system.controls()}
    return tuple(known[key] for key in keys)


def _mean(result: Result, control: str | None = None) -> str:
    return f"{result.mean if control is None else result.controls[control].mean:.1f}"


def _say(console: Console, finding: str) -> None:
    console.print(f"[bold]Seen:[/] {finding}")


def _verdict(broken: bool) -> str:
    return "[bold red]it does not hold[/]" if broken else "it stands"
