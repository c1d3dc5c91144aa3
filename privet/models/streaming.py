"""Training on rows that need not lie in memory: mini-batches are read when needed, predictions made block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.graph.distributed.columns import Columns
from privet.models.settings import TrainingSettings
from privet.models.training import TrainingResult, fixed_weights, train

__all__ = ["BATCH", "HeldRows", "Lesson", "NodeRows", "StoredRows", "outputs_of", "probabilities_of", "train_streamed"]

BATCH = 8192
"""Rows of a mini-batch, and rows that are evaluated at a time."""


class NodeRows(Protocol):
    """One row of numbers for each node."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of nodes and of columns."""

    def take(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the rows of some nodes, in the order given."""

    def mapped(self, function: Callable[[NDArray[np.float32]], Any], width: int) -> NDArray[np.float32]:
        """Apply a function of rows to all rows, some at a time, and return its ``width`` columns by node."""


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows in memory.

    Attributes:
        array: The rows.
    """

    array: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of nodes and of columns."""
        return int(self.array.shape[0]), int(self.array.shape[1])

    def take(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the rows of some nodes, in the order given."""
        return self.array[nodes]

    def mapped(self, function: Callable[[NDArray[np.float32]], Any], width: int) -> NDArray[np.float32]:
        """Apply a function of rows to all rows, some at a time, and return its ``width`` columns by node."""
        return _applied(function, width, None, self.array)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows in the files of a stored graph, one a partition.

    Attributes:
        columns: The files.
    """

    columns: Columns

    @property
    def shape(self) -> tuple[int, int]:
        """The number of nodes and of columns."""
        return self.columns.shape

    def take(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Read the rows of some nodes, in the order given."""
        return self.columns.take(nodes)

    def mapped(self, function: Callable[[NDArray[np.float32]], Any], width: int) -> NDArray[np.float32]:
        """Let the workers apply a function to each partition's rows, and return its ``width`` columns by node."""
        made = self.columns.graph.map(partial(_applied, function, width), self.columns, width=width)
        result: NDArray[np.float32] = made.numpy()
        made.close()
        return result


@dataclass(frozen=True, eq=False)
class Lesson:
    """A task for a network: nodes, a loss and a score.

    Attributes:
        nodes: The nodes whose rows it is fitted to.
        loss: Takes the outputs for some of these nodes and their ids; returns the mean loss.
        score: Takes a function from ids to outputs, and returns the figure by which the best network is chosen.
        direction: ``"max"`` if a larger score is better, ``"min"`` if a smaller one is.
    """

    nodes: Tensor
    loss: Callable[[Tensor, Tensor], Tensor]
    score: Callable[[Callable[[Tensor], Tensor]], float]
    direction: Literal["max", "min"]


def train_streamed(
    network: nn.Module, rows: NodeRows, lesson: Lesson, settings: TrainingSettings, batch: int = BATCH
) -> TrainingResult:
    """Train a network by mini-batches of rows, of which no more than one is held.

    Args:
        network: Takes rows and returns outputs.
        rows: The rows of all nodes.
        lesson: What to learn about which of them.
        settings: The settings of the training.
        batch: The most rows of a mini-batch.
    """
    pieces = -(-len(lesson.nodes) // batch)  # of equal size: statistics of a batch of one row would be undefined

    def losses(model: nn.Module) -> Iterator[Tensor]:
        for nodes in torch.tensor_split(lesson.nodes[torch.randperm(len(lesson.nodes))], pieces):
            yield lesson.loss(model(torch.from_numpy(rows.take(nodes.numpy()))), nodes)

    return train(network, losses, lambda model: lesson.score(partial(outputs_of, model, rows)), settings)


def outputs_of(network: nn.Module, rows: NodeRows, nodes: Tensor) -> Tensor:
    """Return a network's outputs for some nodes, whose rows are read a mini-batch at a time.

    Args:
        rows: The rows of all nodes.
        nodes: The ids.
    """
    found = []
    for some in torch.split(nodes, BATCH):
        with fixed_weights(), torch.no_grad():  # a stretch of its own, so that no batch is remembered
            found.append(network(torch.from_numpy(rows.take(some.numpy()))))
    return torch.cat(found)


def probabilities_of(network: nn.Module, rows: NodeRows, classes: int) -> NDArray[np.float32]:
    """Return the class probabilities of all nodes, computed where the rows are.

    Args:
        network: The network, in evaluation mode.
        rows: The rows of all nodes.
        classes: The number of classes.
    """
    return rows.mapped(partial(_probabilities, network), classes)


def _probabilities(network: nn.Module, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    with torch.no_grad():
        chances: NDArray[np.float32] = network(torch.from_numpy(np.array(rows))).softmax(1).numpy()
    return chances


def _applied(
    function: Callable[[NDArray[np.float32]], Any], width: int, _: Any, block: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Apply a function to a partition's rows, some at a time."""
    result = np.empty((len(block), width), np.float32)
    for first in range(0, len(block), BATCH):
        result[first : first + BATCH] = function(block[first : first + BATCH])
    return result
