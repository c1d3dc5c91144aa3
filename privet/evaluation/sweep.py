"""Settings that are changed: accuracy against a budget, and a search by validation labels that the server sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.cache import Store, usual_store
from privet.evaluation.documents import Document, demand, sweep_html
from privet.evaluation.evaluate import evaluate, figures_needed
from privet.evaluation.results import Result
from privet.evaluation.scoring import with_split
from privet.evaluation.verdict import CONFIDENCE
from privet.mechanisms import SeededBits
from privet.models.progress import Progress, counting
from privet.systems import CentralSystem, LocalSystem, System

__all__ = ["Sweep", "sweep", "tune"]


@dataclass(frozen=True, repr=False)
class Sweep(Document):
    """One system at several budgets.

    Attributes:
        budget: The setting that was changed, such as ``epsilon_features``.
        points: The result at each budget, in increasing order.
    """

    budget: str
    points: tuple[Result, ...]

    @property
    def system(self) -> str:
        """The system's name."""
        return self.points[0].system

    @property
    def dataset(self) -> str:
        """The data's name."""
        return self.points[0].dataset

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The budgets."""
        return tuple(point.settings[self.budget] for point in self.points)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "system": self.system,
            "dataset": self.dataset,
            "swept": self.budget,
            "epsilons": list(self.epsilons),
            "confidence": CONFIDENCE,
            "half_widths": [point.figures.half_width for point in self.points],
            "points": [point.to_dict() for point in self.points],
            "version": self.points[0].version,
            "build": self.points[0].build,
        }

    @classmethod
    def from_dict(cls, document: Any, where: str = "sweep") -> Sweep:
        """Read what :meth:`to_dict` made."""
        found = demand(document, ("swept", "points"), where, "a sweep with at least one point")
        points: Sequence[Any] = found["points"]
        if not isinstance(points, list) or not points:
            raise InvalidData(f"The {where} is a sweep without points.")
        read = (Result.from_dict(point, f"point {number} of {where}") for number, point in enumerate(points))
        return cls(found["swept"], tuple(read))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each budget, figure and seed."""
        pairs = zip(self.epsilons, self.points, strict=True)
        return [{self.budget: epsilon, **row} for epsilon, point in pairs for row in point.rows()]

    def _repr_html_(self) -> str:
        return sweep_html(self)

    def __repr__(self) -> str:
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        return f"Sweep({self.system} on {self.dataset}: {self.budget} {budgets})"


def sweep(
    system: System | Callable[[float], System],
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
    make = _changing(system, budget) if isinstance(system, LocalSystem | CentralSystem) else system
    systems = [make(epsilon) for epsilon in chosen]
    name = budget or _budget(systems[0])
    if name not in systems[0].settings():
        raise InvalidParameter(f"{systems[0].name} has no setting {name}, so that it cannot be swept.")
    kept = usual_store() if store is None else store
    shared: dict[str, Any] = {"controls": controls, "split": split, "dataset": dataset, "store": kept}
    numbers = seeds if isinstance(seeds, int) else len(seeds)
    with counting(progress, sum(figures_needed(one, numbers, controls) for one in systems), "training") as advance:
        points = [evaluate(one, graph, seeds, **shared, workers=workers, progress=advance) for one in systems]
    return Sweep(name, tuple(points))


def _budget(system: System) -> str:
    return "epsilon_features" if isinstance(system, LocalSystem) else "target_epsilon"


def _changing(system: System, budget: str | None) -> Callable[[float], System]:
    name = budget or _budget(system)
    other: dict[str, Any] = {"noise_multiplier": None} if name == "target_epsilon" else {}

    def changed(epsilon: float) -> System:
        return replace(system, **(other | {name: epsilon}))

    return changed


def tune(
    system: System, graph: Graph, trials: int, *, seed: int = 1000
) -> tuple[LocalSystem, tuple[dict[str, Any], ...]]:
    """Return the system with the best settings found, and the trials.

    One collection serves all trials, as in a study, whose devices report once: a search space holds no setting of a
    mechanism. Its random split is none of those that are reported, but a split of the same nodes. Test labels of the
    split are not touched.

    Args:
        system: The system to begin with; its class names the values to try.
        graph: A graph with features, a schema and labels.
        trials: The number of settings to try, at least 1.
        seed: The seed of the split, the simulated collection and the search.

    Returns:
        The system, and for each trial its settings with ``validation``, the accuracy on validation labels *as the
        server sees them*: noisy ones where labels are private.
    """
    try:
        import optuna
    except ImportError:
        raise InvalidParameter("A search for settings needs optuna: pip install 'privet[search]'.") from None
    if not isinstance(system, LocalSystem):
        raise InvalidParameter("Only a local system can be tuned: a search on a holder's protected data spends budget.")
    if trials < 1:
        raise InvalidParameter("trials", "an integer of at least 1", trials)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    split = with_split(system, graph, seed)
    space = type(system).search_space
    if "validation_reports" in system.settings():
        own: dict[str, Any] = {"validation_reports": False}  # what is trained on cannot choose
        system = replace(system, **own)
    collected = replace(system, seed=seed).collect(split, SeededBits(seed))
    history: list[dict[str, Any]] = []

    def objective(trial: Any) -> float:
        chosen = {name: trial.suggest_categorical(name, choices) for name, choices in space.items()}
        candidate = replace(system, seed=seed, **chosen)
        fitted = candidate.fit(collected)
        seen = collected.seen_labels()
        held_out = collected.validation & (seen >= 0)
        score = float(np.mean(fitted.predict()[held_out] == seen[held_out]))
        history.append({**chosen, "validation": score})
        return score

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)
    return replace(system, **study.best_params), tuple(history)
