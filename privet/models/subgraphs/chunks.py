"""Sub-graphs of equal shape, side by side.

A chunk has a number of lanes, and each lane is a sub-graph of its own: the centre, its neighbours and, behind them,
empty slots. The neighbours that a centre hears stand first, each with an edge to the centre; there are no other edges.
So all lanes of a chunk have the same edges, and differ in features alone.
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

from privet.graph.subgraphs import Role, SubgraphBatch

__all__ = ["Chunk", "Features", "chunks_of", "padded_size", "random_chunk"]

Features: TypeAlias = sp.csr_array | NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Sub-graphs of one shape.

    Attributes:
        x: The features of all slots, [lanes, slots, columns]; zeros in empty ones.
        roles: The role of each slot, [lanes, slots]; the first slot of an empty lane is a centre, too.
        targets: The label of each lane's centre; 0 for an empty lane.
        keys: The seed of each lane's dropout.
        is_example: Tells which lanes hold a sub-graph.
        edges: The number of neighbours that each centre hears, those of the first slots after it.
    """

    x: Tensor
    roles: Tensor
    targets: Tensor
    keys: Tensor
    is_example: Tensor
    edges: int

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return self.roles.shape[0]

    @property
    def slots(self) -> int:
        """The number of slots of a lane."""
        return self.roles.shape[1]

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges of each lane."""
        return torch.stack([torch.arange(1, 1 + self.edges), torch.zeros(self.edges, dtype=torch.int64)])

    def to(self, dtype: torch.dtype) -> Chunk:
        """Return the chunk with features of another type."""
        return self if self.x.dtype == dtype else replace(self, x=self.x.to(dtype))

    def with_features(self, x: Tensor) -> Chunk:
        """Return the chunk with other features."""
        return replace(self, x=x)

    def lanes_of(self, lanes: Tensor) -> Chunk:
        """Return the chunk of some lanes, given by their numbers or by a mask."""
        held = self.x, self.roles, self.targets, self.keys, self.is_example
        x, roles, targets, keys, is_example = (each[lanes] for each in held)
        return Chunk(x, roles, targets, keys, is_example, self.edges)

    def apart(self) -> Iterator[Chunk]:
        """Yield each lane as a chunk of its own."""
        for lane in torch.arange(self.lanes):
            yield self.lanes_of(lane[None])


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
    lanes: Callable[[int, int], int],
) -> Iterator[Chunk]:
    """Yield a batch in chunks; the shape that a sub-graph gets depends on its own nodes alone.

    Where all nodes are heard, no slot is empty. Where there are other roles, slots are padded: shapes are fewer then.

    Args:
        batch: The sub-graphs.
        features: The features of all nodes.
        targets: The label of each sub-graph's centre.
        keys: The seed of each sub-graph's dropout.
        lanes: Returns the number of lanes of a chunk from the numbers of slots and of edges of a lane.
    """
    counts = np.bincount(batch.owner, minlength=len(batch))
    place = 1 + np.arange(len(batch.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    roles = np.full(len(batch.owner), Role.HEARD, dtype=np.int8) if batch.roles is None else batch.roles
    sizes = counts + 1 if batch.roles is None else padded_size(counts + 1)
    edges = np.bincount(batch.owner[roles == Role.HEARD], minlength=len(batch))
    table = np.full((len(batch), int(sizes.max(initial=1))), -1, dtype=np.int64)
    parts = np.full(table.shape, Role.EMPTY, dtype=np.int8)
    table[:, 0], parts[:, 0] = batch.central, Role.CENTRE
    table[batch.owner, place], parts[batch.owner, place] = batch.peripheral, roles
    shapes, number = np.unique(np.stack([sizes, edges], axis=1), axis=0, return_inverse=True)
    for shape, (slots, heard) in enumerate(shapes.tolist()):
        chosen = np.flatnonzero(number.ravel() == shape)
        step = lanes(slots, heard)
        for start in range(0, len(chosen), step):
            some = chosen[start : start + step]
            yield _chunk(table[some, :slots], parts[some, :slots], features, targets[some], keys[some], step, heard)


def random_chunk(
    lanes: int,
    slots: int,
    columns: int,
    targets: Tensor,
    generator: torch.Generator,
    *,
    last_role: Role = Role.HEARD,
    edges: int | None = None,
) -> Chunk:
    """Return a chunk of sub-graphs of standard normal features and random roles, which is nobody's data.

    Args:
        lanes: The number of lanes.
        slots: The slots of a lane.
        columns: The number of features.
        targets: One label for each lane.
        generator: The source of the numbers.
        last_role: Roles of those who are not heard are drawn up to this one (default ``HEARD``).
        edges: The number of neighbours that every centre hears (default all).
    """
    edges = slots - 1 if edges is None else edges
    first = min(Role.ASKED, last_role)
    parts = torch.randint(first, last_role + 1, (lanes, slots), generator=generator).to(torch.int8)
    parts[:, 0], parts[:, 1 : 1 + edges] = Role.CENTRE, Role.HEARD
    x = torch.randn(lanes, slots, columns, generator=generator)
    keys = torch.randint(2**62, (lanes,), generator=generator)
    return Chunk(x, parts, targets, keys, torch.ones(lanes, dtype=torch.bool), edges)


def _chunk(
    table: NDArray[np.int64],
    roles: NDArray[np.int8],
    features: Features,
    targets: NDArray[np.generic],
    keys: NDArray[np.int64],
    lanes: int,
    edges: int,
) -> Chunk:
    """Write the chunk whose lanes hold the nodes of the rows of a table, in which -1 is an empty slot."""
    missing = lanes - len(table)
    flat = np.pad(table, ((0, missing), (0, 0)), constant_values=-1).ravel()
    rows = np.zeros((len(flat), features.shape[1]), dtype=np.float32)
    there = np.flatnonzero(flat >= 0)
    picked = features[flat[there]]
    rows[there] = picked if isinstance(picked, np.ndarray) else picked.toarray()
    parts = np.pad(roles, ((0, missing), (0, 0)), constant_values=Role.EMPTY)
    parts[:, 0] = Role.CENTRE
    return Chunk(
        torch.from_numpy(rows).reshape(lanes, table.shape[1], -1),
        torch.from_numpy(parts),
        torch.from_numpy(np.pad(targets, (0, missing))),
        torch.from_numpy(np.pad(keys, (0, missing))),
        torch.arange(lanes) < len(table),
        edges,
    )
