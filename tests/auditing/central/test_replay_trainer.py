"""PrivateTrainer passes the replay on nodes and on links, and link tasks with the usual mistakes do not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from privet.auditing.central.replay import replay
from privet.data import Graph, social_graph, split_nodes
from privet.graph.subgraphs import Role, SubgraphBatch
from privet.systems import Fitted, HeterPoisson, PrivateTrainer
from privet.systems.central.trainer import private_trainer
from privet.systems.central.trainer.link_prediction import LinkPrediction
from privet.systems.central.trainer.predictions import Predictions
from privet.testing import check_central_system

SAVED = ("noise_multiplier", "delta", "batch_size", "epochs", "multiplier", "learning_rate", "seed", "at_once")
QUICK: dict[str, Any] = {"noise_multiplier": 4.0, "delta": 1e-3, "batch_size": 20, "epochs": 3, "learning_rate": 0.1}


class Net(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.conv, self.drop = SAGEConv(columns, 3), nn.Dropout(0.2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.drop(self.conv(x, edge_index))


class Odd(Net):
    """With a number within an exponential, one by one."""

    def __init__(self, columns: int) -> None:
        super().__init__(columns)
        self.heat = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) * self.heat.exp() * (1.0 if x[0, 0] < 1e9 else 2.0)


@dataclass(frozen=True, kw_only=True)
class Trained(HeterPoisson):
    """PrivateTrainer in the clothes of a system."""

    loss: Any = "links"
    module: type[Net] = Net
    task: type[LinkPrediction] = LinkPrediction
    inference: type[Predictions] = Predictions
    at_once: int = 1

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        torch.manual_seed(0)
        settings = {name: getattr(self, name) for name in SAVED}
        with (
            patch("privet.systems.central.trainer.inputs.LinkPrediction", self.task),
            patch.object(private_trainer, "Predictions", self.inference),
        ):
            made = PrivateTrainer(self.module(graph.features.shape[1]), graph, loss=self.loss, **settings)
            return made.fit().fitted()


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(40, classes=3, features=6, average_degree=8, feature_signal=0.9, seed=0)
    return made.replace(split=split_nodes(made, 0.5, 0.25, seed=0))


@pytest.mark.parametrize("multiplier", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["cross_entropy", "links"])
@pytest.mark.parametrize(("module", "at_once"), [(Net, 4), (Odd, 1)])
def test_the_trainer_passes(graph: Graph, module: type[Net], at_once: int, loss: str, multiplier: float) -> None:
    system = Trained(loss=loss, multiplier=multiplier, module=module, at_once=at_once, **QUICK)
    check_central_system(system, graph, nodes=1 if at_once > 1 else 2)


def test_sums_come_close_to_what_the_accountant_allows(graph: Graph) -> None:
    """So that a larger change would be seen."""
    node = int(np.flatnonzero(graph.split.train)[0])
    moves = replay(Trained(multiplier=1.0, **QUICK), graph, node, seed=2).moves
    assert max(move.moved / move.allowed for move in moves if move.allowed) > 0.5
    assert any(move.subgraphs and move.moved for move in moves)
    assert all(move.moved == 0 for move in moves if not move.allowed)


class RolesFromOneStream(LinkPrediction):
    """The coin of a neighbour depends on its place in the batch."""

    def is_asked(self, batch: SubgraphBatch, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.random.default_rng(0).random(len(batch.owner)) < 0.5


class StrangersFromEverybody(LinkPrediction):
    """Protected nodes may be strangers of any centre, whom no coin picked."""

    def __init__(self, unprotected: NDArray[np.bool_]) -> None:
        super().__init__(np.ones_like(unprotected))


class StrangersFromOneStream(LinkPrediction):
    """The strangers of a centre depend on how many others are drawn before."""

    def strangers(self, batch: SubgraphBatch, keys: NDArray[np.int64], counts: Any) -> Any:
        owner, drawn = super().strangers(batch, keys, counts)
        return owner, np.random.default_rng(0).choice(self._public, size=len(drawn))


class SharesACount(LinkPrediction):
    """The loss is divided by the number of asked neighbours of the whole batch."""

    asked = 1

    def examples(self, batch: SubgraphBatch, keys: NDArray[np.int64]) -> SubgraphBatch:
        made = super().examples(batch, keys)
        self.asked = max(1, int((made.roles == Role.ASKED).sum()))
        return made

    def losses(self, rows: Tensor, targets: Tensor, roles: Tensor) -> Tensor:
        return super().losses(rows, targets, roles) * 20 / self.asked


class AsksTheAbsent(LinkPrediction):
    """As many strangers as the busiest centre of the batch has asked neighbours."""

    def strangers(self, batch: SubgraphBatch, keys: NDArray[np.int64], counts: Any) -> Any:
        return super().strangers(batch, keys, np.where(counts > 0, counts.max(initial=0), 0))


class HearsEverybody(Predictions):
    """Embeddings are of sub-graphs with protected neighbours."""

    @classmethod
    def of(cls, model: Any, view: Any, most: Any, bits: Any) -> Predictions:
        made = super().of(model, view, most, bits)
        return replace(made, around=view.graph.adjacency)


@pytest.mark.parametrize("multiplier", [0.0, 1.0])
@pytest.mark.parametrize("broken", [RolesFromOneStream, StrangersFromEverybody, StrangersFromOneStream, AsksTheAbsent])
def test_a_link_task_with_a_usual_mistake_is_caught(
    broken: type[LinkPrediction], multiplier: float, graph: Graph
) -> None:
    caught(Trained(task=broken, multiplier=multiplier, **QUICK), graph, "sum .* moves by .* the accountant allows")


def test_a_count_over_the_batch_is_caught(graph: Graph) -> None:
    """Features are nearly equal here, so that the gradients of all sub-graphs point the same way and add up."""
    features = (1 + 0.1 * np.random.default_rng(0).normal(size=(40, 6))).astype(np.float32)
    alike = graph.replace(features=features, schema=None)
    check_central_system(Trained(**QUICK), alike, nodes=1)
    caught(Trained(task=SharesACount, **QUICK), alike, "sum .* moves by .* the accountant allows")


def test_embeddings_that_hear_protected_nodes_are_caught(graph: Graph) -> None:
    caught(Trained(inference=HearsEverybody, **QUICK), graph, "embeddings depend on the node by another way")


def caught(system: HeterPoisson, graph: Graph, words: str) -> None:
    with pytest.raises(AssertionError, match="does not protect node") as error:
        check_central_system(system, graph)
    sentences = str(error.value).split(": ", 1)[1].split("; ")
    assert any(re.search(words, sentence) for sentence in sentences), sentences
