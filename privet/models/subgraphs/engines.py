"""Two ways to the gradient of every sub-graph of a chunk, neither of which lets a sub-graph see another one.

:class:`Mapped` writes the module's work for *one* sub-graph, forward and backward, and has ``vmap`` of torch.func map
it over all of them: each operation of the module, of its hooks and of its backward pass acts on a tensor that is one
sub-graph's to it, and torch has no operation that reads across a mapped dimension. :class:`OneByOne` calls the module
for each sub-graph by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from privet.errors import PrivetError
from privet.graph.subgraphs import Role
from privet.models.subgraphs.chunks import Chunk, random_chunk
from privet.models.subgraphs.dropout import KeyedDropout
from privet.models.subgraphs.isolation import mapping, seeded_by
from privet.models.subgraphs.products import Product, Products
from privet.models.subgraphs.rounding import Direct, Outer

__all__ = ["Engine", "Head", "Mapped", "OneByOne", "shaken", "written_out"]

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


class _Plan(NamedTuple):
    """The uses of a module's parameters in sub-graphs of one shape.

    Attributes:
        products: The products with matrices of which nothing is written out.
        direct: The numbers of all other parameters.
        centre_only: The places among products in which only the centre's row has a gradient.
    """

    products: list[Product]
    direct: list[int]
    centre_only: frozenset[int] = frozenset()


class Mapped(Engine):
    """The work for one sub-graph, mapped over all sub-graphs of a chunk by ``vmap``.

    Gradients in matrices that are only in products with rows stay outer products, all others are written out.
    """

    def __init__(self, module: nn.Module, head: Head, columns: int) -> None:
        super().__init__(module, head, columns)
        self._plans: dict[tuple[int, int], _Plan] = {}

    @property
    def written_out(self) -> int:
        """The most numbers that are written out for a sub-graph."""
        sizes = [each.numel() for each in self.named.values()]
        return max((sum(sizes[number] for number in plan.direct) for plan in self._plans.values()), default=0)

    def gradients(self, values: list[Tensor], chunk: Chunk) -> list[Outer | Direct]:
        """Return outer products for matrices, and one vector for each lane for other parameters."""
        plan = self.plan(chunk.slots, chunk.edges)
        rows, slopes, written = self._mapped(values, chunk, plan)
        outer: dict[int, list[Outer]] = defaultdict(list)
        for place, (use, *parts) in enumerate(zip(plan.products, rows, slopes, strict=True)):
            inputs, slope = (part[:, :1] for part in parts) if place in plan.centre_only else parts
            outer[use.number].append(Outer(self.starts[use.number], use.transposed, inputs, slope))
        vectors = (Direct(self.starts[number], part) for number, part in zip(plan.direct, written, strict=True))
        return [*(_joined(uses) for uses in outer.values()), *vectors]

    def centre_rows(self, chunk: Chunk) -> Tensor:
        """Return the module's row for each centre."""
        values = self.values()

        def row(x: Tensor, key: Tensor) -> Tensor:
            with KeyedDropout(key):
                return self._outputs(values, x, chunk.edge_index.clone())[0]

        with mapping():
            rows: Tensor = vmap(row)(chunk.x, chunk.keys)
        return rows

    def plan(self, slots: int, edges: int) -> _Plan:
        """Return how the parameters are used in sub-graphs of a shape, from random ones.

        Args:
            slots: The number of nodes.
            edges: The number of edges.
        """
        if (slots, edges) not in self._plans:
            chunk, values = self.random(4, slots, edges, seed=slots), self.values()
            matrices = {id(each): number for number, each in enumerate(values) if each.dim() == 2}
            with torch.no_grad(), Products(chunk.keys[0], matrices) as seen:
                self._outputs(values, chunk.x[0].clone(), chunk.edge_index.clone())
            ways = {
                number: {use.transposed for use in seen.found if use.number == number} for number in matrices.values()
            }
            served = {number for number, way in ways.items() if len(way) == 1} - seen.used_otherwise
            plan = _Plan(
                [use for use in seen.found if use.number in served], [n for n in range(len(values)) if n not in served]
            )
            found = [self._mapped(tried, chunk, plan)[1] for tried in (values, shaken(values, seed=slots))]
            centre_only = (
                place
                for place, several in enumerate(zip(*found, strict=True))
                if not any(slope.shape[1] != slots or slope[:, 1:].any() for slope in several)
            )
            self._plans[slots, edges] = plan._replace(centre_only=frozenset(centre_only))
        return self._plans[slots, edges]

    def _mapped(
        self, values: list[Tensor], chunk: Chunk, plan: _Plan
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Return the rows of each product and the loss's gradient in it, and the gradients that are written out."""
        matrices = {id(values[use.number]): use.number for use in plan.products}

        def loss(
            nudges: list[Tensor], direct: list[Tensor], x: Tensor, target: Tensor, roles: Tensor, key: Tensor
        ) -> tuple[Tensor, list[Tensor]]:
            given = list(values)
            for number, value in zip(plan.direct, direct, strict=True):
                given[number] = value
            with Products(key, matrices, nudges) as seen:
                outputs = self._outputs(given, x, chunk.edge_index.clone())
            if seen.found != plan.products:
                raise PrivetError(f"{type(self.module).__name__} does other things than when it was tried.")
            return self.head.losses(outputs[None], target[None], roles[None])[0], seen.rows

        nudges = [torch.zeros(chunk.lanes, *use.shape, dtype=chunk.x.dtype) for use in plan.products]
        direct = [values[number] for number in plan.direct]
        parts = chunk.x.clone(), chunk.targets, chunk.roles, chunk.keys
        work = vmap(grad(loss, argnums=(0, 1), has_aux=True), in_dims=(0, None, 0, 0, 0, 0))
        with mapping():
            (slopes, written), rows = work(nudges, direct, *parts)
        there = chunk.is_example[:, None, None]
        return (
            [_three(each) for each in rows],
            [torch.where(there, _three(each), 0.0) for each in slopes],
            [torch.where(there[..., 0], each.reshape(chunk.lanes, -1), 0.0) for each in written],
        )


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


def _three(part: Tensor) -> Tensor:
    """Return what each lane has as [lanes, rows, columns]."""
    return part.reshape(len(part), -1, part.shape[-1])


def _joined(uses: list[Outer]) -> Outer:
    """Join several uses of one matrix."""
    inputs, slopes = (torch.cat([getattr(use, part) for use in uses], dim=1) for part in ("inputs", "slopes"))
    return uses[0]._replace(inputs=inputs, slopes=slopes)
