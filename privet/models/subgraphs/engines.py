"""Two ways to the gradient of every sub-graph of a chunk, neither of which lets a sub-graph see another one.

:class:`~privet.models.subgraphs.mapped.Mapped` writes the module's work for *one* sub-graph, forward and backward, and
has ``vmap`` of torch.func map it over all of them: each operation of the module, of its hooks and of its backward pass
acts on a tensor that is one sub-graph's to it, and torch has no operation that reads across a mapped dimension.
:class:`OneByOne` calls the module for each sub-graph by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call

from privet.graph.subgraphs import Role
from privet.models.subgraphs.chunks import Chunk, random_chunk
from privet.models.subgraphs.integers import Direct, Outer
from privet.models.subgraphs.isolation import KeyedDropout, seeded_by

__all__ = ["Engine", "Head", "OneByOne", "shaken", "written_out"]

_MOVED = 0.1  # is how far weights that all begin with one value, such as 0, may come


class Head(Protocol):
    """A task: the loss of a sub-graph's outputs, and labels to try it with.

    Attributes:
        outputs_needed: The least number of outputs of a module.
        last_role: Nodes beside the centre have roles from ``HEARD`` to this one.
    """

    outputs_needed: int
    last_role: Role

    def losses(self, rows: Tensor, targets: Tensor, roles: Tensor) -> Tensor:
        """Return one loss for each sub-graph.

        Args:
            rows: The outputs, [sub-graphs, slots, outputs], the centre's first.
            targets: The label of each centre.
            roles: The role of each slot; outputs of empty ones mean nothing.
        """

    def random_targets(self, count: int, generator: torch.Generator) -> Tensor:
        """Return labels that are nobody's data."""


class Engine:
    """A module whose parameters can be given other values.

    Args:
        module: The module, called with the features and the edges of a sub-graph; one row of its output for each node.
        head: The task.
        columns: The number of features.
    """

    def __init__(self, module: nn.Module, head: Head, columns: int) -> None:
        self.module, self.head, self.columns = module, head, columns
        self.named = {name: each for name, each in module.named_parameters() if each.requires_grad}
        sizes = [each.numel() for each in self.named.values()]
        self.starts = [sum(sizes[:number]) for number in range(len(sizes))]
        self.size = sum(sizes)

    def values(self) -> list[Tensor]:
        """Return the parameters' values of now."""
        return [each.detach().clone() for each in self.named.values()]

    def gradients(self, values: list[Tensor], chunk: Chunk) -> list[Outer | Direct]:
        """Return the gradient of each lane's loss, part by part.

        Args:
            values: The values of the parameters.
            chunk: The sub-graphs.
        """
        raise NotImplementedError

    def centre_rows(self, chunk: Chunk) -> Tensor:
        """Return the module's row for the centre of each lane."""
        raise NotImplementedError

    def random(self, lanes: int, slots: int, edges: int | None = None, *, seed: int) -> Chunk:
        """Return random sub-graphs with the roles of the task, nobody's data.

        Args:
            lanes: Their number.
            slots: The number of nodes of each.
            edges: The number of neighbours that a centre hears (default all).
            seed: The seed.
        """
        generator = torch.Generator().manual_seed(seed)
        targets, last = self.head.random_targets(lanes, generator), self.head.last_role
        chunk = random_chunk(lanes, slots, self.columns, targets, generator, last_role=last, edges=edges)
        return chunk.to(next(iter(self.named.values())).dtype)

    def _outputs(self, values: list[Tensor], x: Tensor, edge_index: Tensor) -> Tensor:
        given = dict(zip(self.named, values, strict=True))
        made: Tensor = functional_call(self.module, given, (x, edge_index))
        return made


class OneByOne(Engine):
    """The module is called for each sub-graph by itself, and gradients are written out.

    Its random numbers are those of torch, numpy and Python, begun anew from the key of the sub-graph.
    """

    def gradients(self, values: list[Tensor], chunk: Chunk) -> list[Outer | Direct]:
        """Return one vector for each lane."""
        return [Direct(0, torch.stack([self._gradient(values, lane) for lane in chunk.apart()]))]

    def centre_rows(self, chunk: Chunk) -> Tensor:
        """Return the module's row for each centre."""
        return torch.stack([self.rows(self.values(), lane)[0] for lane in chunk.apart()])

    def rows(self, values: list[Tensor], lane: Chunk) -> Tensor:
        """Return the module's rows for a chunk of one lane.

        Args:
            values: The values of the parameters.
            lane: The sub-graph.
        """
        return self._called(values, lane, lambda outputs: outputs)

    def _called(self, values: list[Tensor], lane: Chunk, work: Callable[[Tensor], Tensor]) -> Tensor:
        """Return what some work makes of the module's rows while it has these values and the lane's coins.

        A backward pass is such work: with checkpoints it calls the module again.
        """
        given = {f"module.{name}": value for name, value in zip(self.named, values, strict=True)}
        arguments = lane.x[0].clone(), lane.edge_index.clone(), work
        with seeded_by(int(lane.keys[0])), KeyedDropout(lane.keys[0]):
            made: Tensor = functional_call(_Followed(self.module), given, arguments)
            return made

    def _gradient(self, values: list[Tensor], lane: Chunk) -> Tensor:
        own = [each.clone().requires_grad_() for each in values]  # what the module writes there is nobody else's

        def gradient(outputs: Tensor) -> Tensor:
            loss = self.head.losses(outputs[None], lane.targets, lane.roles)[0]
            if not lane.is_example[0] or not loss.requires_grad:
                return torch.zeros(self.size, dtype=values[0].dtype)
            found = torch.autograd.grad(loss, own, allow_unused=True)
            parts = [torch.zeros_like(v) if g is None else g for v, g in zip(own, found, strict=True)]
            return torch.cat([part.flatten() for part in parts])

        return self._called(own, lane, gradient)


class _Followed(nn.Module):
    """A module, and work on its outputs."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor, edge_index: Tensor, work: Callable[[Tensor], Tensor]) -> Tensor:
        return work(self.module(x, edge_index))


def shaken(values: list[Tensor], seed: int) -> list[Tensor]:
    """Return other weights of the same size, as training may lead to; no layer of equal numbers stays one.

    Args:
        values: The weights.
        seed: The seed of the change.
    """
    generator = torch.Generator().manual_seed(seed)
    found = []
    for each in values:
        spread = each.std(correction=0)
        spread = torch.where(spread > 0, spread, _MOVED)
        found.append(each + spread * torch.randn(each.shape, generator=generator).to(each))
    return found


def written_out(uses: list[Outer | Direct], lanes: int, size: int) -> Tensor:
    """Return every lane's gradient as a row of numbers, for comparisons on small chunks.

    Args:
        uses: The gradients.
        lanes: The number of lanes.
        size: The number of entries of all parameters.
    """
    rows = torch.zeros(lanes, size)
    for use in uses:
        start, part = use.written_out()
        rows[:, start : start + part.shape[1]] += part
    return rows
