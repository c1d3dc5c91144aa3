"""Search for hyper-parameters by validation labels that the server sees anyway."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation.scoring import with_split
from privet.mechanisms import SeededBits
from privet.systems import LocalSystem, System

__all__ = ["tune"]


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
