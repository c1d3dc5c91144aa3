"""How far one person moves the clipped sums of a module, by replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from adversarial_modules import CLASSES, CLEAN_UP, COLUMNS
from torch import nn

from privet.auditing.central.replay import replay
from privet.data import Graph, social_graph, split_nodes
from privet.errors import PrivetError
from privet.systems import Fitted, HeterPoisson, PrivateTrainer

NODE = 5
PEOPLE = 45


@dataclass(frozen=True, kw_only=True)
class Trained(HeterPoisson):
    """PrivateTrainer in the clothes of a system."""

    make: Any = None
    engines: list[str] | None = None

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        torch.manual_seed(0)
        names = ("noise_multiplier", "delta", "batch_size", "epochs", "multiplier", "learning_rate", "seed")
        trainer = PrivateTrainer(self.make(), graph, **{name: getattr(self, name) for name in names})
        assert self.engines is not None
        self.engines.append(getattr(trainer, "engine", "closed form" if getattr(trainer, "is_closed_form", 0) else "?"))
        return trainer.fit().fitted()


def people() -> Graph:
    """Return a graph of zeros, codes, counts and some outliers; features of NODE are far from all others."""
    graph = social_graph(PEOPLE, classes=CLASSES, features=COLUMNS, average_degree=4, seed=0)
    rng = np.random.default_rng(0)
    values, shares = [0.0, -1.0, 1.0, 2.0, -30.0], [0.4, 0.2, 0.2, 0.15, 0.05]
    features = rng.choice(values, size=(PEOPLE, COLUMNS), p=shares).astype(np.float32)
    features[NODE] = 1000.0 * rng.choice([-1.0, 1.0], size=COLUMNS)
    features[NODE, 0] = 1000.0
    train = np.arange(PEOPLE) < 2 * PEOPLE // 3
    split = split_nodes(graph, 0.5, 0.0, seed=0)
    split = type(split)(train, np.zeros(PEOPLE, np.bool_), ~train)
    return graph.replace(features=features, schema=None, split=split)


def outcome(make: Callable[[], nn.Module], graph: Graph) -> tuple[str, float | None]:
    """Return how a module was trained, or the refusal, and by how many clips a sum moved at most."""
    engines: list[str] = []
    system = Trained(make=make, engines=engines, noise_multiplier=4.0, delta=1e-3, batch_size=PEOPLE, epochs=2,
                     learning_rate=0.05)  # fmt: skip
    try:
        found = replay(system, graph, NODE)
    except PrivetError as error:
        return ("stopped: " if engines else "refused: ") + str(error), None
    finally:
        while CLEAN_UP:
            CLEAN_UP.pop()()
    return engines[0], max(move.moved / system.max_grad_norm for move in found.moves)
