"""PrivGE's link prediction: logistic regression on Hadamard products, trained on edges that the embedding cannot see.

An edge of the topology pulls its two ends' embeddings together, so a model trained on the edges behind its own
embedding learns to recognise them (AUC 0.99 on them) and not the others. The training edges are therefore dealt into
``folds``: those of fold i, and as many non-edges, are ranked from the embedding over the edges of the other folds.
Predictions use all training edges. One fold is the published recipe, which trains on the edges it propagates over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from privet.data import Links
from privet.errors import InvalidData
from privet.graph import LazyFeatures
from privet.models import MLP, Edges, HadamardLinkScorer, pairwise_loss, roc_auc, seeded, train
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted

if TYPE_CHECKING:
    from privet.systems.local.privge import PrivGE

__all__ = ["LinkFitted", "LinkTask", "hidden_edges"]

_EAGER_BYTES = 1 << 30  # the most that all folds' written-out embeddings may take together


class LinkFitted(Fitted):
    """A trained link predictor: node embeddings and how to rank pairs of them. It has no class probabilities."""

    def score_links(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """The logit of a link for each column of a [2, n] array of node numbers."""
        scorer, embedding = _scorer(self.weights), torch.from_numpy(self._links_embedding)
        with torch.no_grad():
            logits: NDArray[np.float32] = scorer(embedding, torch.from_numpy(np.array(pairs, dtype=np.int64))).numpy()
        return logits

    def auc(self, links: Links) -> float:
        """The area under the ROC curve, for an evaluator who knows which pairs are linked."""
        edges, non_edges = (torch.from_numpy(self.score_links(pairs)) for pairs in (links.edges, links.non_edges))
        return roc_auc(edges, non_edges)

    @property
    def _links_embedding(self) -> NDArray[np.float32]:
        if self.embedding is None or "scorer.weight" not in self.weights:
            raise InvalidData(f"This result of {self.system} predicts no links. Use PrivGE.fit_links.")
        return self.embedding


class LinkModel(nn.Module):
    """s(u, v) = w . (f(z_u) * f(z_v)) + b; without an encoder f(z) = z, as in the paper."""

    def __init__(self, encoder: MLP | None, channels: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.scorer = HadamardLinkScorer(channels)

    def forward(self, z: LazyFeatures, edges: Edges, non_edges: Edges) -> tuple[Tensor, Tensor]:
        embeddings = self.embed(z)
        return self.scorer(embeddings, edges), self.scorer(embeddings, non_edges)

    def embed(self, z: LazyFeatures) -> Tensor:
        """Return f(z)."""
        return z.dense() if self.encoder is None else cast(Tensor, self.encoder(z))


@dataclass(frozen=True, eq=False)
class LinkTask:
    """Training of one link predictor on what the server holds."""

    system: PrivGE
    collected: Collected
    train: Links
    validation: Links

    def __post_init__(self) -> None:
        adjacency = self.collected.topology.adjacency
        absent = ~_stored(adjacency, self.train.edges)
        if absent.any():
            where = f"training edge {int(np.argmax(absent))}"
            raise InvalidData(where, "an edge of the collected topology", "a pair that is not linked there")
        seen = _stored(adjacency, self.validation.edges)
        if seen.any():
            where = f"validation edge {int(np.argmax(seen))}"
            raise InvalidData(
                where, "absent from the collected topology", "an edge of it (collect from EdgeSplit.graph)"
            )

    def fit(self, progress: bool = False) -> LinkFitted:
        """Train on every fold in turn, choose the epoch by the validation links' AUC over all training edges."""
        system, topology = self.system, self.collected.topology.adjacency
        whole = self._ready(topology)
        folds = [self._fold(topology, part) for part in self._parts()]
        held_out = self._pairs(self.validation.edges), self._pairs(self.validation.non_edges)
        width = system.hidden_channels if system.link_encoder else whole.shape[1]
        with seeded(system.seed):
            model = LinkModel(system.encoder(whole.shape[1], width) if system.link_encoder else None, width)

        def loss(model: LinkModel) -> Iterator[Tensor]:
            for z, (edges, non_edges) in folds:
                linked, unlinked = model(z, edges, non_edges)
                yield pairwise_loss(linked, unlinked, "logistic")

        def score(model: LinkModel) -> float:
            return roc_auc(*model(whole, *held_out))

        result = train(model, loss, score, system.training(system.seed, "max", progress=progress))
        with torch.no_grad():
            embedding = model.embed(whole).numpy()
        return LinkFitted(
            system=system.name,
            guarantee=self.collected.guarantee(),
            probabilities=np.zeros((len(embedding), 0), dtype=np.float32),
            embedding=embedding,
            settings={name: value for name, value in system.settings().items() if name != "seed"},
            weights={name: value.numpy() for name, value in model.state_dict().items()},
            best_epoch=result.best_epoch,
            validation_score=result.best_score,
        )

    def _ready(self, adjacency: sp.csr_array) -> LazyFeatures:
        """The embedding over some topology, written out if that is faster and small."""
        z = self.system.embed(self.collected, adjacency)
        if not self.system.link_encoder:
            return z.materialise(dense=True)
        plan = z.plan(self.system.hidden_channels, self.system.max_epochs)
        small = plan.eager_bytes * (self.system.folds + 1) <= _EAGER_BYTES
        return z.materialise(dense=plan.dense) if plan.choice == "eager" and small else z

    def _fold(self, adjacency: sp.csr_array, part: NDArray[np.int64]) -> tuple[LazyFeatures, tuple[Edges, Edges]]:
        edges, non_edges = self.train.edges[:, part], self.train.non_edges[:, part]
        topology = adjacency if self.system.folds == 1 else hidden_edges(adjacency, edges)
        return self._ready(topology), (self._pairs(edges), self._pairs(non_edges))

    def _parts(self) -> list[NDArray[np.int64]]:
        order = np.random.default_rng(self.system.seed).permutation(self.train.edges.shape[1])
        return np.array_split(order, self.system.folds)

    def _pairs(self, pairs: NDArray[np.int64]) -> Edges:
        return Edges.from_pairs(torch.from_numpy(pairs), self.collected.num_nodes)


def hidden_edges(adjacency: sp.csr_array, edges: NDArray[np.int64]) -> sp.csr_array:
    """The adjacency without some edges, in both directions."""
    both = np.concatenate([edges, edges[::-1]], axis=1)
    hidden = sp.csr_array((np.ones(both.shape[1]), (both[0], both[1])), shape=adjacency.shape)
    kept = sp.csr_array(adjacency - adjacency.multiply(hidden > 0))
    kept.eliminate_zeros()
    return kept


def _stored(adjacency: sp.csr_array, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not pairs.shape[1]:
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(adjacency[pairs[0], pairs[1]] != 0).ravel()


def _scorer(weights: dict[str, NDArray[np.float32]]) -> HadamardLinkScorer:
    scorer = HadamardLinkScorer(len(weights["scorer.weight"]))
    scorer.load_state_dict({name: torch.from_numpy(weights[f"scorer.{name}"]) for name in ("weight", "bias")})
    return scorer
