"""Gradients of all sub-graphs of a chunk at once, by ``vmap`` over the work for one of them.

In out = rows @ matrix a sub-graph's gradient in the matrix is the sum of the outer products of its rows and the
gradients in the rows of ``out``. So a *nudge* of zeros is added to ``out``: the gradient in the nudge and the rows are
all that is needed, and the gradient in the matrix is never written out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import grad, vmap
from torch.nn import functional
from torch.nn.functional import pad

from privet.errors import PrivetError
from privet.models.subgraphs.chunks import Chunk
from privet.models.subgraphs.engines import Engine, Head, shaken
from privet.models.subgraphs.integers import Direct, Outer
from privet.models.subgraphs.isolation import KeyedDropout, mapping, refuse_sight

__all__ = ["Mapped", "Product", "Products", "wide_linear"]

_HUGE = 1e6
_PRODUCTS = (torch.matmul, torch.mm, Tensor.matmul, Tensor.mm, Tensor.__matmul__)


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
        self._first = self.values()

    @property
    def written_out(self) -> int:
        """The most numbers that are written out for a sub-graph."""
        return max((self.written_out_of(*shape) for shape in self._plans), default=0)

    def written_out_of(self, slots: int, edges: int) -> int:
        """Return the numbers that are written out for a sub-graph of a shape.

        Args:
            slots: The number of nodes.
            edges: The number of edges.
        """
        sizes = [each.numel() for each in self.named.values()]
        return sum(sizes[number] for number in self.plan(slots, edges).direct)

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
        """Return how the parameters are used in sub-graphs of a shape, from random ones and the first weights.

        With the weights of now a plan would depend on when somebody first had a sub-graph of that shape.

        Args:
            slots: The number of nodes.
            edges: The number of edges.
        """
        if (slots, edges) not in self._plans:
            chunk, values = self.random(4, slots, edges, seed=slots), self._first
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
            kinds = chunk, chunk.with_features(_HUGE * chunk.x)  # opens gates that normal numbers leave shut
            found = [
                self._mapped(tried, kind, plan)[1] for tried in (values, shaken(values, seed=slots)) for kind in kinds
            ]
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


class Product(NamedTuple):
    """A product of rows and a matrix.

    Attributes:
        number: The number of the matrix.
        transposed: True if the matrix has inputs in its rows.
        shape: The shape of the product, in one sub-graph.
    """

    number: int
    transposed: bool
    shape: torch.Size


class Products(KeyedDropout):
    """Find the products with some matrices within a ``with`` block, and nudge them.

    Args:
        key: The key of dropout.
        matrices: The number of each matrix, by the ``id`` of its tensor.
        nudges: What is added to each product, in the order of computation; None adds nothing.
    """

    def __init__(self, key: Tensor, matrices: dict[int, int], nudges: list[Tensor] | None = None) -> None:
        super().__init__(key)
        self.matrices, self.nudges = matrices, nudges
        self.found: list[Product] = []
        self.rows: list[Tensor] = []
        self.used_otherwise: set[int] = set()
        """The numbers of matrices that are not only in products."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.linear:
            return self._linear(*args, **kwargs)
        if func in _PRODUCTS and len(args) == 2 and id(args[1]) in self.matrices:
            return self._product(args[0], args[1], transposed=True)
        refuse_sight(func)
        made = super().__torch_function__(func, types, args, kwargs)
        if self.nudges is None and not isinstance(made, torch.Size | int | bool | torch.dtype | torch.device):
            self._note(args, kwargs)
        return made

    def _note(self, *values: Any) -> None:
        self.used_otherwise |= {self.matrices[id(each)] for each in _tensors(values) if id(each) in self.matrices}

    def _linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # noqa: A002 as torch has it
        if id(weight) not in self.matrices:
            self._note(input, bias)
            return wide_linear(input, weight, bias)
        self._note(bias)
        made = self._product(input, weight, transposed=False)
        return made if bias is None else made + bias

    def _product(self, rows: Tensor, matrix: Tensor, *, transposed: bool) -> Tensor:
        self._note(rows)
        made = wide_linear(rows, matrix.t() if transposed else matrix)
        place = len(self.found)
        self.found.append(Product(self.matrices[id(matrix)], transposed, made.shape))
        self.rows.append(rows)
        return made if self.nudges is None else made + self.nudges[place]


def _tensors(values: Any) -> Iterator[Tensor]:
    """Yield all tensors in nested arguments."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, tuple | list):
        for each in values:
            yield from _tensors(each)
    elif isinstance(values, dict):
        yield from _tensors(list(values.values()))


def wide_linear(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a linear layer's output, computed with a multiple of 16 columns.

    With fewer columns the kernels of common libraries add up in another order at other places of a matrix.

    Args:
        rows: The inputs.
        weight: The matrix.
        bias: The vector that is added, or None.
    """
    out, into = -weight.shape[0] % 16, -weight.shape[1] % 16 if rows.requires_grad else 0
    wide = functional.linear(
        pad(rows, (0, into)), pad(weight, (0, into, 0, out)), None if bias is None else pad(bias, (0, out))
    )
    return wide[..., : weight.shape[0]]


def _three(part: Tensor) -> Tensor:
    """Return what each lane has as [lanes, rows, columns]."""
    return part.reshape(len(part), -1, part.shape[-1])


def _joined(uses: list[Outer]) -> Outer:
    """Join several uses of one matrix."""
    inputs, slopes = (torch.cat([getattr(use, part) for use in uses], dim=1) for part in ("inputs", "slopes"))
    return uses[0]._replace(inputs=inputs, slopes=slopes)
