"""One driver for every figure: it describes the figure, reads it from the store, or measures it, perhaps in processes.

Evaluations, sweeps, tables, attacks and advice each say what their figures are (a :class:`Work`); keys, stores, threads
and processes are the driver's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from privet.data import Graph, Split
from privet.errors import InvalidParameter
from privet.estimation.priors.shelf import lent
from privet.evaluation.cache import ArrayShelf, Store, canonical, program_digest
from privet.evaluation.workers import measure_in_processes, peak_rss_mb, threads_for
from privet.graph.memory import topology_of
from privet.systems import System

__all__ = ["Described", "Figure", "Measured", "Work", "data_digest", "is_described", "measured", "seed_numbers"]

_CSR = ("indptr", "indices", "data")
_PYTHON = ("abc", "builtins", "typing")
_RECENT = 4  # graphs whose digest is remembered


class Figure(Protocol):
    """A measured figure, which the store keeps as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Read what :meth:`to_dict` made."""


T = TypeVar("T", bound=Hashable)
F = TypeVar("F", bound=Figure)
T_contra = TypeVar("T_contra", bound=Hashable, contravariant=True)
F_co = TypeVar("F_co", bound=Figure, covariant=True)


class Subject(Protocol):
    """Something with settings that decide a figure: a system, or what stands for it."""

    @property
    def name(self) -> str:
        """Its name."""

    def settings(self) -> dict[str, Any]:
        """Return its settings by name."""


@dataclass(frozen=True)
class Described:
    """Everything that decides a figure, beside the graph and the program.

    Attributes:
        name: The figure's name.
        system: The system that is measured; its program must be privet's for a figure to be kept in a cache.
        subject: The system, or what stands for it, whose settings decide the figure. Equal subjects have equal
            figures, which are measured once.
        seed: The seed of the training.
        more: Whatever else decides the figure, as JSON can hold it.
    """

    name: str
    system: System
    subject: Subject
    seed: int
    more: Mapping[str, Any] = field(default_factory=dict)

    def key(self, data: str, split: Split | None) -> dict[str, Any]:
        """Return the description for the store.

        Args:
            data: The digest of the graph.
            split: The graph's split.
        """
        return {
            "figure": self.name,
            "system": self.subject.name,
            "settings": canonical({**self.subject.settings(), "seed": self.seed}),
            "data": data,
            "split": split_digest(split),
            "program": program_digest(),
            **self.more,
        }


class Work(Protocol[T_contra, F_co]):
    """A set of figures, one for each task. It is picklable, and sent to each process once."""

    @property
    def kind(self) -> type[F_co]:
        """The class of the figures."""

    def graph(self, task: T_contra) -> Graph:
        """Return the graph that a figure is measured on, with its split if it has one."""

    def describe(self, task: T_contra) -> Described:
        """Describe a figure."""

    def measure(self, task: T_contra) -> F_co:
        """Measure a figure."""

    def together(self, task: T_contra) -> Hashable:
        """Return a mark that tasks have in common which share work; one process does them."""


@dataclass(frozen=True)
class Measured(Generic[T, F]):
    """Measured figures.

    Attributes:
        figures: The figure of each task.
        peak_rss_mb: The peak memory of all processes together, in MiB.
    """

    figures: Mapping[T, F]
    peak_rss_mb: float


def measured(
    work: Work[T, F],
    tasks: Sequence[T],
    store: Store,
    *,
    workers: int = 1,
    done: Callable[[T], None] = lambda task: None,
) -> Measured[T, F]:
    """Measure all tasks, those that the store has excepted. Each figure is stored as soon as it is there.

    Args:
        work: Says what is measured, and how.
        tasks: The figures, those that share work side by side.
        store: The finished figures. A cache keeps only what a key describes whole.
        workers: The number of processes; figures do not depend on it.
        done: Called after each figure.
    """
    if workers < 1:
        raise InvalidParameter("workers", "at least 1", workers)
    places, found, peaks = _Places(work, store), dict[T, F](), dict[int, float]()

    def read(task: T) -> bool:
        place = places.of(task)
        document = place.store.get(place.key)
        if document is not None:
            found[task] = work.kind.from_dict(document)
            done(task)
        return document is not None

    def keep(task: T, figure: F) -> None:
        place = places.of(task)
        place.store.compute(place.key, figure.to_dict)
        found[task] = figure
        done(task)

    if workers > 1:
        waiting = [task for task in tasks if not read(task)]
        different = list({places.of(task).mark: task for task in reversed(waiting)}.values())[::-1]
        if len(different) > 1:
            shared = work, (all(places.of(task).store is store for task in different) and store.arrays) or None
            dealt = groups(work, different, workers)
            for task, (figure, process, peak) in measure_in_processes(_measure_for_parent, shared, dealt, workers):
                peaks[process] = peak
                keep(task, figure)
    for task in tasks:
        if task not in found and not read(task):
            keep(task, _measure(work, task, places.of(task).store.arrays))
    return Measured(found, sum((peaks | {os.getpid(): peak_rss_mb()}).values()))


def groups(work: Work[T, F], tasks: Iterable[T], workers: int) -> list[list[T]]:
    """Keep tasks that share work together while they fill all workers; deal out the rest one by one."""
    together: dict[Hashable, list[T]] = {}
    for task in tasks:
        together.setdefault(work.together(task), []).append(task)
    all_groups = list(together.values())
    whole = len(all_groups) // workers * workers
    return all_groups[:whole] + [[task] for group in all_groups[whole:] for task in group]


def seed_numbers(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds, counted from 0 where only their number is given."""
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise InvalidParameter("seeds", "at least 1", seeds)
    return numbers


def is_described(system: System, graph: Graph) -> bool:
    """Return True if a key tells all about a figure: the program is privet's, and the settings are plain values.

    A system of another package may change without a trace, and so may a function or a module that is given to one, or
    a graph on a cluster.

    Args:
        system: The system that is measured.
        graph: The data.
    """
    ours = all(kind.__module__.partition(".")[0] in ("privet", *_PYTHON) for kind in type(system).__mro__)
    given = [getattr(system, each.name) for each in fields(system)]
    values = [each for value in given for each in (value if isinstance(value, tuple | list) else (value,))]
    plain = all(isinstance(value, str | int | float | None) for value in values)
    return ours and plain and topology_of(graph).enumerable


def data_digest(graph: Graph) -> str:
    """Return a digest of everything that a measurement reads beside the split: a file may change under its name."""
    declared = None if graph.schema is None else graph.schema.to_json()
    features = graph.features
    columns = [features] if isinstance(features, np.ndarray | None) else [getattr(features, name) for name in _CSR]
    return _digest(topology_of(graph).digest(), graph.labels, declared, *columns)


def split_digest(split: Split | None) -> str:
    """Return a digest of who trains, who validates and who tests."""
    return "" if split is None else _digest(split.train, split.validation, split.test)


class _Place(NamedTuple):
    store: Store
    key: dict[str, Any]

    @property
    def mark(self) -> tuple[int, str]:
        """A mark that equal figures have in common."""
        return id(self.store), self.store.name(self.key)


class _Places(Generic[T, F]):
    """The store and the key of each figure; graphs that differ in their split alone are digested once."""

    def __init__(self, work: Work[T, F], store: Store) -> None:
        self._work, self._store = work, store
        self._known: dict[T, _Place] = {}
        self._digests: dict[tuple[int, ...], tuple[Graph, str]] = {}

    def of(self, task: T) -> _Place:
        if task not in self._known:
            described, graph = self._work.describe(task), self._work.graph(task)
            whole = self._store.limit is None or is_described(described.system, graph)
            key = described.key(self._data(graph), graph.split)
            self._known[task] = _Place(self._store if whole else self._store.in_memory, key)
        return self._known[task]

    def _data(self, graph: Graph) -> str:
        parts = tuple(map(id, (graph.adjacency, graph.features, graph.labels, graph.schema)))
        if parts not in self._digests:
            if len(self._digests) == _RECENT:
                del self._digests[next(iter(self._digests))]
            self._digests[parts] = graph, data_digest(graph)  # the graph is held, so that no other gets its ids
        return self._digests[parts][1]


def _measure(work: Work[T, F], task: T, arrays: Path | None) -> F:
    with threads_for(work.graph(task)), lent(None if arrays is None else ArrayShelf(arrays)):
        return work.measure(task)


def _measure_for_parent(shared: tuple[Work[T, F], Path | None], task: T) -> tuple[F, int, float]:
    """Measure one figure in a process of its own, and tell which process and its peak memory."""
    work, arrays = shared
    return _measure(work, task, arrays), os.getpid(), peak_rss_mb()


def _digest(*parts: Any) -> str:
    mark = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            mark.update(f"{part.dtype} {part.shape} ".encode() + np.ascontiguousarray(part).tobytes())
        else:
            mark.update(repr(part).encode())
    return mark.hexdigest()[:32]
