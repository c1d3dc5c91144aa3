"""Every mechanism with its promise and error, and every system beside its controls, for ``privet demo --all``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from privet.auditing import audit
from privet.cli.render.screen import print_rows
from privet.data import Graph, group_columns
from privet.data.population import Population
from privet.errors import PrivetError
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import Result
from privet.mechanisms import MECHANISMS, Mechanism, OfferedResponse, SeededBits
from privet.mechanisms.core.shapes import ListShape
from privet.release import ASKS, Ask, PrivateData
from privet.release.asks.friends import Friends
from privet.release.asks.resemblance import Resemblance
from privet.systems import SYSTEMS
from privet.systems.presets import demonstrated

__all__ = ["show_mechanisms", "show_systems"]

_LIST_EPSILON = 7.0  # a list has one bit a person, nearly all of them 0
_UNITS = {"feature vector": "features", "label": "label", "neighbour list bit": "list bit"}
_LETTERS = {
    "feature vector": "F", "label": "L", "relationship": "R", "friend list": "FL", "person": "P", " and ": " + ",
}  # fmt: skip


def show_mechanisms(console: Console, graph: Graph, seed: int, progress: Callable[[str], None]) -> None:
    """Perturb everybody's data, estimate the population's means from the reports, and audit each mechanism.

    Args:
        console: Where to print.
        graph: The people.
        seed: The seed of the simulation.
        progress: Called with each mechanism's name.
    """
    rows = []
    for mechanism, small, values, sizes in _cases(graph):
        progress(mechanism.name)
        rows.append(_row(mechanism, small, values, sizes, SeededBits(seed)))
    columns = ("mechanism", "protects", "eps", "checked", "bytes", "error", "expected")
    print_rows(console, "What each mechanism sends, promises and is worth", columns, rows, words=2, wrap=True)
    console.print(
        "'checked' is the largest log likelihood ratio over every report of a small version of the mechanism, found by "
        "rational arithmetic, and the epsilon of that version (d: its delta). 'error' is the root mean square error of "
        "the means that the server estimates from the reports, 'expected' what the mechanism's variance predicts."
    )


def _cases(graph: Graph) -> Iterator[tuple[Mechanism, Mechanism, Any, tuple[int, ...]]]:
    """Each mechanism, a version small enough to enumerate, the people's true values, and the categories of a value.

    Features are asked as they are or, where a mechanism is for categories, as categories.
    """
    for kind in MECHANISMS.values():
        small = kind(**{**kind.example, **kind.small})
        epsilon = _LIST_EPSILON if isinstance(small.shape, ListShape) else 1.0
        other = {name: value for name, value in kind.example.items() if name not in kind.implied}
        declared = {name: value for name, value in other.items() if not name.startswith("epsilon")}
        for view in (graph, group_columns(graph, 1)):
            try:
                mechanism = kind.declare(view, epsilon=epsilon, **declared)
                asks = (each() for name, each in ASKS.items() if not name.startswith("person"))
                ask = next(_ready(each, view) for each in asks if _suits(each, mechanism))
            except (PrivetError, StopIteration):
                continue
            facts = Population.of(view)
            offered = (mechanism.most,) if isinstance(mechanism, OfferedResponse) else None
            sizes = offered or ((facts.classes,) if ask.name == "label" else () if view is graph else facts.categories)
            yield mechanism, small, ask.apply(PrivateData.of(view), mechanism), sizes
            break


def _ready(ask: Ask, graph: Graph) -> Ask:
    """Attach what the server would publish: here any classes, and a scorer that prefers some class by each feature."""
    facts = Population.of(graph)
    people, classes = np.arange(facts.num_nodes), np.arange(facts.classes)
    if isinstance(ask, Friends):
        return ask.attach(table=people % facts.classes, ranks=people)
    if isinstance(ask, Resemblance):
        prefers = np.arange(facts.dimension + 1)[:, None] % facts.classes == classes
        return ask.attach(scorer=prefers.astype(np.int32), offers=np.tile(classes, (len(people), 1)))
    return ask


def _suits(ask: Any, mechanism: Mechanism) -> bool:
    try:
        ask.check_mechanism(mechanism)
    except PrivetError:
        return False
    return True


def _row(mechanism: Mechanism, small: Mechanism, values: Any, sizes: tuple[int, ...], bits: SeededBits) -> list[str]:
    reports = mechanism.perturb(values, bits)
    means = mechanism.estimate(reports).mean()
    error = float(np.sqrt(np.mean((means - _true_means(values, sizes)) ** 2)))
    expected = float(np.sqrt(np.mean(mechanism.variance(values)) / len(reports)))
    guarantee = mechanism.guarantee()
    checked = audit(small)
    found = f"{checked.epsilon:.4f}" if not guarantee.delta else f"d {checked.delta:.1g}"
    shown = f"{found} of {small.guarantee().epsilon:g}" if not guarantee.delta else found
    size = len(reports.to_bytes()) / len(reports)
    return [
        mechanism.name,
        _UNITS[str(guarantee.unit)],
        f"{guarantee.epsilon:g}",
        shown if checked.holds else f"[red]broken: {shown}",
        f"{size:.0f}",
        f"{error:.4f}",
        f"{expected:.4f}",
    ]


def _true_means(values: Any, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """The population's means: of numbers, or of each category of each value."""
    if not sizes:
        return np.asarray(values.mean(axis=0), dtype=np.float64).ravel()
    codes = np.asarray(values.todense() if hasattr(values, "todense") else values, dtype=np.int64)
    codes = codes.reshape(len(codes), -1)
    shares = [np.bincount(codes[:, place], minlength=size) for place, size in enumerate(sizes)]
    return np.concatenate(shares) / len(codes)


def show_systems(console: Console, graph: Graph, seeds: int, progress: Callable[[str], None]) -> list[Result]:
    """Measure all of them, print two tables, and return the results.

    Args:
        console: Where to print.
        graph: The people.
        seeds: The number of seeds.
        progress: Called with a few words after each training.
    """
    cases = [(kind(**settings), view) for name, kind in SYSTEMS.items() for settings, view in demonstrated(name, graph)]
    store = Store(None)  # controls that systems share are measured once
    results = [
        evaluate(system, view, seeds, dataset="a synthetic society", store=store, progress=progress)
        for system, view in cases
    ]
    for model, title in (
        ("local", "Devices perturb (local model)"),
        ("central", "A trusted holder trains (central model)"),
    ):
        _print_model(console, f"{title}, right (%)", [result for result in results if result.guarantee.model == model])
    console.print(
        "F: feature vector, L: label, R: relationship, P: everything on a device. 'structure' asks nobody, 'no info' "
        "runs the same pipeline on reports that carry no information, and the DP-MLP sees no edge: where a control "
        "does as well, the private data, or the graph, need not have been used."
    )
    return results


def _print_model(console: Console, title: str, results: list[Result]) -> None:
    """Print one column a system and one row a control."""
    shorts = {key: figures.short for result in results for key, figures in result.controls.items()}
    rows = [
        ("protects", *(_protected(result) for result in results)),
        ("true epsilon", *(f"{result.guarantee.epsilon:.3g}" for result in results)),
        ("[bold]private", *(f"[bold]{result.mean:.1f}" for result in results)),
    ]
    for key, short in shorts.items():
        figures = (result.controls.get(key) for result in results)
        rows.append((short, *("" if each is None else f"{each.mean:.1f}" for each in figures)))
    print_rows(console, title, ("", *(result.system for result in results)), rows)


def _protected(result: Result) -> str:
    unit = str(result.guarantee.unit)
    for long, short in _LETTERS.items():
        unit = unit.replace(long, short)
    return unit
