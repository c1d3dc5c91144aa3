"""Two ways to the gradient of every sub-graph of a chunk."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from privet.graph.subgraphs import Role
from privet.models.subgraphs.capture import Capture, OuterUse, Unserved, wide_linear
from privet.models.subgraphs.chunks import Chunk
from privet.models.subgraphs.dropout import KeyedDropout
from privet.models.subgraphs.rounding import Direct, Outer

__all__ = ["ClosedForm", "Engine", "Head", "Whole", "written_out"]


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
        module: The module, called with the features and the edges of a graph; one row of its output for each node.
        head: The task.
    """

    exact: bool
    """True if sub-graphs must fill their lanes."""

    def __init__(self, module: nn.Module, head: Head) -> None:
        self.module, self.head = module, head
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


class ClosedForm(Engine):
    """One forward and one backward pass for all lanes; see :mod:`privet.models.subgraphs.capture`."""

    exact = False

    def __init__(self, module: nn.Module, head: Head) -> None:
        super().__init__(module, head)
        self.centre_only: frozenset[int] = frozenset()
        """The products in which only centres' rows have a gradient, by their order."""

    def gradients(self, values: list[Tensor], chunk: Chunk) -> list[Outer | Direct]:
        """Return outer products for matrices; raises Unserved where a parameter is used in another way."""
        seen, slopes = self._run(values, chunk)
        products: dict[int, list[Outer]] = defaultdict(list)
        for number, (use, slope) in enumerate(zip(seen.outer, slopes, strict=False)):
            products[use.weight].append(self._outer(use, slope, chunk, number in self.centre_only))
        found: list[Outer | Direct] = [_joined(each) for each in products.values()]
        sums: dict[int, Tensor] = {}
        for (number, _), slope in zip(seen.copies, slopes[len(seen.outer) :], strict=True):
            part = chunk.by_lane(slope).sum(1).reshape(chunk.lanes, -1)
            sums[number] = sums[number] + part if number in sums else part
        found += [Direct(self.starts[number], part) for number, part in sums.items()]
        starts = [start for use in found for start in _starts(use)]
        if len(starts) != len(set(starts)):
            raise Unserved("a parameter that is used in two ways")
        return found

    def learn_centre_only(self, tried: list[list[Tensor]], chunks: list[Chunk]) -> None:
        """Find the products in which only centres' rows have a gradient; others' rows are skipped from then on.

        Args:
            tried: Several values of the parameters; behind a layer of zeros no row has a gradient.
            chunks: Random sub-graphs.
        """
        found: list[set[int]] = []
        for values, chunk in product(tried, chunks):
            seen, slopes = self._run(values, chunk)
            nodes = [number for number, use in enumerate(seen.outer) if len(use.inputs) == len(chunk.x)]
            found.append({number for number in nodes if not chunk.by_lane(slopes[number])[:, 1:].any()})
        self.centre_only = frozenset(set.intersection(*found))

    def _run(self, values: list[Tensor], chunk: Chunk) -> tuple[Capture, list[Tensor]]:
        """Return the recorded uses, and the loss's gradient in each product and in each copy."""
        numbers = {id(each): (number, values[number]) for number, each in enumerate(self.named.values())}
        with Capture(numbers, chunk.kinds_of_rows(), chunk.keys) as seen:
            outputs = self.module(chunk.x, chunk.edge_index)
        losses = self.head.losses(chunk.rows(outputs), chunk.targets, chunk.roles)
        total = torch.where(chunk.is_example, losses, 0.0).sum()
        recorded = [use.output for use in seen.outer] + [copies for _, copies in seen.copies]
        slopes = torch.autograd.grad(total, recorded, allow_unused=True)
        return seen, [torch.zeros_like(o) if s is None else s for o, s in zip(recorded, slopes, strict=True)]

    def _outer(self, use: OuterUse, slopes: Tensor, chunk: Chunk, centre_only: bool) -> Outer:
        if centre_only:
            inputs, slopes = use.inputs[chunk.centres][:, None], slopes[chunk.centres][:, None]
        else:
            inputs, slopes = chunk.by_lane(use.inputs), chunk.by_lane(slopes)
        bias = None if use.bias is None else self.starts[use.bias]
        return Outer(self.starts[use.weight], bias, use.transposed, inputs, slopes)


class _WideLinear(KeyedDropout):
    """Compute linear layers with a multiple of 16 columns, too."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is functional.linear:
            return wide_linear(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)


class Whole(Engine):
    """The gradient of each lane written out, by ``vmap(grad)`` of torch.func; a single lane by plain autograd."""

    exact = True

    def gradients(self, values: list[Tensor], chunk: Chunk) -> list[Outer | Direct]:
        """Return one vector for each lane."""
        star = torch.stack([torch.arange(1, 1 + chunk.edges), torch.zeros(chunk.edges, dtype=torch.int64)])
        kinds = chunk.kinds_of_one_lane()

        def loss(values: list[Tensor], x: Tensor, target: Tensor, roles: Tensor, key: Tensor) -> Tensor:
            with _WideLinear(kinds, key[None]):
                outputs = functional_call(self.module, dict(zip(self.named, values, strict=True)), (x, star))
            return self.head.losses(outputs[None], target[None], roles[None])[0]

        parts = chunk.rows(chunk.x), chunk.targets, chunk.roles, chunk.keys
        if chunk.lanes == 1:
            inputs: Any = [each.detach().requires_grad_() for each in values]
            found = torch.autograd.grad(loss(inputs, *(part[0] for part in parts)), inputs, allow_unused=True)
            each = [torch.zeros_like(v)[None] if g is None else g[None] for v, g in zip(values, found, strict=True)]
        else:
            each = vmap(grad(loss), in_dims=(None, 0, 0, 0, 0))(values, *parts)
        flat = torch.cat([part.reshape(chunk.lanes, -1) for part in each], dim=1)
        return [Direct(0, torch.where(chunk.is_example[:, None], flat, 0.0))]


def written_out(uses: list[Outer | Direct], lanes: int, size: int) -> Tensor:
    """Return every lane's gradient as a row of numbers, for comparisons on small chunks.

    Args:
        uses: The gradients.
        lanes: The number of lanes.
        size: The number of entries of all parameters.
    """
    rows = torch.zeros(lanes, size)
    for use in uses:
        for start, part in use.written_out():
            rows[:, start : start + part.shape[1]] += part
    return rows


def _joined(uses: list[Outer]) -> Outer:
    """Join several uses of one matrix."""
    first = uses[0]
    if any((use.bias, use.transposed) != (first.bias, first.transposed) for use in uses):
        raise Unserved("a matrix with several biases")
    inputs, slopes = (torch.cat([getattr(use, part) for use in uses], dim=1) for part in ("inputs", "slopes"))
    return first._replace(inputs=inputs, slopes=slopes)


def _starts(use: Outer | Direct) -> list[int]:
    """Return the beginnings of all parameters that a part of the gradient is about."""
    if isinstance(use, Direct):
        return [use.start]
    return [use.weight] if use.bias is None else [use.weight, use.bias]
