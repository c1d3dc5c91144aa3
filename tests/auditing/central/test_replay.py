"""Every central system passes the replay, and systems with the usual mistakes do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from privet.auditing.central.replay import replay
from privet.data import Graph, Schema, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import Bits
from privet.models.clipping import clipped_gradient
from privet.models.private_training import Batch
from privet.privacy.accounting.processes.noisy_aggregation import NoisyAggregation
from privet.systems import SYSTEMS, CentralSystem
from privet.systems.central._training_view import TrainingView
from privet.systems.central.gap import GAP
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.central.private_mlp import PrivateMLP
from privet.testing import check_central_system

QUICK: dict[str, Any] = {
    "noise_multiplier": 4.0, "delta": 1e-3, "batch_size": 20, "epochs": 4, "hidden_channels": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(40, classes=3, features=6, homophily=0.9, feature_signal=0.9, seed=0)
    return made.replace(split=split_nodes(made, 0.5, 0.25, seed=0))


def variants() -> list[CentralSystem]:
    """Every registered central system, those of a sub-graph sampler with members as neighbours too."""
    kinds = [kind for kind in SYSTEMS.values() if issubclass(kind, CentralSystem)]
    made = [kind(**QUICK) for kind in kinds]
    return [*made, *(HeterPoisson(multiplier=1.0, backbone=backbone, **QUICK) for backbone in ("gin", "sage", "gcn"))]


@pytest.mark.parametrize("system", variants(), ids=lambda system: f"{system.name}-{getattr(system, 'multiplier', '')}")
def test_every_central_system_passes(system: CentralSystem, graph: Graph) -> None:
    check_central_system(system, graph)


@pytest.mark.parametrize("kind", [HeterPoisson, PrivateMLP])
@pytest.mark.parametrize("as_matrix", [sp.csr_array, np.asarray])
def test_sparse_and_dense_features_are_replayed(kind: type[CentralSystem], as_matrix: Any, graph: Graph) -> None:
    wide = np.random.default_rng(0).random((graph.num_nodes, 60)).astype(np.float32)
    wide[wide < 0.95] = 0.0
    made = graph.replace(features=as_matrix(wide), schema=Schema.numeric(60, 0.0, 1.0, classes=3))
    check_central_system(kind(**QUICK), made, nodes=2)


def test_sums_come_close_to_what_the_accountant_allows(graph: Graph) -> None:
    """So that a larger change would be seen."""
    node = int(np.flatnonzero(graph.split.train)[0])
    moves = replay(HeterPoisson(multiplier=1.0, **QUICK), graph, node, seed=2).moves
    assert max(move.moved / move.allowed for move in moves if move.allowed) > 0.99
    assert any(move.subgraphs for move in moves)
    assert all(move.moved == 0 for move in moves if not move.allowed)


class DividesByRealisedSize(PrivateMLP):
    """The step is the noisy sum over the size of the drawn batch."""

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        for _ in range(self.steps(num_nodes)):
            x, labels = batch()
            total = clipped_gradient(network, torch.from_numpy(x), torch.from_numpy(labels), self.max_grad_norm)
            noisy = total.with_noise((self.noise_multiplier or 0.0) * self.max_grad_norm, bits) / max(1, len(labels))
            with torch.no_grad():
                start = 0
                for parameter in network.parameters():
                    part = noisy[start : start + parameter.numel()].reshape(tuple(parameter.shape))
                    parameter -= 0.1 * torch.from_numpy(part).to(parameter.dtype)
                    start += parameter.numel()


class NormalisesBatches(PrivateMLP):
    """Batch normalisation: each column has mean 0 and deviation 1 over the drawn batch."""

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        def normalised() -> Batch:
            x, labels = batch()
            return ((x - x.mean(axis=0)) / (x.std(axis=0) + 1e-3)).astype(np.float32), labels

        super().descend(network, normalised, num_nodes, bits, progress=progress)


class GoesOnForLonger(PrivateMLP):
    """There are as many more steps as nodes were drawn, whose number is a secret."""

    def descend(
        self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits, *, progress: bool
    ) -> None:
        drawn: list[int] = []

        def counted() -> Batch:
            x, labels = batch()
            drawn.append(len(labels))
            return x, labels

        super().descend(network, counted, num_nodes, bits, progress=progress)
        for _ in range(sum(drawn)):
            replace(self, epochs=self.rate(num_nodes)).resume(network, batch, num_nodes, bits)

    def resume(self, network: nn.Sequential, batch: Callable[[], Batch], num_nodes: int, bits: Bits) -> None:
        PrivateMLP.descend(self, network, batch, num_nodes, bits, progress=False)


class SharesAMean(HeterPoisson):
    """Each sub-graph also hears the mean of all sub-graphs of the batch."""

    def inputs(self, batch: SubgraphBatch, view: TrainingView, **rest: Any) -> Any:
        found = super().inputs(batch, view, **rest)
        return (found + 3 * found.mean(axis=0)).astype(np.float32)


class RemembersTheNode(HeterPoisson):
    """Predictions aggregate from training nodes too."""

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> Any:
        found = super().infer(network, view, bits)
        heard = view.graph.adjacency[view.unprotected_nodes] @ view.members.astype(np.float32)
        return (found + heard[:, None] * 1e-3).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class TooSensitive(NoisyAggregation):
    """GAP's own sensitivity of 1."""

    @property
    def sensitivity(self) -> float:
        return 1.0


class BelievesItsPaper(GAP):
    """The aggregation's noise is a multiple of 1."""

    def process(self, num_nodes: int) -> NoisyAggregation:
        real = super().process(num_nodes)
        return TooSensitive(rate=real.rate, steps=real.steps, num_nodes=num_nodes, max_degree=real.max_degree)


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        (DividesByRealisedSize, {}, "weights .* by another way"),
        (NormalisesBatches, {}, "the accountant allows 0.5"),
        (GoesOnForLonger, {}, "number of noisy sums is"),
        (SharesAMean, {"multiplier": 1.0}, "sum .* moves by .* the accountant allows"),
        (RemembersTheNode, {"multiplier": 1.0}, "predictions depend"),
        (BelievesItsPaper, {}, "sum 0 moves by .* allows 1$"),
    ],
)
def test_a_system_with_a_usual_mistake_is_caught(
    kind: type[CentralSystem], settings: dict[str, Any], words: str, graph: Graph
) -> None:
    with pytest.raises(AssertionError, match="does not protect node") as caught:
        check_central_system(kind(**QUICK, **settings), graph)
    sentences = str(caught.value).split(": ", 1)[1].split("; ")
    assert any(re.search(words, sentence) for sentence in sentences), sentences


def test_a_replay_needs_noise_and_a_training_node(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="noise_multiplier"):
        replay(PrivateMLP(**{**QUICK, "noise_multiplier": 0.0}), graph, int(np.flatnonzero(graph.split.train)[0]))
    with pytest.raises(InvalidParameter, match="training node"):
        replay(PrivateMLP(**QUICK), graph, int(np.flatnonzero(graph.split.test)[0]))
