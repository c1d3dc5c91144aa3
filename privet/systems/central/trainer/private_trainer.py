"""Node-level private training of a user's own module on sampled one-hop sub-graphs.

The sampler, its coins, the noise and the accountant are HeterPoisson's. docs/explanation/private-training.md says why
they hold for any module that looks at one sub-graph at a time.
"""

from __future__ import annotations

from inspect import Signature
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from privet.data import Graph
from privet.data.mixing import mixed
from privet.errors import InvalidData, PrivetError
from privet.mechanisms.primitives.grid import GridSum
from privet.models import roc_auc, seeded
from privet.models.private_training import descend
from privet.models.subgraphs import SubgraphGradients
from privet.privacy import Guarantee
from privet.release.central import CentralRelease
from privet.systems.central._training_view import TrainingView
from privet.systems.central.trainer.inputs import (
    PyGData,
    check_module_kind,
    checked_pairs,
    checked_truth,
    graph_and_task,
)
from privet.systems.central.trainer.link_prediction import LinkPrediction
from privet.systems.central.trainer.predictions import Predictions
from privet.systems.central.trainer.settings import TrainerSettings
from privet.systems.central.trainer.tasks import Classification
from privet.systems.fitted import Fitted

__all__ = ["PrivateTrainer"]


class PrivateTrainer:
    """Train a module so that its release is (epsilon, delta)-private for each training node.

    The module is called as ``module(x, edge_index)`` with features and edges of sub-graphs, each a centre and some of
    its neighbours with an edge to the centre, and returns one row for each node. Only the centre's row enters the loss;
    with ``loss="links"`` also those of nodes without an edge to it. It is trained in place and never sees more than one
    hop.

    Formal guarantee: ``guarantee``, that of :class:`~privet.systems.central.heterpoisson.HeterPoisson` with the same
    settings, for a module whose first weights and buffers do not depend on the training nodes and that keeps nothing
    where it is not looked for (:mod:`privet.models.subgraphs.state`), and for features of a node that do not depend on
    another training node. No sub-graph sees another one, whatever the module does: ``engine`` says how.

    Args:
        module: A torch module over features and edges; one that keeps what it saw is refused.
        graph: A graph with features, labels (none for links) and a split, or a ``Data`` of PyTorch Geometric with
            masks. Validation and test nodes are not protected.
        targets: With ``loss="mse"``, a number for each node, NaN where there is none.
        **settings: The fields of :class:`~privet.systems.central.trainer.settings.TrainerSettings`, such as
            ``target_epsilon`` or ``noise_multiplier``, ``epochs``, ``multiplier`` and ``loss``.
    """

    __signature__: ClassVar[Signature] = TrainerSettings.signature("module", "graph")

    def __init__(
        self,
        module: nn.Module,
        graph: Graph | PyGData,
        *,
        targets: NDArray[np.floating] | None = None,
        **settings: Any,
    ) -> None:
        self.settings = TrainerSettings.given(settings)
        check_module_kind(module)
        self.module = module
        self.graph, self.task = graph_and_task(graph, self.settings.loss, targets)
        self._examples = self._prepared()
        self._predictions: Predictions | None = None
        self._started = False

    @property
    def release(self) -> CentralRelease:
        """The process, its noise and its promise."""
        return self.settings.release(self.graph)

    @property
    def guarantee(self) -> Guarantee | None:
        """The promise of the trained module; None without noise."""
        return self.release.guarantee()

    @property
    def num_nodes(self) -> int:
        """N, the number of all nodes of the graph, protected or not."""
        return self.graph.num_nodes

    @property
    def rate(self) -> float:
        """q = min(1, batch_size / N), the probability of each training node to be a centre in a step."""
        return self.settings.rate(self.num_nodes)

    @property
    def steps(self) -> int:
        """The number of steps, ceil(epochs / q)."""
        return self.settings.steps(self.num_nodes)

    @property
    def noise_multiplier(self) -> float:
        """The noise multiplier, given or calibrated."""
        return self.release.noise_multiplier

    @property
    def engine(self) -> str:
        """The way to the gradients, in words: by vmap over sub-graphs, or one by one where vmap cannot."""
        return self._examples.how

    def __repr__(self) -> str:
        guarantee = self.guarantee
        price = "no noise" if guarantee is None else f"epsilon {guarantee.epsilon:.4g} at delta {guarantee.delta:.3g}"
        return (
            f"PrivateTrainer({type(self.module).__name__}, N {self.num_nodes:,}, q {self.rate:.4g}, "
            f"{self.steps:,} steps, noise multiplier {self.noise_multiplier:.4g}, {price}, {self.engine})"
        )

    def get_epsilon(self, delta: float) -> float:
        """Return the true epsilon at a delta of one's choice."""
        return self.settings.get_epsilon(delta, num_nodes=self.num_nodes)

    def fit(self, *, progress: bool = False) -> Self:
        """Train the module in place, then predict for the unprotected nodes.

        Args:
            progress: Show a bar on a terminal (default False).
        """
        if self._started:
            raise PrivetError(
                "This module has been trained, or its training was interrupted: a second run would spend a second "
                "budget. Make a new module and a new PrivateTrainer."
            )
        view, bits, how = self._view(), self.settings.bits(), self.settings.private_steps(self.num_nodes)
        sampler, targets = self.settings.sampler(view), self.task.targets

        def gradient_sum() -> GridSum:
            sampled, secret = sampler.draw(bits), bits.words(1).view(np.int64)
            batch = self.task.examples(sampled, _keys(sampled.central, secret))
            keys = _keys(batch.central, secret)
            return self._examples.clipped_sum(
                batch, view.features, targets[batch.central], keys, self.settings.max_grad_norm
            )

        self.module.train()
        self._started = True
        trained = {id(each) for each in self._examples.parameters}
        held = [each for each in (*self.module.buffers(), *self.module.parameters()) if id(each) not in trained]
        kept = [each.detach().clone() for each in held]
        try:
            descend(self._examples.parameters, gradient_sum, how, bits, progress=progress)
        finally:  # also of a training that is interrupted
            with torch.no_grad():
                for each, before in zip(held, kept, strict=True):
                    each.copy_(before)  # what training might have left there got no noise
        self.module.eval()
        self._predictions = Predictions.of(self._examples, view, self.settings.test_neighbours, bits)
        self._heard, self._alone = self._predictions.rows(), self._predictions.rows(alone=True)
        return self

    def predict_proba(self) -> NDArray[np.float32]:
        """Return class probabilities, one row a node; NaN for nodes that are protected or in no part of the split."""
        if isinstance(self.task, LinkPrediction):
            raise PrivetError("This module predicts links, not classes: use predict_links(pairs).")
        if not isinstance(self.task, Classification):
            raise PrivetError("Only a classifier has probabilities: use predict() for numbers.")
        return self._made()

    def predict(self) -> NDArray[Any]:
        """Return the class of each node, -1 where no prediction is made; with "mse" a number, or NaN."""
        made = self._made()
        if not isinstance(self.task, Classification):
            return made[:, 0]
        return np.where(np.isnan(made).any(axis=1), -1, np.nan_to_num(made).argmax(axis=1))

    def predict_links(self, pairs: ArrayLike) -> NDArray[np.float32]:
        """Return the probability of a link for each pair; NaN for a pair with a node that is protected or in no part.

        If the graph has an edge between the two, neither end hears the other: the answer is not read from the graph.

        Args:
            pairs: Node numbers, a pair in each column, [2, n].
        """
        if not isinstance(self.task, LinkPrediction):
            raise PrivetError("This module was not trained on links: use predict(), or PrivateTrainer(loss='links').")
        scores = self._trained().link_scores(checked_pairs(pairs, self.graph.num_nodes), self._heard, self._alone)
        return np.asarray(torch.from_numpy(scores).sigmoid().numpy(), dtype=np.float32)

    def score(
        self,
        nodes: NDArray[np.bool_] | None = None,
        *,
        pairs: ArrayLike | None = None,
        exists: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy, R^2 with "mse" or the AUC with "links", for an evaluator who knows the truth.

        Args:
            nodes: A mask of nodes (default: the test nodes).
            pairs: With "links", pairs of nodes, [2, n]; those with a protected node are left out.
            exists: With "links", tells which of the pairs are linked.
        """
        if isinstance(self.task, LinkPrediction):
            return self._auc(nodes, pairs, exists)
        if pairs is not None or exists is not None:
            raise PrivetError("Pairs are scored by a module that was trained with loss='links'; this one has nodes.")
        assert self.graph.split is not None
        chosen = self.graph.split.test if nodes is None else nodes
        if not (chosen & ~np.isnan(self._made()).any(axis=1)).any():
            raise InvalidData(
                "No node to score has a prediction: protected nodes get none. Leave some nodes out of training, for "
                "example by test_mask."
            )
        return self.task.score(self._made(), chosen)

    def fitted(self) -> Fitted:
        """Return predictions, weights, guarantee and ledger as other systems do, to be saved or reported.

        With "links" there are no classes. The embedding of an unprotected node is then its row with its neighbours and,
        behind it, its row alone; all others are NaN.
        """
        embedding = None
        if isinstance(self.task, LinkPrediction):
            self._trained()
            embedding = np.concatenate([self._heard, self._alone], axis=1)
        return Fitted(
            system="private-trainer",
            guarantee=self.guarantee,
            probabilities=self.predict_proba() if embedding is None else np.zeros((len(embedding), 0), np.float32),
            embedding=embedding,
            lines=self.release.lines(),
            settings=self.settings.without_seed() | {"module": type(self.module).__name__, "engine": self.engine},
            weights={name: value.detach().numpy().copy() for name, value in self.module.state_dict().items()},
        )

    def _auc(self, nodes: object, pairs: ArrayLike | None, exists: ArrayLike | None) -> float:
        """Return the share of pairs of a link and a non-link that are ranked correctly."""
        if nodes is not None or pairs is None or exists is None:
            raise PrivetError("A module that predicts links is scored by score(pairs=..., exists=...).")
        chances = self.predict_links(pairs)
        truth = checked_truth(exists, len(chances))
        known = ~np.isnan(chances)
        linked, others = (torch.from_numpy(chances[known & is_one]) for is_one in (truth, ~truth))
        if not len(linked) or not len(others):
            raise InvalidData(
                "An AUC needs a link and a non-link between unprotected nodes: pairs with protected nodes get no "
                "prediction."
            )
        return roc_auc(linked, others)

    def _prepared(self) -> SubgraphGradients:
        assert self.graph.features is not None
        self.module.train()
        at_once = self.settings.at_once
        with seeded(self.settings.seed):  # for lazy layers
            most = self.settings.batch_size if at_once is None else at_once
            return SubgraphGradients(self.module, self.graph.features.shape[1], self.task, most)

    def _view(self) -> TrainingView:
        """Return the training nodes and the unprotected ones."""
        assert self.graph.features is not None
        assert self.graph.split is not None
        members = self.task.members(self.graph.split.train)
        if not members.any():
            if isinstance(self.task, LinkPrediction):
                raise InvalidData(
                    "PrivateTrainer found no training node. Put some nodes into the split's training part."
                )
            raise InvalidData(
                "PrivateTrainer found no labelled training node. Give the graph labels, or predict links."
            )
        unprotected = self.graph.split.validation | self.graph.split.test
        nothing = np.full(self.graph.num_nodes, -1, dtype=np.int64)
        return TrainingView(self.graph, self.graph.features, nothing, members, unprotected, 0)

    def _trained(self) -> Predictions:
        if self._predictions is None:
            raise PrivetError("This module has not been trained yet: call fit() first.")
        return self._predictions

    def _made(self) -> NDArray[np.float32]:
        """Return the predictions for nodes."""
        if isinstance(self.task, LinkPrediction):
            raise PrivetError("This module predicts links, not labels of nodes: use predict_links(pairs).")
        self._trained()
        return self.task.meaning(torch.from_numpy(self._heard))


def _keys(central: NDArray[np.int64], secret: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a secret number for each centre, which does not depend on who else is one."""
    return np.asarray(mixed(torch.from_numpy(central) + torch.from_numpy(secret)).numpy())
