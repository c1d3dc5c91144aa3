"""Measure a system beside its controls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import privet
from privet.build import build_digest
from privet.data import Graph
from privet.data.interop import as_graph
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.cache import Store, usual_store
from privet.evaluation.ceiling import CEILING, only_if_highest
from privet.evaluation.measuring import Described, measured, seed_numbers
from privet.evaluation.results import Figures, Result, SplitFacts
from privet.evaluation.scoring import METRICS, Scores, class_figures, is_unbalanced, scored, with_split
from privet.evaluation.verdict import Alternative, summary
from privet.models.progress import Progress, counting
from privet.systems import CentralSystem, LocalSystem, System
from privet.systems.controls import OWN, Control

__all__ = ["Evaluation", "Task", "evaluate", "figures_needed"]


@dataclass(frozen=True)
class Task:
    """One figure of an evaluation.

    Attributes:
        seed: The seed of the split and of the training.
        control: The key of the control, or that of :data:`~privet.systems.controls.OWN`.
    """

    seed: int
    control: str


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The figures of a system and its controls on one graph.

    Attributes:
        system: The system.
        data: The graph, with or without a split.
        split: The shares of random splits, or None for the graph's own.
        others: Controls that are not the system's own. They are not sent to other processes.
    """

    system: System
    data: Graph
    split: tuple[float, float] | None = None
    others: tuple[Control, ...] = ()
    kind = Scores

    def graph(self, task: Task) -> Graph:
        """Return the graph with the split of the task's seed."""
        return with_split(self.system, self.data, task.seed, parts=self.split)

    def describe(self, task: Task) -> Described:
        """Describe a figure; controls of different systems that have equal subjects share their figures."""
        return Described(task.control, self.system, self._control(task).subject(self.system), task.seed)

    def measure(self, task: Task) -> Scores:
        """Train and score."""
        view = self.graph(task)
        return scored(lambda: self._control(task).trained(self.system, view, task.seed), view)

    def together(self, task: Task) -> int:
        """Return the seed: its figures share what the server learns of a split."""
        return task.seed

    def _control(self, task: Task) -> Control:
        known: tuple[Control, ...] = (OWN, *self.others, *self.system.controls(), CEILING)
        return next(each for each in known if each.key == task.control)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.system, self.data, self.split)


def evaluate(
    system: System,
    graph: Graph,
    seeds: int | Sequence[int] = 5,
    *,
    controls: bool | Sequence[Control] = True,
    split: tuple[float, float] | None = None,
    dataset: str = "graph",
    store: Store | None = None,
    workers: int = 1,
    progress: Progress = False,
) -> Result:
    """Train a system and what it is compared with over several seeds, and compare them on the test nodes.

    The headline is accuracy, or balanced accuracy where 70 % of the test nodes or more are of one class.

    Args:
        system: A system with its hyper-parameters; its own seed is not used.
        graph: A graph with features, a schema and labels. Its split is respected; without one every seed draws a
            random split of 50/25/25, in which a central system trains on the validation nodes too.
        seeds: The number of seeds, counted from 0, or the seeds themselves.
        controls: Whether to measure the controls as well, or which ones to measure, also ones of your own.
        split: The shares of training and validation nodes of random splits, which then replace the graph's own.
        dataset: The data's name in the result.
        store: A store of finished figures; what it has is not measured again (default: the one in the platform's
            cache directory, or in ``PRIVET_CACHE``). ``Store(None)`` keeps nothing on disk.
        workers: The number of processes; figures do not depend on it. A script that asks for several must do so under
            ``if __name__ == "__main__"``.
        progress: True shows a bar in a terminal or a notebook; a function is called with a few words after each
            training.

    Returns:
        The figures, the controls, the guarantee and a verdict. ``peak_rss_mb`` is that of all processes together.

    >>> from privet.data import social_graph
    >>> from privet.systems import LPGNN
    >>> graph = social_graph(120, classes=2, features=6, seed=0)
    >>> result = evaluate(LPGNN(hops=1, max_epochs=3), graph, seeds=2, dataset="village")
    >>> result.guarantee.epsilon, list(result.controls)
    (1.0, ['structure_only', 'structure', 'label_propagation', 'features_only', 'majority', 'non_private', 'ceiling'])
    """
    if not isinstance(system, LocalSystem | CentralSystem):
        raise InvalidParameter(f"evaluate measures a system such as LPGNN(), with its parentheses, not {system!r}.")
    graph = as_graph(graph, "evaluate")
    graph.require("features", "schema", "labels", owner="evaluate")
    promised = replace(system, seed=0).guarantee(graph)  # seeds are stored, and whoever knows them undoes the noise
    if promised is None:
        raise InvalidParameter("noise_multiplier", "above 0: the run without noise is a control", 0)
    numbers, known = seed_numbers(seeds), (*system.controls(), CEILING)
    compared = (known if controls else ()) if isinstance(controls, bool) else tuple(controls)
    others = tuple(each for each in compared if each not in known)
    splits = [with_split(system, graph, seed, parts=split) for seed in numbers]
    for seed, view in zip(numbers, splits, strict=True):  # what cannot work is found before anything is trained
        replace(system, seed=seed).check(view)
    names = {each.key: f"{system.name} {each.short}".strip() for each in (OWN, *compared)}
    tasks = [Task(seed, key) for seed in numbers for key in names]
    with counting(progress, len(tasks), "training") as advance:
        scores = measured(
            Evaluation(system, graph, split, others),
            tasks,
            usual_store() if store is None else store,
            workers=1 if others else workers,
            done=lambda task: advance(names[task.control]),
        )
    found = {key: [scores.figures[Task(seed, key)] for seed in numbers] for key in names}
    own = found.pop(OWN.key)
    headline = _headline(splits)
    values = _percents(own, headline)
    figures = {c.key: Figures(_percents(found[c.key], headline), c.short, c.title, c.question) for c in compared}
    figures = only_if_highest(figures, Figures(values))
    comparisons = [Alternative(figures[c.key].title, figures[c.key].values, c.question, c.spares) for c in compared]
    lines = system.lines(graph)
    return Result(
        system=system.name,
        dataset=dataset,
        task=_task(system),
        metric=METRICS[headline],
        settings=system.settings(),
        seeds=numbers,
        figures=Figures(values),
        metrics={name: Figures(_percents(own, name)) for name in METRICS},
        controls=figures,
        guarantee=promised,
        ledger=lines,
        mechanisms=tuple(line.mechanism for line in lines),
        classes=class_figures(own, dict(found)),
        split=_split_facts(splits),
        verdict=summary(values, comparisons),
        facts=system.figures(graph) | own[-1].facts,
        seconds=sum(one.seconds for scores in (own, *found.values()) for one in scores),
        peak_rss_mb=scores.peak_rss_mb,
        version=privet.__version__,
        build=build_digest(),
    )


def figures_needed(system: System, seeds: int, controls: bool) -> int:
    """Return how many trainings :func:`evaluate` makes, for a progress bar."""
    return seeds * (2 + len(system.controls()) if controls else 1)


def _percents(scores: Sequence[Scores], metric: str) -> tuple[float, ...]:
    return tuple((100 * np.asarray([one.metrics[metric] for one in scores])).tolist())


def _headline(views: Sequence[Graph]) -> str:
    """Choose balanced accuracy where guessing the largest class would look like knowledge."""
    view = views[0]
    if view.labels is None or view.split is None:
        raise InvalidData("An evaluation needs a graph with labels and a split.")
    return "balanced_accuracy" if is_unbalanced(view.labels[view.split.test]) else "accuracy"


def _split_facts(views: Sequence[Graph]) -> SplitFacts:
    splits = [view.split for view in views if view.split is not None]
    mark = hashlib.sha256(b"".join(np.packbits(split.test).tobytes() for split in splits))
    first = splits[0]
    return SplitFacts(int(first.train.sum()), int(first.validation.sum()), int(first.test.sum()), mark.hexdigest())


def _task(system: System) -> str:
    kind = "private topology" if getattr(system, "epsilon_edges", None) is not None else "public topology"
    return f"node classification, {kind if isinstance(system, LocalSystem) else 'central model'}"
