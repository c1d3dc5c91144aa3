"""`privet demo`: every mechanism and system on a synthetic social graph, and what each promises and is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from privet.auditing import audit
from privet.data import Graph, group_columns, social_graph
from privet.mechanisms import (
    HDS,
    AdjacencyResponse,
    AnalyticGaussian,
    DegreeResponse,
    Laplace,
    Mechanism,
    MultiBit,
    Piecewise,
    RandomizedResponse,
    SampledResponse,
    SeededBits,
)

__all__ = ["run_demo"]

_FEATURES = 16
_SHORT = {"feature vector": "features", "label": "label", "neighbour list bit": "list bit"}


def run_demo(nodes: int, seed: int) -> None:
    """Perturb everybody's data, estimate the population's means from the reports, and audit each mechanism."""
    console = Console()
    graph = social_graph(nodes, features=_FEATURES, active_features=4, seed=seed)
    console.print(
        f"A synthetic social graph: {graph.num_nodes:,} people, {graph.num_edges:,} friendships, "
        f"{_FEATURES} yes/no features, 4 classes. Nothing raw leaves a person's device."
    )
    table = Table(title="What each mechanism sends, promises and is worth", title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("mechanism", "protects", "eps", "checked", "bytes", "error", "expected"):
        words = column in ("mechanism", "protects")
        table.add_column(column, justify="left" if words else "right", no_wrap=column == "mechanism")
    rows = list(_cases(graph))
    for mechanism, small, values in track(rows, "perturbing and auditing", console=console, transient=True):
        table.add_row(*_row(mechanism, small, values, SeededBits(seed)))
    console.print(table)
    console.print(
        "'checked' is the largest log likelihood ratio over every report of a small version of the mechanism, "
        "found by rational arithmetic (d: its delta). 'error' is the root mean square error of the means that "
        "the server estimates from the reports, 'expected' what the mechanism's variance predicts."
    )
    _show_broken_claim(console)
    _show_systems(console, graph, seed)
    _show_central(console, graph, seed)
    console.print(
        "Next: [bold]privet account multi-bit --help[/], [bold]privet audit --help[/], [bold]privet run --help[/]"
    )


def _cases(graph: Graph) -> Iterator[tuple[Mechanism, Mechanism, Any]]:
    """Each mechanism at epsilon 1 (lists: 7), a version small enough to enumerate, and the people's true values."""
    wide: dict[str, Any] = {"epsilon": 1.0, "dimension": _FEATURES, "low": 0.0, "high": 1.0}
    small: dict[str, Any] = {"epsilon": 1.0, "dimension": 2, "low": 0.0, "high": 1.0}
    yield MultiBit(**wide), MultiBit(**small), graph.features
    for kind in (HDS, Piecewise):
        yield kind(**wide), kind(**small, steps=16), graph.features
    yield Laplace(**wide), Laplace(**small | {"steps": 40}), graph.features
    tiny = AnalyticGaussian(**small | {"dimension": 1}, delta=1e-4)
    yield AnalyticGaussian(**wide, delta=1e-4), tiny, graph.features
    answers = SampledResponse(epsilon_per_feature=0.5, categories=(2,) * _FEATURES, sample=2)
    yield answers, replace(answers, categories=(2,) * 4), graph.features
    labels = RandomizedResponse(epsilon=1.0, classes=4)
    yield labels, labels, graph.labels
    degrees = DegreeResponse(epsilon=1.0, num_nodes=graph.num_nodes)
    yield degrees, replace(degrees, num_nodes=4, steps=8), graph.degrees
    lists = AdjacencyResponse(epsilon=7.0, num_nodes=graph.num_nodes)
    yield lists, replace(lists, num_nodes=5), graph.adjacency


def _row(mechanism: Mechanism, small: Mechanism, values: Any, bits: SeededBits) -> list[str]:
    reports = mechanism.perturb(values, bits)
    means = mechanism.estimate(reports).mean()
    error = float(np.sqrt(np.mean((means - _true_means(mechanism, values)) ** 2)))
    expected = float(np.sqrt(np.mean(mechanism.variance(values)) / len(reports)))
    guarantee = mechanism.guarantee()
    checked = audit(small)
    shown = f"{checked.epsilon:.4f}" if not guarantee.delta else f"d {checked.delta:.1g}"
    size = len(reports.to_bytes()) / len(reports)
    return [
        mechanism.name,
        _SHORT[str(guarantee.unit)],
        f"{guarantee.epsilon:g}",
        shown if checked.holds else f"[red]broken: {shown}",
        f"{size:.0f}",
        f"{error:.4f}",
        f"{expected:.4f}",
    ]


def _true_means(mechanism: Mechanism, values: Any) -> Any:
    if isinstance(mechanism, RandomizedResponse):
        return np.bincount(values, minlength=mechanism.classes) / len(values)
    means = np.asarray(values.mean(axis=0)).ravel()
    if isinstance(mechanism, SampledResponse):
        return np.stack([1 - means, means], axis=1).ravel()
    return means


def _show_systems(console: Console, graph: Graph, seed: int) -> None:
    """Each system at epsilon 1 beside two controls: what the private features were worth on this graph."""
    from privet.experiments.measure import measure, seeded_split

    kinds = {"private": "private", "structure_only": "structure only", "label_propagation": "label propagation"}
    table = Table(
        title="\nThe systems on the same graph, test accuracy in per cent", title_justify="left", box=box.SIMPLE_HEAD
    )
    for column in ("system", "protects", "epsilon", *kinds.values()):
        table.add_column(column, justify="left" if column in ("system", "protects") else "right")
    split = seeded_split(graph, seed)
    for system, view in track(_systems(split), "training", console=console, transient=True):
        guarantee = system.guarantee(view.schema)
        scores = [100 * measure(kind, system, view, seed)["test"] for kind in kinds]
        figures = [f"{score:.1f}" for score in scores]
        table.add_row(system.name, str(guarantee.unit), f"{guarantee.epsilon:g}", *figures)
    console.print(table)
    console.print(
        "'structure only' is the same pipeline on reports that carry no information: where it does as well, the "
        "private features need not have been collected."
    )


def _systems(graph: Graph) -> list[tuple[Any, Any]]:
    from privet.systems import LPGNN, RGNN, PrivGE, Solitude

    return [
        (LPGNN(hops=4, max_epochs=100), graph),
        (LPGNN(hops=4, max_epochs=100, epsilon_labels=2.0), graph),
        (PrivGE(alpha=0.05, r=0.0, scale=10.0, dropout=0.1, weight_decay=0.0, max_epochs=100), graph),
        (RGNN(sample=4, epsilon_labels=2.0), group_columns(graph, 1)),
        (Solitude(epsilon_edges=7.0, max_epochs=100), graph),
    ]


def _show_central(console: Console, graph: Graph, seed: int) -> None:
    """Both systems of the central model beside the control that never sees an edge."""
    from privet.experiments.central import measure_central
    from privet.systems import HeterPoisson, SmoothedMLP

    table = Table(
        title="\nA trusted holder trains (central model), test accuracy in per cent",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for column in ("system", "protects", "epsilon", "delta", "private", "DP-MLP", "not private"):
        words = column in ("system", "protects")
        table.add_column(column, justify="left" if words else "right", no_wrap=words)
    size = max(50, graph.num_nodes // 5)
    options: dict[str, Any] = {"noise_multiplier": 4.0, "batch_size": size}
    systems = [HeterPoisson(multiplier=0.0, **options), SmoothedMLP(**options)]
    for system in track(systems, "training", console=console, transient=True):
        guarantee = system.promise(graph)
        if guarantee is None:
            raise AssertionError("noise was asked for")
        kinds = ("private", "private_mlp", "non_private")
        figures = [f"{100 * measure_central(kind, system, graph, seed)['test']:.1f}" for kind in kinds]
        table.add_row(system.name, str(guarantee.unit), f"{guarantee.epsilon:.2f}", f"{guarantee.delta:.1g}", *figures)
    console.print(table)
    console.print("'DP-MLP' sees no edge: where it does as well, the graph need not have been used.")


def _show_broken_claim(console: Console) -> None:
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 2, 2, 2), sample=2)
    published = replace(mechanism.guarantee(), epsilon=mechanism.published_epsilon)
    found = audit(mechanism, published)
    verdict = "it does not hold" if not found.holds else "it holds"
    console.print(
        f"\nA published claim put to the test: GRR-FS with 2 of 4 features at eps_x = 1 is said to be "
        f"{found.claim:.3f}-LDP. Listing its {found.num_reports} reports gives {found.epsilon:.3f}: {verdict}. "
        "privet reports the true figure and keeps the claim as published_epsilon."
    )
