"""From a batch of sub-graphs to the clipped sum of their gradients, exact and independent of who else is there."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms.primitives.grid import GridSum
from privet.models.subgraphs.capture import Unserved
from privet.models.subgraphs.checks import check_module
from privet.models.subgraphs.chunks import Chunk, Features, chunks_of, random_chunk
from privet.models.subgraphs.engines import ClosedForm, Engine, Head, Whole, written_out
from privet.models.subgraphs.rounding import MOST_LANES, WHOLE, clipped_integers

__all__ = ["SubgraphGradients"]

_SIZES = (1, 2, 3, 6)
_LANES = 4
_EXTREME = (1e3, -1e3, 1e6, -1e30, float("inf"), float("nan"))  # what somebody's features may be multiplied by
_MOVED = 0.1  # is how far weights that all begin with one value, such as 0, may come
_ROWS, _ENTRIES = 1024, 2**22  # of nodes in a chunk, of gradients that are written out


class SubgraphGradients:
    """Clipped gradient sums of a module over sub-graphs.

    Gradients come in closed form where every use of the module's parameters allows it, otherwise from ``vmap(grad)`` of
    torch.func; on random sub-graphs either must agree with plain autograd on each sub-graph alone.

    Formal guarantee: the sums of two batches that differ in one sub-graph differ by a vector of norm at most C, and
    those of two batches in which one sub-graph has other nodes by at most 2 C, as long as a sub-graph's numbers do not
    depend on its lane. Lanes pass a test for that before they are used (:meth:`lanes`); with ``at_once=1`` every
    sub-graph is computed alone, and there is nothing to test.

    Args:
        module: The module, called with features and edges.
        columns: The number of features.
        head: The task.
        at_once: The most sub-graphs in one pass (default: as many as have 1,024 nodes).
    """

    def __init__(self, module: nn.Module, columns: int, head: Head, at_once: int | None = None) -> None:
        self.columns, self.at_once = columns, at_once
        self.dtype = check_module(module, columns, head)
        self.engine: Engine = ClosedForm(module, head)
        if not self._is_served():
            self.engine = Whole(module, head)
        self._first = self.engine.values()
        self._lanes: dict[tuple[int, int], int] = {}

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The parameters that are trained."""
        return list(self.engine.named.values())

    @property
    def is_closed_form(self) -> bool:
        """True if no gradient of a single sub-graph is written out."""
        return isinstance(self.engine, ClosedForm)

    def clipped_sum(
        self,
        batch: SubgraphBatch,
        features: Features,
        targets: NDArray[np.generic],
        keys: NDArray[np.int64],
        max_grad_norm: float,
    ) -> GridSum:
        """Return the sum of all sub-graphs' clipped gradients in all parameters, flattened one after another.

        Args:
            batch: The sub-graphs.
            features: The features of all nodes.
            targets: The label of each sub-graph's centre.
            keys: The seed of each sub-graph's dropout.
            max_grad_norm: C, finite and above 0.
        """
        values, size = self.engine.values(), self.engine.size
        total = torch.zeros(size, dtype=torch.int64)
        for chunk in chunks_of(batch, features, targets, keys, self.lanes, exact=self.engine.exact):
            uses = self.engine.gradients(values, chunk.to(self.dtype))
            total += clipped_integers(uses, max_grad_norm).total(size).long()
        return GridSum(total.numpy(), max_grad_norm / WHOLE)

    def lanes(self, slots: int, edges: int) -> int:
        """Return the number of lanes of a chunk, at which a sub-graph's numbers are the same in every lane.

        The weights of the beginning, other weights and random sub-graphs are tried, so that the answer depends on the
        shape alone.

        Args:
            slots: The number of slots of a lane.
            edges: The number of edges of a lane.
        """
        if (slots, edges) not in self._lanes:
            most = min(_ROWS // slots, MOST_LANES, self.at_once or MOST_LANES)
            if not self.is_closed_form:
                most = min(most, _ENTRIES // self.engine.size)
            lanes = 1 << max(0, most.bit_length() - 1)
            while lanes > 1 and not self._is_stable(lanes, slots, edges):
                lanes //= 2
            self._lanes[slots, edges] = lanes
        return self._lanes[slots, edges]

    def _is_stable(self, lanes: int, slots: int, edges: int) -> bool:
        """Tell whether a sub-graph has equal numbers in all lanes, whoever is beside it."""
        generator = torch.Generator().manual_seed(lanes * slots)
        exact = self.engine.exact
        chunk, full = (
            self._random(lanes, slots, generator, full=full, edges=edges if exact else None) for full in (exact, True)
        )
        try:
            return all(
                self._is_unmoved(full, values) and self._is_placeless(chunk, values)
                for values in (self._first, _shaken(self._first, generator))
            )
        except (RuntimeError, TypeError, ValueError):
            if exact:
                return False  # vmap does not know all that a module may do, and one lane does without it
            raise

    def _is_placeless(self, chunk: Chunk, values: list[Tensor]) -> bool:
        """Tell whether a sub-graph has the same numbers in another lane, and beside copies of itself."""
        lanes, plain = chunk.lanes, self._numbers(chunk, values)
        turned = self._numbers(chunk.lanes_of(torch.arange(lanes).roll(1)), values)
        if not all(_equal(one.roll(1, 0), other) for one, other in zip(plain, turned, strict=True)):
            return False
        for lane in {0, lanes // 2, lanes - 1}:
            copies = self._numbers(chunk.lanes_of(torch.full((lanes,), lane)), values)
            if not all(_equal(one, other[lane]) for one, other in zip(copies, plain, strict=True)):
                return False
        return True

    def _is_unmoved(self, chunk: Chunk, values: list[Tensor]) -> bool:
        """Tell whether the features of one lane, however large, leave the numbers of all other lanes as they are."""
        lane = chunk.lanes // 2
        others = torch.arange(chunk.lanes) != lane
        plain, rows = self._numbers(chunk, values), torch.zeros(len(chunk.x), 1, dtype=torch.bool)
        rows[lane * chunk.slots : (lane + 1) * chunk.slots, 0] = chunk.filled[lane]
        for factor in _EXTREME:
            extreme = self._numbers(replace(chunk, x=torch.where(rows, chunk.x * factor, chunk.x)), values)
            if not all(_equal(one[others], other[others]) for one, other in zip(plain, extreme, strict=True)):
                return False
        return True

    def _random(self, lanes: int, slots: int, generator: torch.Generator, **shape: Any) -> Chunk:
        """Return random sub-graphs with the roles of the task."""
        head = self.engine.head
        targets = head.random_targets(lanes, generator)
        made = random_chunk(lanes, slots, self.columns, targets, generator, last_role=head.last_role, **shape)
        return made.to(self.dtype)

    def _numbers(self, chunk: Chunk, values: list[Tensor]) -> list[Tensor]:
        """Return each lane's gradient, before rounding and after it.

        Integers alone would hide most differences in a last bit, which turn up in somebody's integers later.
        """
        uses = self.engine.gradients(values, chunk)
        plain = [part for use in uses for part in use.by_lane()]
        return plain + clipped_integers(uses, 1.0).by_lane()

    def _is_served(self) -> bool:
        """Tell whether the closed form gives the gradients of plain autograd; if so it is used, and learns a little."""
        closed, whole = self.engine, Whole(self.engine.module, self.engine.head)
        assert isinstance(closed, ClosedForm)
        generator = torch.Generator().manual_seed(0)
        chunks = [self._random(_LANES, slots, generator) for slots in _SIZES]
        first = closed.values()
        tried = [first, _shaken(first, generator)]  # at weights of zero all gradients may look alike
        try:
            closed.learn_centre_only(tried, chunks)
            for values, chunk in product(tried, chunks):
                found = written_out(closed.gradients(values, chunk), _LANES, closed.size)
                for lane in range(_LANES):
                    one = chunk.alone(lane)
                    if not one.edges and chunk.edges:
                        continue  # dropout on loops has other coins there
                    alone = written_out(whole.gradients(values, one), 1, whole.size)[0]
                    if not torch.allclose(found[lane], alone, rtol=1e-3, atol=1e-4 * float(alone.norm()) + 1e-7):
                        return False
        except Unserved:
            return False
        return True


def _shaken(values: list[Tensor], generator: torch.Generator) -> list[Tensor]:
    """Return other weights of the same size, as training may lead to; no layer of equal numbers stays one."""
    found = []
    for each in values:
        spread = each.std(correction=0)
        spread = torch.where(spread > 0, spread, _MOVED)
        found.append(each + spread * torch.randn(each.shape, generator=generator).to(each))
    return found


def _equal(one: Tensor, other: Tensor) -> bool:
    """Tell whether numbers are equal, NaN being equal to itself."""
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
