"""Node-level private training of a user's own module on sampled one-hop sub-graphs.

The sampler, its coins, the noise and the accountant are HeterPoisson's. docs/private-training.md has the argument why
they hold for any module that looks at one sub-graph at a time.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.data import Graph, from_pyg
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.graph.subgraphs import SubgraphBatch, few_neighbours
from privet.mechanisms import Bits
from privet.mechanisms.primitives.grid import GridSum
from privet.models import seeded
from privet.models.private_training import Optimizer, PrivateSteps, descend
from privet.models.subgraphs import SubgraphGradients, chunks_of
from privet.models.subgraphs.dropout import mixed
from privet.privacy import Guarantee
from privet.release.central import CentralRelease
from privet.systems.central._training_view import TrainingView
from privet.systems.central.heterpoisson import HeterPoisson, Setting
from privet.systems.central.trainer.heads import Classification, Regression, Task
from privet.systems.fitted import Fitted

__all__ = ["PrivateTrainer"]

Loss: TypeAlias = Literal["cross_entropy", "mse"]

_PREDICTED_ROWS = 4096


class PrivateTrainer:
    """Train a module so that it does not betray whether a training node took part.

    The module is called as ``module(x, edge_index)`` with features and edges of sub-graphs, each a centre and some of
    its neighbours with an edge to the centre, and returns one row for each node. Only the centre's row enters the loss.
    It is trained in place and never sees more than one hop.

    Formal guarantee: ``guarantee``, that of :class:`~privet.systems.central.heterpoisson.HeterPoisson` with the same
    settings, for a module whose first weights and buffers do not depend on the training nodes, that treats each
    sub-graph alone for all inputs and keeps nothing that it saw, and for features of a node that do not depend on
    another training node. Modules are tried on random and extreme sub-graphs; ``at_once=1`` computes each alone.

    Args:
        module: A torch module over features and edges; layers that look across sub-graphs are refused.
        graph: A graph with features, labels and a split, or a ``Data`` of PyTorch Geometric with masks. Validation and
            test nodes are not protected.
        target_epsilon: The largest epsilon of a run; give this or ``noise_multiplier``.
        noise_multiplier: The standard deviation of the noise on a sum of gradients, over ``max_grad_norm``.
        delta: The probability that the bound may fail with (default N^-1.1, N being the nodes of the whole graph).
        max_grad_norm: The norm that each sub-graph's gradient is clipped to (default 0.5).
        batch_size: N times the sampling rate q of each training node, N being all nodes of the graph (default 4096); a
            step has about q sub-graphs for each training node, and all of them in a graph of fewer nodes.
        epochs: The number of passes; there are ceil(epochs / q) steps (default 9).
        optimizer: "adam" (default) or "sgd".
        learning_rate: The optimizer's (default 0.01).
        multiplier: The expected number of other sub-graphs that a training node is in; 0 (default) takes unprotected
            neighbours only.
        setting: In the "transductive" setting (default) sub-graphs contain the unprotected neighbours of their centre;
            in the "inductive" one they do not.
        test_neighbours: The most unprotected neighbours that a prediction uses; None is all of them (default 13).
        loss: "cross_entropy" (default) for classes, "mse" for numbers.
        targets: With "mse", a number for each node, NaN where there is none.
        at_once: The most sub-graphs in one pass (default ``batch_size``, or as many as have 1,024 nodes); 1 computes
            each alone.
        seed: None draws coins and noise from the operating system; a number (simulation only) repeats bit for bit.
    """

    def __init__(
        self,
        module: nn.Module,
        graph: Any,
        *,
        target_epsilon: float | None = None,
        noise_multiplier: float | None = None,
        delta: float | None = None,
        max_grad_norm: float = 0.5,
        batch_size: int = 4096,
        epochs: float = 9.0,
        optimizer: Optimizer = "adam",
        learning_rate: float = 0.01,
        multiplier: float = 0.0,
        setting: Setting = "transductive",
        test_neighbours: int | None = 13,
        loss: Loss = "cross_entropy",
        targets: NDArray[np.floating] | None = None,
        at_once: int | None = None,
        seed: int | None = None,
    ) -> None:
        self.system = HeterPoisson(
            target_epsilon=target_epsilon,
            noise_multiplier=noise_multiplier,
            delta=delta,
            max_grad_norm=max_grad_norm,
            batch_size=batch_size,
            epochs=epochs,
            optimizer=optimizer,
            learning_rate=learning_rate,
            multiplier=multiplier,
            setting=setting,
            test_neighbours=test_neighbours,
            seed=seed,
        )
        if not math.isfinite(max_grad_norm):
            raise InvalidParameter("max_grad_norm", "PrivateTrainer", "a finite number", max_grad_norm)
        if at_once is not None and at_once < 1:
            raise InvalidParameter("at_once", "PrivateTrainer", "None or an integer of at least 1", at_once)
        if any(each.device.type != "cpu" for each in module.parameters()):
            raise InvalidParameter("module", "PrivateTrainer", "on the CPU, where sums are exact", "another device")
        self.module = module
        self.graph, self.task = _graph_and_task(graph, loss, targets)
        self._examples = self._prepared(at_once)
        self._predictions: NDArray[np.float32] | None = None
        self._started = False

    @property
    def release(self) -> CentralRelease:
        """The process, its noise and its promise."""
        return self.system.release(self.graph)

    @property
    def guarantee(self) -> Guarantee | None:
        """The promise of the trained module; None without noise."""
        return self.release.guarantee()

    @property
    def noise_multiplier(self) -> float:
        """The noise multiplier, given or calibrated."""
        return self.release.noise_multiplier

    @property
    def is_closed_form(self) -> bool:
        """True if gradient norms come in closed form, False if every gradient is written out."""
        return self._examples.is_closed_form

    def get_epsilon(self, delta: float) -> float:
        """Return the true epsilon at a delta of one's choice."""
        return self.system.get_epsilon(delta, num_nodes=self.graph.num_nodes)

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
        view, bits, release = self._view(), self.system.bits(), self.release
        release.guarantee()  # refuses too little noise before the work
        how = PrivateSteps(
            steps=release.process.steps,
            max_grad_norm=self.system.max_grad_norm,
            sigma=release.noise_multiplier * self.system.max_grad_norm,
            expected_size=release.process.rate * view.num_nodes,
            optimizer=self.system.optimizer,
            learning_rate=self.system.learning_rate,
        )
        sampler, targets = self.system.sampler(view), self.task.targets

        def gradient_sum() -> GridSum:
            batch, secret = sampler.draw(bits), bits.words(1).view(np.int64)
            keys = mixed(torch.from_numpy(batch.central) + torch.from_numpy(secret)).numpy()
            return self._examples.clipped_sum(
                batch, view.features, targets[batch.central], keys, self.system.max_grad_norm
            )

        self.module.train()
        self._started = True
        trained = {id(each) for each in self._examples.parameters}
        held = [each for each in (*self.module.buffers(), *self.module.parameters()) if id(each) not in trained]
        kept = [each.detach().clone() for each in held]
        descend(self._examples.parameters, gradient_sum, how, bits, progress=progress)
        with torch.no_grad():
            for each, before in zip(held, kept, strict=True):
                each.copy_(before)  # what training might have left there got no noise
        self.module.eval()
        self._predictions = self._predicted(view, bits)
        return self

    def predict_proba(self) -> NDArray[np.float32]:
        """Return class probabilities, one row a node; NaN for nodes that are protected or in no part of the split."""
        if not isinstance(self.task, Classification):
            raise PrivetError("Only a classifier has probabilities: use predict() for numbers.")
        return self._made()

    def predict(self) -> NDArray[Any]:
        """Return the class of each node, -1 where no prediction is made; with "mse" a number, or NaN."""
        made = self._made()
        if not isinstance(self.task, Classification):
            return made[:, 0]
        return np.where(np.isnan(made).any(axis=1), -1, np.nan_to_num(made).argmax(axis=1))

    def score(self, nodes: NDArray[np.bool_] | None = None) -> float:
        """Return the accuracy, or R^2 with "mse", for an evaluator who knows the labels.

        Args:
            nodes: A mask of nodes (default: the test nodes).
        """
        assert self.graph.split is not None
        chosen = self.graph.split.test if nodes is None else nodes
        if not (chosen & ~np.isnan(self._made()).any(axis=1)).any():
            raise InvalidData(
                "No node to score has a prediction: protected nodes get none. Leave some nodes out of training, for "
                "example by test_mask."
            )
        return self.task.score(self._made(), chosen)

    def fitted(self) -> Fitted:
        """Return probabilities, weights, guarantee and ledger as other systems do, to be saved or reported."""
        names = ("target_epsilon", "noise_multiplier", "delta", "max_grad_norm", "batch_size", "epochs", "optimizer",
                 "learning_rate", "multiplier", "setting", "test_neighbours")  # fmt: skip
        return Fitted(
            system="private-trainer",
            guarantee=self.guarantee,
            probabilities=self.predict_proba(),
            lines=self.release.lines(),
            settings={name: getattr(self.system, name) for name in names} | {"module": type(self.module).__name__},
            weights={name: value.detach().numpy().copy() for name, value in self.module.state_dict().items()},
        )

    def _prepared(self, at_once: int | None) -> SubgraphGradients:
        assert self.graph.features is not None
        self.module.train()
        with seeded(self.system.seed):  # for lazy layers
            most = self.system.batch_size if at_once is None else at_once
            return SubgraphGradients(self.module, self.graph.features.shape[1], self.task, most)

    def _view(self) -> TrainingView:
        """Return the training nodes and the unprotected ones."""
        assert self.graph.features is not None
        assert self.graph.split is not None
        members = self.task.members(self.graph.split.train)
        if not members.any():
            raise InvalidData("training nodes of PrivateTrainer", "labelled, at least one of them", "none that is")
        unprotected = self.graph.split.validation | self.graph.split.test
        nothing = np.full(self.graph.num_nodes, -1, dtype=np.int64)
        return TrainingView(self.graph, self.graph.features, nothing, members, unprotected, 0)

    def _predicted(self, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict for the unprotected nodes, each from itself and unprotected neighbours."""
        nodes = np.flatnonzero(view.unprotected_nodes)
        around = few_neighbours(view.among_unprotected(), self.system.test_neighbours, bits)[nodes]
        owner = np.repeat(np.arange(len(nodes)), np.diff(around.indptr))
        batch = SubgraphBatch(nodes, owner, around.indices.astype(np.int64))
        outputs: dict[int, Tensor] = {}
        zeros = np.zeros(len(nodes), dtype=np.int64)
        with torch.no_grad():
            for chunk in chunks_of(batch, view.features, np.arange(len(nodes)), zeros, _lanes):
                rows = self.module(chunk.to(self._examples.dtype).x, chunk.edge_index)[chunk.centres]
                there = chunk.is_example
                outputs.update(zip(chunk.targets[there].tolist(), rows[there], strict=True))
        width = len(next(iter(outputs.values()))) if outputs else 1
        found = np.full((view.num_nodes, width), np.nan, dtype=np.float32)
        if outputs:
            found[nodes] = self.task.meaning(torch.stack([outputs[number] for number in range(len(nodes))]))
        return found

    def _made(self) -> NDArray[np.float32]:
        if self._predictions is None:
            raise PrivetError("This module has not been trained yet: call fit() first.")
        return self._predictions


def _lanes(slots: int) -> int:
    return max(1, _PREDICTED_ROWS // slots)


def _graph_and_task(graph: Any, loss: Loss, targets: NDArray[np.floating] | None) -> tuple[Graph, Task]:
    """Return the graph and the labels to learn."""
    if hasattr(graph, "node_types") or type(graph).__name__ == "HeteroData":
        raise InvalidData(
            "PrivateTrainer takes graphs of one kind of node and edge: a person's price is counted over all edges at "
            "once. Use data.to_homogeneous() and give the kinds as features."
        )
    if not isinstance(graph, Graph):
        if loss == "mse" and targets is None and getattr(graph, "y", None) is not None:
            targets = graph.y.reshape(-1).numpy()
        copy = graph.clone()
        if loss == "mse":
            copy.y = None
        graph = from_pyg(copy)
    if graph.features is None:
        raise InvalidData("The graph given to PrivateTrainer has no features; a module needs some for each node.")
    if graph.split is None:
        raise InvalidData(
            "The graph given to PrivateTrainer has no split, so nobody knows who is protected: use "
            "graph.replace(split=split_nodes(graph, 0.8, 0.0)), or the masks of a PyG Data."
        )
    if loss == "cross_entropy":
        if graph.labels is None or targets is not None:
            raise InvalidData("classes for PrivateTrainer", "the labels of the graph", "targets, or none at all")
        return graph, Classification(graph.labels, 1 if graph.schema is None else graph.schema.classes)
    if loss != "mse":
        raise InvalidParameter("loss", "PrivateTrainer", "cross_entropy or mse, losses of the centre alone", loss)
    if targets is None:
        raise InvalidData("targets given to PrivateTrainer", "a number for each node with loss='mse'", "none")
    return graph, Regression(targets, graph.num_nodes)
