"""Sub-graphs in chunks of fixed shape, so that kernels do the same to an example whoever else is in the batch.

A chunk has a number of lanes, and a lane has slots for one sub-graph: its centre, its neighbours, and empty slots. To a
module it is one graph, the disjoint union of all lanes and of two more nodes without features, the *spare* and the
*sink*:

    a neighbour that the centre hears has an edge to the centre of its lane
    for any other slot, empty or not, there is an edge from the spare to the sink

So every chunk of one shape has the same number of nodes and of edges, while a centre hears exactly its real neighbours:
an edge to the sink is in no degree, no mean and no softmax but those of the sink, which is in no loss and hears nobody.
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

_OUTSIDE = 2  # nodes: the spare and the sink


@dataclass(frozen=True, eq=False)
class Chunk:
    """Sub-graphs of similar size as one graph of fixed shape.

    Attributes:
        x: The features of all slots, lane by lane, and zeros for the spare and the sink.
        roles: The role of each slot, [lanes, slots]; the first slot of an empty lane is a centre, too.
        targets: The label of each lane's centre; 0 for an empty lane.
        keys: The seed of each lane's dropout.
        is_example: Tells which lanes hold a sub-graph.
        edges: The number of edges of a lane, those of its first slots after the centre.
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
    def centres(self) -> Tensor:
        """The row of each lane's centre."""
        return torch.arange(self.lanes) * self.slots

    @cached_property
    def filled(self) -> Tensor:
        """Tells which slots of each lane hold a node; the first one of an empty lane does too."""
        return self.roles != Role.EMPTY

    @cached_property
    def heard(self) -> Tensor:
        """Tells which edges of each lane lead to its centre."""
        return self.roles[:, 1 : 1 + self.edges] == Role.HEARD

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges, lane by lane."""
        spare, sink = len(self.x) - _OUTSIDE, len(self.x) - 1
        slots = self.centres[:, None] + torch.arange(1, 1 + self.edges)
        source = torch.where(self.heard, slots, spare)
        return torch.stack([source.flatten(), torch.where(self.heard, self.centres[:, None], sink).flatten()])

    def rows(self, outputs: Tensor) -> Tensor:
        """Return a module's outputs as [lanes, slots, ...], without the spare and the sink."""
        return outputs[: self.lanes * self.slots].reshape(self.lanes, self.slots, *outputs.shape[1:])

    def to(self, dtype: torch.dtype) -> Chunk:
        """Return the chunk with features of another type."""
        return self if self.x.dtype == dtype else replace(self, x=self.x.to(dtype))

    def alone(self, lane: int) -> Chunk:
        """Return the sub-graph of one lane as a chunk without empty slots."""
        count, start, here = int(self.filled[lane].sum()), lane * self.slots, slice(lane, lane + 1)
        x = torch.cat([self.x[start : start + count], self.x[-_OUTSIDE:]])
        edges = int(self.heard[lane].sum())
        return Chunk(x, self.roles[here, :count], self.targets[here], self.keys[here], self.is_example[here], edges)

    def lanes_of(self, lanes: Tensor) -> Chunk:
        """Return the chunk of the same shape in which each lane holds what a given lane holds here."""
        rows = (lanes[:, None] * self.slots + torch.arange(self.slots)).flatten()
        x = torch.cat([self.x[rows], self.x[-_OUTSIDE:]])
        return Chunk(x, self.roles[lanes], self.targets[lanes], self.keys[lanes], self.is_example[lanes], self.edges)

    def kinds_of_rows(self) -> dict[int, tuple[Tensor, Tensor]]:
        """Return, for each number of rows that a tensor about this graph may have, the lane and the place of each row.

        The rows may stand for nodes, for edges, or for edges and then a self-loop of each node, as PyG adds them. The
        lane of the spare and of the sink is -1.
        """
        node = torch.arange(self.lanes * self.slots)
        outside = torch.full((_OUTSIDE,), -1), torch.arange(_OUTSIDE)
        nodes = torch.cat([node // self.slots, outside[0]]), torch.cat([node % self.slots, outside[1]])
        edge = node[(node % self.slots > 0) & (node % self.slots <= self.edges)]
        edges = edge // self.slots, edge % self.slots
        both = torch.cat([edges[0], nodes[0]]), torch.cat([edges[1], -1 - nodes[1]])
        return {len(both[0]): both, len(edges[0]): edges, len(nodes[0]): nodes}

    def kinds_of_one_lane(self) -> dict[int, tuple[Tensor, Tensor]]:
        """Return the same for a full lane that is a graph of its own, without a spare and a sink."""
        nodes = torch.arange(self.slots)
        edges = nodes[1 : 1 + self.edges]
        both = torch.cat([edges, -1 - nodes])
        return {len(each): (torch.zeros_like(each), each) for each in (both, edges, nodes)}

    def by_lane(self, rows: Tensor) -> Tensor:
        """Return rows of one of these kinds as [lanes, rows of a lane, ...]: without the sink, and 0 in empty slots."""
        edges, nodes = (self.heard, self.edges), (self.filled, self.slots)
        split = self.lanes * self.edges
        if len(rows) == split:
            parts = [(rows, edges)]
        elif len(rows) > len(self.x):
            parts = [(rows[:split], edges), (rows[split:], nodes)]
        else:
            parts = [(rows, nodes)]
        found = []
        for part, (there, count) in parts:
            shaped = part[: self.lanes * count].reshape(self.lanes, count, *rows.shape[1:])
            found.append(torch.where(there.reshape(self.lanes, count, *[1] * (rows.dim() - 1)), shaped, 0.0))
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
    lanes: Callable[[int, int], int],
    *,
    exact: bool = False,
) -> Iterator[Chunk]:
    """Yield a batch in chunks; the shape that a sub-graph gets depends on its own nodes alone.

    Args:
        batch: The sub-graphs.
        features: The features of all nodes.
        targets: The label of each sub-graph's centre.
        keys: The seed of each sub-graph's dropout.
        lanes: Returns the number of lanes of a chunk from the numbers of slots and of edges of a lane.
        exact: True leaves no slot of a sub-graph empty, and no edge to the sink (default False).
    """
    counts = np.bincount(batch.owner, minlength=len(batch))
    place = 1 + np.arange(len(batch.owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    roles = np.full(len(batch.owner), Role.HEARD, dtype=np.int8) if batch.roles is None else batch.roles
    sizes = counts + 1 if exact else padded_size(counts + 1)
    edges = np.bincount(batch.owner[roles == Role.HEARD], minlength=len(batch)) if exact else sizes - 1
    for slots, width in np.unique(np.stack([sizes, edges], axis=1), axis=0).tolist():
        chosen = np.flatnonzero((sizes == slots) & (edges == width))
        table = np.full((len(chosen), slots), -1, dtype=np.int64)
        table[:, 0] = batch.central[chosen]
        parts = np.full((len(chosen), slots), Role.EMPTY, dtype=np.int8)
        number = np.full(len(batch), -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        among = number[batch.owner] >= 0
        where = number[batch.owner[among]], place[among]
        table[where], parts[where] = batch.peripheral[among], roles[among]
        step = lanes(slots, width)
        for start in range(0, len(chosen), step):
            here, some = slice(start, start + step), chosen[start : start + step]
            yield _chunk(table[here], parts[here], features, targets[some], keys[some], step, width)


def random_chunk(
    lanes: int,
    slots: int,
    columns: int,
    targets: Tensor,
    generator: torch.Generator,
    *,
    full: bool = False,
    last_role: Role = Role.HEARD,
    edges: int | None = None,
) -> Chunk:
    """Return a chunk of sub-graphs of random features, sizes and roles, which is nobody's data.

    Args:
        lanes: The number of lanes.
        slots: The slots of a lane.
        columns: The number of features.
        targets: One label for each lane.
        generator: The source of the numbers.
        full: True leaves no slot empty (default False).
        last_role: Roles are drawn from ``HEARD`` to this one (default ``HEARD``).
        edges: The number of neighbours that every centre hears, none of them an edge to the sink (default: a random
            number of as many edges as fit).
    """
    sizes = torch.randint(slots if full else 1, slots + 1, (lanes, 1), generator=generator).numpy()
    filled = np.arange(slots) < sizes
    table = np.where(filled, np.arange(lanes * slots).reshape(lanes, slots), -1)
    first = Role.HEARD if edges is None or edges == slots - 1 else Role.ASKED
    parts = torch.randint(first, last_role + 1, (lanes, slots), generator=generator).numpy().astype(np.int8)
    if edges is not None:
        parts[:, : 1 + edges] = Role.HEARD
    parts[:, 1:].sort(axis=1)
    features = torch.randn(lanes * slots, columns, generator=generator).numpy()
    keys = torch.randint(2**62, (lanes,), generator=generator).numpy()
    roles = np.where(filled, parts, np.int8(Role.EMPTY))
    return _chunk(table, roles, features, targets.numpy(), keys, lanes, slots - 1 if edges is None else edges)


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
    rows = np.zeros((len(flat) + _OUTSIDE, features.shape[1]), dtype=np.float32)
    there = np.flatnonzero(flat >= 0)
    picked = features[flat[there]]
    rows[there] = picked if isinstance(picked, np.ndarray) else picked.toarray()
    parts = np.pad(roles, ((0, missing), (0, 0)), constant_values=Role.EMPTY)
    parts[:, 0] = Role.CENTRE
    return Chunk(
        torch.from_numpy(rows),
        torch.from_numpy(parts),
        torch.from_numpy(np.pad(targets, (0, missing))),
        torch.from_numpy(np.pad(keys, (0, missing))),
        torch.arange(lanes) < len(table),
        edges,
    )
