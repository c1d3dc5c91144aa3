"""The demo's first part: every mechanism with its report, promise and error, and two published claims that break."""

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
from privet.data import Graph
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

__all__ = ["show_broken_claims", "show_mechanisms"]

_SHORT = {"feature vector": "features", "label": "label", "neighbour list bit": "list bit"}


def show_mechanisms(console: Console, graph: Graph, seed: int) -> None:
    """Perturb everybody's data, estimate the population's means from the reports, and audit each mechanism."""
    table = Table(title="What each mechanism sends, promises and is worth", title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("mechanism", "protects", "eps", "checked", "bytes", "error", "expected"):
        words = column in ("mechanism", "protects")
        table.add_column(column, justify="left" if words else "right", no_wrap=column == "mechanism")
    for mechanism, small, values in track(
        list(_cases(graph)), "perturbing and auditing", console=console, transient=True
    ):
        table.add_row(*_row(mechanism, small, values, SeededBits(seed)))
    console.print(table)
    console.print(
        "'checked' is the largest log likelihood ratio over every report of a small version of the mechanism, "
        "found by rational arithmetic (d: its delta). 'error' is the root mean square error of the means that "
        "the server estimates from the reports, 'expected' what the mechanism's variance predicts."
    )


def show_broken_claims(console: Console, runs: int) -> None:
    """Audit RGNN's randomiser exactly, and play a game of canaries against HeterPoisson's noise."""
    from privet.auditing.canary import audit_process

    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 2, 2, 2), sample=2)
    found = audit(mechanism, replace(mechanism.guarantee(), epsilon=mechanism.published_epsilon))
    console.print("\nTwo published claims put to the test")
    console.print(
        f"  RGNN's randomiser, 2 of 4 features at eps_x = 1, is said to be {found.claim:.3f}-LDP. Listing its "
        f"{found.num_reports} reports gives {found.epsilon:.3f}: {_verdict(not found.holds)}."
    )
    with console.status(f"training {runs:,} models with and without a canary"):
        attacked = audit_process(noise="sml", runs=runs)
    bound = attacked.to_dict()
    console.print(
        f"  HeterPoisson's SML noise is said to give epsilon {bound['claim']:.3g}. {runs:,} training runs with and "
        f"without one node show at least {bound['epsilon_lower']:.2f}: {_verdict(bound['broken'])}."
    )
    console.print("privet reports the true figures and keeps the claims as published_epsilon.")


def _verdict(broken: bool) -> str:
    return "[bold red]it does not hold[/]" if broken else "it stands"


def _cases(graph: Graph) -> Iterator[tuple[Mechanism, Mechanism, Any]]:
    """Each mechanism at epsilon 1 (lists: 7), a version small enough to enumerate, and the people's true values."""
    features = 0 if graph.schema is None else graph.schema.dimension
    wide: dict[str, Any] = {"epsilon": 1.0, "dimension": features, "low": 0.0, "high": 1.0}
    small: dict[str, Any] = {"epsilon": 1.0, "dimension": 2, "low": 0.0, "high": 1.0}
    yield MultiBit(**wide), MultiBit(**small), graph.features
    for kind in (HDS, Piecewise):
        yield kind(**wide), kind(**small, steps=16), graph.features
    yield Laplace(**wide), Laplace(**small | {"steps": 40}), graph.features
    tiny = AnalyticGaussian(**small | {"dimension": 1}, delta=1e-4)
    yield AnalyticGaussian(**wide, delta=1e-4), tiny, graph.features
    answers = SampledResponse(epsilon_per_feature=0.5, categories=(2,) * features, sample=2)
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
