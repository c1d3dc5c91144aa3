"""Sub-graphs in chunks of fixed shape, so that kernels do the same to an example whoever else is in the batch.

A chunk has a number of lanes, and a lane has slots for one sub-graph: its centre, its neighbours, and empty slots. To a
module it is one graph, the disjoint union of all lanes and of one more node, the *sink*:

    a neighbour has an edge to the centre of its lane
    an empty slot has zeros for features and an edge to the sink

So every chunk of one shape has the same number of nodes and of edges, while a centre hears exactly its real neighbours:
an empty slot is in no degree, no mean and no softmax but those of the sink, which is in no loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from privet.graph.subgraphs import SubgraphBatch

__all__ = ["Chunk", "Features", "chunks_of", "padded_size", "random_chunk"]

Features: TypeAlias = sp.csr_array | NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Sub-graphs of similar size as one graph of fixed shape.

    Attributes:
        x: The features of all slots, lane by lane, and zeros for the sink.
        edge_index: The edges of all slots but the first of each lane, to a centre or to the sink.
        targets: The label of each lane's centre; 0 for an empty lane.
        keys: The seed of each lane's dropout.
        is_example: Tells which lanes hold a sub-graph.
        slots: The number of slots of a lane.
    """

    x: Tensor
    edge_index: Tensor
    targets: Tensor
    keys: Tensor
    is_example: Tensor
    slots: int

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return len(self.targets)

    @cached_property
    def centres(self) -> Tensor:
        """The row of each lane's centre."""
        return torch.arange(self.lanes) * self.slots

    def to(self, dtype: torch.dtype) -> Chunk:
        """Return the chunk with features of another type."""
        return self if self.x.dtype == dtype else replace(self, x=self.x.to(dtype))

    def alone(self, lane: int) -> Chunk:
        """Return the sub-graph of one lane as a chunk without empty slots."""
        count, start = int(self.filled[lane].sum()), lane * self.slots
        x = torch.cat([self.x[start : start + count], self.x[-1:]])
        edges = torch.stack([torch.arange(1, count), torch.zeros(count - 1, dtype=torch.int64)])
        here = slice(lane, lane + 1)
        return Chunk(x, edges, self.targets[here], self.keys[here], self.is_example[here], count)

    def lanes_of(self, lanes: Tensor) -> Chunk:
        """Return the chunk of the same shape in which each lane holds what a given lane holds here."""
        rows = (lanes[:, None] * self.slots + torch.arange(self.slots)).flatten()
        edges = self.edge_index[1].reshape(self.lanes, self.slots - 1)[lanes]
        sink = len(self.x) - 1
        target = torch.where(edges < sink, self.centres[:, None], sink).flatten()
        return Chunk(
            torch.cat([self.x[rows], self.x[-1:]]),
            torch.stack([self.edge_index[0], target]),
            self.targets[lanes],
            self.keys[lanes],
            self.is_example[lanes],
            self.slots,
        )

    def kinds_of_rows(self) -> dict[int, tuple[Tensor, Tensor]]:
        """Return, for each number of rows that a tensor about this graph may have, the lane and the place of each row.

        The rows may stand for nodes, for edges, or for edges and then a self-loop of each node, as PyG adds them. The
        sink's lane is -1.
        """
        node = torch.arange(self.lanes * self.slots)
        nodes = torch.cat([node // self.slots, torch.tensor([-1])]), torch.cat([node % self.slots, torch.tensor([0])])
        edge = node[node % self.slots > 0]
        edges = edge // self.slots, edge % self.slots
        both = torch.cat([edges[0], nodes[0]]), torch.cat([edges[1], -1 - nodes[1]])
        return {len(both[0]): both, len(edges[0]): edges, len(nodes[0]): nodes}

    def kinds_of_one_lane(self) -> dict[int, tuple[Tensor, Tensor]]:
        """Return the same for a full lane that is a graph of its own, without a sink."""
        nodes = torch.arange(self.slots)
        both = torch.cat([nodes[1:], -1 - nodes])
        return {len(each): (torch.zeros_like(each), each) for each in (both, nodes[1:], nodes)}

    @cached_property
    def filled(self) -> Tensor:
        """Tells which slots of each lane hold a node; the first one of an empty lane does too."""
        edges = self.edge_index[1].reshape(self.lanes, self.slots - 1)
        return torch.cat([torch.ones(self.lanes, 1, dtype=torch.bool), edges < len(self.x) - 1], dim=1)

    def by_lane(self, rows: Tensor) -> Tensor:
        """Return rows of one of these kinds as [lanes, rows of a lane, ...]: without the sink, and 0 in empty slots."""
        split = self.lanes * (self.slots - 1) if len(rows) > len(self.x) else 0
        parts = [(rows[:split], self.slots - 1), (rows[split:], self.slots)] if split else [(rows, self.slots)]
        if len(rows) == self.lanes * (self.slots - 1):
            parts = [(rows, self.slots - 1)]
        found = []
        for part, count in parts:
            shaped = part[: self.lanes * count].reshape(self.lanes, count, *rows.shape[1:])
            there = self.filled[:, self.slots - count :].reshape(self.lanes, count, *[1] * (rows.dim() - 1))
            found.append(torch.where(there, shaped, 0.0))
        return torch.cat(found, dim=1) if len(found) > 1 else found[0]


def padded_size(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the slots for sub-graphs of so many nodes: the next of 1, 2, 3, 4, 6, 8, 12, 16, 24, ...

    Args:
        sizes: Numbers of nodes, at least 1.
    """
    power = 2 ** np.ceil(np.log2(sizes)).astype(np.int64)
    return np.where(sizes * 4 <= power * 3, power * 3 // 4, power) if len(sizes) else sizes


def chunks_of(
    batch: SubgraphBatch,
    features: Features,
    targets: NDArray[np.generic],
    keys: NDArray[np.int64],
    lanes: Callable[[int], int],
    *,
    exact: bool = False,
) -> Iterator[Chunk]:
    """Yield a batch in chunks; the shape that a sub-graph gets depends on its own size alone.

    Args:
        batch: The sub-graphs.
        features: The features of all nodes.
        targets: The label of each sub-graph's centre.
        keys: The seed of each sub-graph's dropout.
        lanes: Returns the number of lanes of a chunk from the number of slots.
        exact: True leaves no slot of a sub-graph empty (default False).
    """
    counts = np.bincount(batch.owner, minlength=len(batch))
    place = 1 + np.arange(len(batch.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    sizes = counts + 1 if exact else padded_size(counts + 1)
    for slots in np.unique(sizes).tolist():
        chosen = np.flatnonzero(sizes == slots)
        table = np.full((len(chosen), slots), -1, dtype=np.int64)
        table[:, 0] = batch.central[chosen]
        number = np.full(len(batch), -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        among = number[batch.owner] >= 0
        table[number[batch.owner[among]], place[among]] = batch.peripheral[among]
        width = lanes(slots)
        for start in range(0, len(chosen), width):
            part = chosen[start : start + width]
            yield _chunk(table[start : start + width], features, targets[part], keys[part], width)


def random_chunk(
    lanes: int, slots: int, columns: int, targets: Tensor, generator: torch.Generator, *, full: bool = False
) -> Chunk:
    """Return a chunk of sub-graphs of random features and sizes, which is nobody's data.

    Args:
        lanes: The number of lanes.
        slots: The slots of a lane.
        columns: The number of features.
        targets: One label for each lane.
        generator: The source of the numbers.
        full: True leaves no slot empty (default False).
    """
    sizes = torch.randint(slots if full else 1, slots + 1, (lanes, 1), generator=generator).numpy()
    filled = np.arange(slots) < sizes
    table = np.where(filled, np.arange(lanes * slots).reshape(lanes, slots), -1)
    features = torch.randn(lanes * slots, columns, generator=generator).numpy()
    keys = torch.randint(2**62, (lanes,), generator=generator).numpy()
    return _chunk(table, features, targets.numpy(), keys, lanes)


def _chunk(
    table: NDArray[np.int64], features: Features, targets: NDArray[np.generic], keys: NDArray[np.int64], lanes: int
) -> Chunk:
    """Write the chunk whose lanes hold the nodes of the rows of a table, in which -1 is an empty slot."""
    missing = lanes - len(table)
    nodes = np.pad(table, ((0, missing), (0, 0)), constant_values=-1)
    slots, flat = nodes.shape[1], nodes.ravel()
    rows = np.zeros((len(flat) + 1, features.shape[1]), dtype=np.float32)
    there = np.flatnonzero(flat >= 0)
    picked = features[flat[there]]
    rows[there] = picked if isinstance(picked, np.ndarray) else picked.toarray()
    source = np.arange(len(flat)).reshape(nodes.shape)[:, 1:].ravel()
    target = np.where(flat[source] >= 0, source // slots * slots, len(flat))
    return Chunk(
        torch.from_numpy(rows),
        torch.from_numpy(np.stack([source, target])),
        torch.from_numpy(np.pad(targets, (0, missing))),
        torch.from_numpy(np.pad(keys, (0, missing))),
        torch.arange(lanes) < len(table),
        slots,
    )
