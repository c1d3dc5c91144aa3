"""Every figure of an evaluation: from the store, in this process or in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from privet.data import Graph
from privet.estimation.priors.shelf import lent
from privet.evaluation.arrays import ArrayShelf
from privet.evaluation.cache import Store
from privet.evaluation.ceiling import CEILING
from privet.evaluation.keys import data_digest, figure_key, split_digest
from privet.evaluation.scoring import Scores, scored, with_split
from privet.evaluation.threads import threads_for
from privet.evaluation.workers import Worker, measure_in_processes, peak_rss_mb
from privet.systems.controls import Control, simulate

__all__ = ["OWN", "Measuring", "Task"]

OWN = Control("private", "", "", simulate)
"""The system itself, as its first figure."""


@dataclass(frozen=True)
class Task:
    """One figure.

    Attributes:
        seed: The seed of the split and of the training.
        control: The key of the control, or of :data:`OWN`.
    """

    seed: int
    control: str


@dataclass(frozen=True, eq=False)
class Measuring:
    """The measurement of a system and its controls on one graph.

    Attributes:
        system: The system.
        graph: The graph, with or without a split.
        split: The shares of random splits, or None for the graph's own.
        arrays: The directory of structural priors on disk; None for none.
    """

    system: Any
    graph: Graph
    split: tuple[float, float] | None
    arrays: Path | None = None
    _peaks: dict[int, float] = field(default_factory=dict, init=False)

    @property
    def peak_rss_mb(self) -> float:
        """The peak memory of all processes together, in MiB."""
        return sum((self._peaks | {os.getpid(): peak_rss_mb()}).values())

    def figures(
        self,
        tasks: Sequence[Task],
        store: Store,
        workers: int,
        done: Callable[[Task], None] = lambda task: None,
    ) -> dict[Task, Scores]:
        """Measure all tasks, those that the store has excepted.

        Args:
            tasks: The figures, those of one seed together.
            store: The store of finished figures.
            workers: The number of processes.
            done: Called after each figure.
        """
        found: dict[Task, Scores] = {}

        def finish(task: Task, scores: Scores) -> None:
            store.compute(self.key(task), scores.to_dict)
            found[task] = scores
            done(task)

        missing = []
        for task in tasks:
            kept = store.get(self.key(task))
            missing.append(task) if kept is None else finish(task, Scores.from_dict(kept))
        if workers == 1 or len(missing) < 2:
            for task in missing:
                finish(task, self.measure(task))
            return found
        groups = _groups(missing, workers)
        for number, results in measure_in_processes(Worker(_measure, self), groups, workers):
            for task, (scores, process, peak) in zip(groups[number], results, strict=True):
                self._peaks[process] = peak
                finish(task, scores)
        return found

    def measure(self, task: Task) -> Scores:
        """Train and score one figure."""
        view = with_split(self.system, self.graph, task.seed, parts=self.split)
        shelf = None if self.arrays is None else ArrayShelf(self.arrays)
        with threads_for(self.graph), lent(shelf):
            return scored(lambda: self._control(task).trained(self.system, view, task.seed), view)

    def _control(self, task: Task) -> Control:
        known: tuple[Control, ...] = (OWN, *self.system.controls(), CEILING)
        return next(each for each in known if each.key == task.control)

    def key(self, task: Task) -> dict[str, Any]:
        """Describe a figure; controls of different systems that share a subject share their figures."""
        subject = self._control(task).subject(self.system)
        view = with_split(self.system, self.graph, task.seed, parts=self.split)
        return figure_key(task.control, subject, task.seed, data=self._data, split=split_digest(view.split))

    @cached_property
    def _data(self) -> str:
        return data_digest(self.graph)


def _measure(measuring: Measuring, task: Task) -> tuple[Scores, int, float]:
    """Measure one figure in a process of its own, and tell which process and its peak memory."""
    return measuring.measure(task), os.getpid(), peak_rss_mb()


def _groups(tasks: Sequence[Task], workers: int) -> list[list[Task]]:
    """Keep a seed's figures together, since they share what the server learns of a split; deal out the last seeds'."""
    seeds = list(dict.fromkeys(task.seed for task in tasks))
    whole = len(seeds) // workers * workers
    together = [[task for task in tasks if task.seed == seed] for seed in seeds[:whole]]
    return together + [[task] for task in tasks if task.seed in seeds[whole:]]
