"""A system measured beside the few controls that a part of the demo speaks of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from privet.data import Graph
from privet.evaluation.evaluate import evaluate
from privet.evaluation.results import Figures, Result
from privet.evaluation.scoring import with_split
from privet.evaluation.threads import threads_for
from privet.evaluation.verdict import Comparison, summary
from privet.systems.controls import Control

__all__ = ["measured"]


def measured(
    system: Any,
    graph: Graph,
    seeds: int,
    controls: Sequence[Control],
    dataset: str,
    progress: Callable[[str], None],
) -> Result:
    """Measure a system and some controls on the same splits.

    Args:
        system: The system.
        graph: A graph without a split: each seed draws its own.
        seeds: The number of seeds.
        controls: The controls.
        dataset: The graph's name in the result.
        progress: Called with a few words before each training.
    """
    progress(system.name)
    result = evaluate(system, graph, seeds, controls=False, dataset=dataset)
    views = [with_split(system, graph, seed) for seed in range(seeds)]
    figures = {}
    with threads_for(graph):
        for control in controls:
            progress(f"{system.name}, {control.short}")
            values = tuple(100 * _score(control, system, view, seed) for seed, view in enumerate(views))
            figures[control.key] = Figures(values, control.short, control.title, control.question)
    compared = [Comparison(each.title, figures[each.key].values, each.question, each.spares) for each in controls]
    verdict = summary(result.values, compared)
    return replace(result, controls=figures, verdict=verdict, classes=())  # no table of classes without all controls


def _score(control: Control, system: Any, view: Graph, seed: int) -> float:
    if view.labels is None or view.split is None:
        raise ValueError("the demo's graphs have labels and a split")
    return float(control.trained(system, view, seed).score(view.labels, view.split.test))
