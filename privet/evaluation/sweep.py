"""Measure a system at several budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate, figures_needed
from privet.evaluation.keys import store_for
from privet.evaluation.results import Sweep
from privet.models.progress import Progress, counting
from privet.systems import LocalSystem

__all__ = ["sweep"]


def sweep(
    system: Any,
    graph: Graph,
    epsilons: Sequence[float],
    *,
    budget: str | None = None,
    seeds: int | Sequence[int] = 5,
    controls: bool = True,
    split: tuple[float, float] | None = None,
    dataset: str = "graph",
    store: Store | None = None,
    workers: int = 1,
    progress: Progress = False,
) -> Sweep:
    """Measure a system and its controls at every budget; controls that do not depend on it are measured once.

    Args:
        system: A system, or a function that makes one from a budget.
        graph: As for :func:`~privet.evaluation.evaluate.evaluate`.
        epsilons: The budgets.
        budget: The setting that gets them (default: ``epsilon_features`` of a local system and ``target_epsilon`` of a
            central one). Other budgets keep their values, and the true total is the sum of all.
        seeds: The number of seeds, or the seeds themselves.
        controls: Whether to measure the controls as well.
        split: As for :func:`~privet.evaluation.evaluate.evaluate`.
        dataset: The data's name in the result.
        store: As for :func:`~privet.evaluation.evaluate.evaluate`.
        workers: As for :func:`~privet.evaluation.evaluate.evaluate`.
        progress: As for :func:`~privet.evaluation.evaluate.evaluate`.
    """
    chosen = sorted(set(epsilons))
    if not chosen or not all(epsilon > 0 for epsilon in chosen):
        raise InvalidParameter("epsilons", "numbers above 0", epsilons)
    make = system if not hasattr(system, "settings") else _changing(system, budget)
    systems = [make(epsilon) for epsilon in chosen]
    name = budget or _budget(systems[0])
    if name not in systems[0].settings():
        raise InvalidParameter("budget", "a setting of the system", name)
    kept = store_for(store, systems[0], graph)
    shared: dict[str, Any] = {"controls": controls, "split": split, "dataset": dataset, "store": kept}
    numbers = seeds if isinstance(seeds, int) else len(seeds)
    with counting(progress, sum(figures_needed(one, numbers, controls) for one in systems), "training") as advance:
        points = [evaluate(one, graph, seeds, **shared, workers=workers, progress=advance) for one in systems]
    return Sweep(name, tuple(points))


def _budget(system: Any) -> str:
    return "epsilon_features" if isinstance(system, LocalSystem) else "target_epsilon"


def _changing(system: Any, budget: str | None) -> Callable[[float], Any]:
    name = budget or _budget(system)
    other: dict[str, Any] = {"noise_multiplier": None} if name == "target_epsilon" else {}
    return lambda epsilon: replace(system, **other, **{name: epsilon})
