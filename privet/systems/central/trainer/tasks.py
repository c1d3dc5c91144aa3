"""Tasks: from the outputs of a module to losses, predictions and a score."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from privet.errors import InvalidData
from privet.graph.subgraphs import Role, SubgraphBatch
from privet.models.subgraphs.engines import Head

__all__ = ["Classification", "NodeTask", "Regression", "Task"]

Array = NDArray[np.float32]


class Task(Head, Protocol):
    """A loss on the nodes of one sub-graph, and who is learned from."""

    def members(self, train: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the training nodes that take part."""

    def examples(self, batch: SubgraphBatch, keys: NDArray[np.int64]) -> SubgraphBatch:
        """Return the sub-graphs to learn from, each a function of one that was sampled and of its centre's key.

        Args:
            batch: The sampled sub-graphs.
            keys: A secret number for each centre, fresh in each step.
        """

    @property
    def targets(self) -> NDArray[np.generic]:
        """The label of each node; any number where there is none."""


class NodeTask(Task, Protocol):
    """A loss on the centre of a sub-graph alone, and the meaning of outputs."""

    def meaning(self, outputs: Tensor) -> Array:
        """Return predictions from outputs: class probabilities, or numbers."""

    def score(self, predictions: Array, nodes: NDArray[np.bool_]) -> float:
        """Return how good predictions are on those of some nodes that have a label."""


class _CentreAlone:
    """A task in which the centre hears all nodes of its sub-graph, and the loss reads the centre's outputs."""

    last_role = Role.HEARD

    def losses(self, rows: Tensor, targets: Tensor, roles: Tensor) -> Tensor:
        """Return the loss of each centre."""
        return self.centre_losses(rows[:, 0], targets)

    def centre_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return one loss for each row."""
        raise NotImplementedError

    def examples(self, batch: SubgraphBatch, keys: NDArray[np.int64]) -> SubgraphBatch:
        """Return the sub-graphs as they were sampled."""
        return batch


class Classification(_CentreAlone):
    """Node classification by cross-entropy.

    Args:
        labels: The class of each node, -1 where there is none.
        classes: The declared number of classes, or 1 if none is declared.
    """

    def __init__(self, labels: NDArray[np.int64], classes: int = 1) -> None:
        self._labels, self.outputs_needed = labels, classes

    def centre_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the cross-entropy of each row; 0 for a class without an output, as an error would tell of somebody."""
        known = (targets >= 0) & (targets < outputs.shape[1])
        losses = cross_entropy(outputs, torch.where(known, targets, 0), reduction="none")
        return torch.where(known, losses, torch.zeros_like(losses))

    def random_targets(self, count: int, generator: torch.Generator) -> Tensor:
        """Return class 0, which every module has."""
        return torch.zeros(count, dtype=torch.int64)

    def members(self, train: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the training nodes that have a class."""
        return train & (self._labels >= 0)

    @property
    def targets(self) -> NDArray[np.int64]:
        """The class of each node."""
        return self._labels

    def meaning(self, outputs: Tensor) -> Array:
        """Return class probabilities."""
        return np.asarray(outputs.float().softmax(dim=1).numpy(), dtype=np.float32)

    def score(self, predictions: Array, nodes: NDArray[np.bool_]) -> float:
        """Return the accuracy."""
        known = nodes & (self._labels >= 0) & ~np.isnan(predictions).any(axis=1)
        return float((predictions[known].argmax(axis=1) == self._labels[known]).mean())


class Regression(_CentreAlone):
    """Node regression by the squared error of the module's only output.

    Args:
        targets: A number for each node, NaN where there is none; best of a public scale near 1.
    """

    def __init__(self, targets: NDArray[np.floating], num_nodes: int) -> None:
        expected = f"Give one number for each of {num_nodes} nodes."
        try:
            with np.errstate(over="ignore"):  # a warning would tell of somebody; what is not finite has no target
                self._known = np.asarray(targets, dtype=np.float32)
        except (TypeError, ValueError):
            raise InvalidData(f"The targets given to PrivateTrainer are not numbers. {expected}") from None
        self.outputs_needed = 1
        if self._known.shape != (num_nodes,):
            raise InvalidData(f"The targets given to PrivateTrainer have shape {list(self._known.shape)}. {expected}")

    def centre_losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the squared error of each row."""
        if outputs.shape[1] != 1:
            raise ValueError("regression needs one output")
        return (outputs[:, 0] - targets.to(outputs.dtype)) ** 2

    def random_targets(self, count: int, generator: torch.Generator) -> Tensor:
        """Return standard normal numbers."""
        return torch.randn(count, generator=generator)

    def members(self, train: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the training nodes that have a number."""
        return np.asarray(train & np.isfinite(self._known))

    @property
    def targets(self) -> NDArray[np.float32]:
        """The number of each node."""
        return self._known

    def meaning(self, outputs: Tensor) -> Array:
        """Return the numbers."""
        return np.asarray(outputs.float().numpy(), dtype=np.float32)

    def score(self, predictions: Array, nodes: NDArray[np.bool_]) -> float:
        """Return the coefficient of determination, R^2."""
        known = nodes & np.isfinite(self._known) & ~np.isnan(predictions[:, 0])
        truth = self._known[known].astype(np.float64)
        return float(1.0 - np.mean((truth - predictions[known, 0]) ** 2) / truth.var())
