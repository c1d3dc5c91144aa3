"""From a batch of sub-graphs to the clipped sum of their gradients, exact and independent of who else is there."""

from __future__ import annotations

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
        self.engine = self._engine(module, head)
        self._first = self.engine.values()
        self._lanes: dict[int, int] = {}

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

    def lanes(self, slots: int) -> int:
        """Return the number of lanes of a chunk, at which a sub-graph's integers are the same in every lane.

        The weights of the beginning and random sub-graphs are tried, so that the answer depends on ``slots`` alone.

        Args:
            slots: The number of slots of a lane.
        """
        if slots not in self._lanes:
            most = min(_ROWS // slots, MOST_LANES, self.at_once or MOST_LANES)
            if not self.is_closed_form:
                most = min(most, _ENTRIES // self.engine.size)
            lanes = 1 << max(0, most.bit_length() - 1)
            while lanes > 1 and not self._is_stable(lanes, slots):
                lanes //= 2
            self._lanes[slots] = lanes
        return self._lanes[slots]

    def _is_stable(self, lanes: int, slots: int) -> bool:
        """Tell whether copies of a sub-graph give equal integers in all lanes, and beside other sub-graphs."""
        generator = torch.Generator().manual_seed(lanes * slots)
        targets = self.engine.head.random_targets(lanes, generator)
        chunk = random_chunk(lanes, slots, self.columns, targets, generator, full=self.engine.exact).to(self.dtype)
        plain = self._integers(chunk)
        turned = self._integers(chunk.lanes_of(torch.arange(lanes).roll(1)))
        if not all(torch.equal(one.roll(1, 0), other) for one, other in zip(plain, turned, strict=True)):
            return False
        for lane in {0, lanes // 2, lanes - 1}:
            copies = self._integers(chunk.lanes_of(torch.full((lanes,), lane)))
            if not all(bool((one == other[lane]).all()) for one, other in zip(copies, plain, strict=True)):
                return False
        return True

    def _integers(self, chunk: Chunk) -> list[Tensor]:
        return clipped_integers(self.engine.gradients(self._first, chunk), 1.0).by_lane()

    def _engine(self, module: nn.Module, head: Head) -> Engine:
        """Return the closed form if it gives the gradients of plain autograd, else the way that writes them out."""
        closed, whole = ClosedForm(module, head), Whole(module, head)
        generator = torch.Generator().manual_seed(0)
        chunks = [
            random_chunk(_LANES, slots, self.columns, head.random_targets(_LANES, generator), generator).to(self.dtype)
            for slots in _SIZES
        ]
        values = closed.values()
        try:
            closed.learn_centre_only(values, chunks)
            for chunk in chunks:
                found = written_out(closed.gradients(values, chunk), _LANES, closed.size)
                for lane in range(_LANES):
                    alone = written_out(whole.gradients(values, chunk.alone(lane)), 1, whole.size)[0]
                    if not torch.allclose(found[lane], alone, rtol=1e-3, atol=1e-4 * float(alone.norm()) + 1e-7):
                        return whole
        except Unserved:
            return whole
        return closed
