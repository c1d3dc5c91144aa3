"""Every mechanism with its report, promise and error, for ``privet demo --all``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from privet.auditing import audit
from privet.cli.demo.tables import print_rows
from privet.data import Graph, group_columns
from privet.data.population import Population
from privet.errors import PrivetError
from privet.mechanisms import MECHANISMS, Mechanism, OfferedResponse, SeededBits
from privet.mechanisms.core.shapes import ListShape
from privet.release import ASKS, Ask, PrivateData
from privet.release.asks.friends import Friends
from privet.release.asks.resemblance import Resemblance

__all__ = ["show_mechanisms"]

_LIST_EPSILON = 7.0  # a list has one bit a person, nearly all of them 0
_SHORT = {"feature vector": "features", "label": "label", "neighbour list bit": "list bit"}


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
    print_rows(console, "What each mechanism sends, promises and is worth", columns, rows, words=2)
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
                ask = next(_ready(each(), view) for each in ASKS.values() if _suits(each(), mechanism))
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
        _SHORT[str(guarantee.unit)],
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
