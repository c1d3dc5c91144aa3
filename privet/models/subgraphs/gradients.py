"""From a batch of sub-graphs to the clipped sum of their gradients, exact and independent of who else is there."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.errors import PrivetError
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms.primitives.grid import GridSum
from privet.models.subgraphs.chunks import Chunk, Features, chunks_of
from privet.models.subgraphs.engines import Engine, Head, OneByOne, shaken, written_out
from privet.models.subgraphs.integers import MOST_LANES, WHOLE, clipped_integers
from privet.models.subgraphs.mapped import Mapped
from privet.models.subgraphs.refusals import KINDS, check_module, unkept
from privet.models.subgraphs.state import State

__all__ = ["SubgraphGradients"]

_SIZES, _LANES = (1, 4), 8
_EXTREME = (float("inf"), float("nan"), 1e30)  # what somebody's features may be
_ROWS, _ENTRIES = 1024, 2**22  # of nodes in a chunk, of gradients that are written out
_TRIES, _NUMBERS = 48, 2**14  # of lanes: at most so many tries, and about so many numbers in all of them
_FEW = 256  # nodes are in a chunk though sub-graphs of that size be rare


class SubgraphGradients:
    """Clipped gradient sums of a module over sub-graphs.

    Formal guarantee: the sums of two batches that differ in one sub-graph differ by a vector of norm at most C, and
    those of two batches in which one sub-graph has other nodes by at most 2 C, for a module that keeps nothing where
    :class:`~privet.models.subgraphs.state.State` does not look, and as far as kernels give a sub-graph the same last
    bits in every lane. Lanes pass a test for that before they are used (:meth:`lanes`); with ``at_once=1`` there is
    nothing to test.

    Args:
        module: The module, called with features and edges.
        columns: The number of features.
        head: The task.
        at_once: The most sub-graphs in one pass (default: as many as have 1,024 nodes).
    """

    def __init__(self, module: nn.Module, columns: int, head: Head, at_once: int | None = None) -> None:
        check_module(module, columns, head)
        before = State(module)
        self._most = MOST_LANES if at_once is None else at_once
        self._alone = OneByOne(module, head, columns)
        self._tried = shaken(self._alone.values(), seed=0)
        self._shapes: dict[tuple[int, int], tuple[Engine, int]] = {}
        self.engine: Engine = Mapped(module, head, columns)
        if not self._is_mapped():
            self.engine = self._alone
        unkept(module, before)
        self._untouched: dict[tuple[bool, ...], list[Tensor]] = {}
        self._unmoved()

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The parameters that are trained."""
        return list(self.engine.named.values())

    @property
    def dtype(self) -> torch.dtype:
        """The type of the module's numbers."""
        return self.parameters[0].dtype

    @property
    def how(self) -> str:
        """The way to the gradients, in words."""
        if not isinstance(self.engine, Mapped):
            return "one by one"
        size = self.engine.size
        return f"vmap over sub-graphs, {self.engine.written_out:,} of {size:,} entries of a gradient written out"

    def clipped_sum(
        self,
        batch: SubgraphBatch,
        features: Features,
        targets: NDArray[np.generic],
        keys: NDArray[np.int64],
        max_grad_norm: float,
    ) -> GridSum:
        """Return the sum of all sub-graphs' clipped gradients in all parameters, flattened one after another.

        If the module has kept anything, there is no sum.

        Args:
            batch: The sub-graphs.
            features: The features of all nodes.
            targets: The label of each sub-graph's centre.
            keys: The seed of each sub-graph's dropout.
            max_grad_norm: C, finite and above 0.
        """
        expected = self._unmoved()
        before, values, size = State(self.engine.module), self.engine.values(), self.engine.size
        total = torch.zeros(size, dtype=torch.int64)
        for chunk in chunks_of(batch, features, targets, keys, self.lanes):
            engine, _ = self._shapes[chunk.slots, chunk.edges]
            uses = engine.gradients(values, chunk.to(self.dtype))
            total += clipped_integers(uses, max_grad_norm).total(size).long()
        unkept(self.engine.module, before)
        module = type(self.engine.module).__name__
        if not all(map(_equal, self._of_nobody(), expected)):
            raise PrivetError(
                f"{module} has another gradient for a random sub-graph than before it saw people's data: it keeps "
                "something of them."
            )
        if not all(map(torch.equal, values, self.parameters)):
            raise PrivetError(
                f"{module} writes into its own parameters, which would release people's data without noise."
            )
        return GridSum(total.numpy(), max_grad_norm / WHOLE)

    def centre_rows(self, chunk: Chunk) -> Tensor:
        """Return the module's row for the centre of each lane.

        Args:
            chunk: The sub-graphs.
        """
        with torch.no_grad():
            return self.engine.centre_rows(chunk.to(self.dtype))

    def lanes(self, slots: int, edges: int) -> int:
        """Return the number of lanes of a chunk, at which a sub-graph's numbers are the same in every lane.

        Kernels may add up in another order at another place of a matrix, and last bits would tell who else is there. So
        lanes are tried with random sub-graphs and other weights, and the answer depends on the shape alone.

        Args:
            slots: The number of nodes of a lane.
            edges: The number of edges of a lane.
        """
        if (slots, edges) not in self._shapes:
            self._shapes[slots, edges] = self._tried_shape(slots, edges)
        return self._shapes[slots, edges][1]

    def _unmoved(self) -> list[Tensor]:
        """Return those gradients as they were before anybody's data, which differ with and without dropout."""
        mode = tuple(layer.training for layer in self.engine.module.modules())
        if mode not in self._untouched:
            self._untouched[mode] = self._of_nobody()
        return self._untouched[mode]

    def _of_nobody(self) -> list[Tensor]:
        """Return gradients of random sub-graphs at fixed weights: a memory of people, wherever it is, moves them."""
        lanes = (self._alone.random(1, slots, seed=slots) for slots in _SIZES)
        return [part for lane in lanes for use in self._alone.gradients(self._tried, lane) for part in use.by_lane()]

    def _tried_shape(self, slots: int, edges: int) -> tuple[Engine, int]:
        """Return an engine for sub-graphs of a shape, and a number of lanes."""
        # What a module keeps of the first sub-graph of a shape is then nobody's.
        self._alone.gradients(self._tried, self._alone.random(1, slots, edges, seed=slots))
        if not isinstance(self.engine, Mapped):
            return self._alone, 1
        try:
            written = self.engine.written_out_of(slots, edges)  # of this shape alone, whichever others were there
            rows = min(_ROWS, max(_FEW, self._most // slots))  # in larger chunks most lanes would be empty
            most = min(rows // slots, max(1, self._most // 4), _ENTRIES // max(1, written))
            lanes = 1 << max(0, most.bit_length() - 1)
            while lanes > 1 and not self._are_stable(lanes, slots, edges):
                lanes //= 2
        except Exception:  # whatever vmap, or a rule of it, says of this shape: one by one does without
            return self._alone, 1
        return self.engine, lanes

    def _are_stable(self, lanes: int, slots: int, edges: int) -> bool:
        """Try lanes with random sub-graphs: the fewer numbers one try has, the more tries, since last bits are rare."""
        tries = max(2, min(_TRIES, _NUMBERS // (lanes * slots * self.engine.columns)))
        chunks = (self.engine.random(lanes, slots, edges, seed=number) for number in range(tries))
        return all(self._is_stable(_mixed(chunk) if number % 2 else chunk) for number, chunk in enumerate(chunks))

    def _is_stable(self, chunk: Chunk) -> bool:
        """Tell whether sub-graphs have equal numbers in other lanes, and whatever is in every other one."""
        plain, count = self._numbers(chunk), chunk.lanes
        for order in (torch.arange(count).flip(0), torch.arange(count).roll(1)):
            moved = self._numbers(chunk.lanes_of(order))
            if not all(_equal(one, other[order]) for one, other in zip(moved, plain, strict=True)):
                return False
        extreme = torch.arange(count) % 2 != count // 2 % 2
        features = torch.tensor(_EXTREME, dtype=chunk.x.dtype)[torch.arange(count) % len(_EXTREME)]
        x = torch.where(extreme[:, None, None], features[:, None, None], chunk.x)
        beside = self._numbers(chunk.with_features(x))
        return all(_equal(one[~extreme], other[~extreme]) for one, other in zip(beside, plain, strict=True))

    def _numbers(self, chunk: Chunk) -> list[Tensor]:
        """Return each lane's gradient, before rounding and after it.

        Integers alone would hide most differences in a last bit, which turn up in somebody's integers later.
        """
        uses = self.engine.gradients(self._tried, chunk)
        plain = [part for use in uses for part in use.by_lane()]
        return plain + clipped_integers(uses, 1.0).by_lane()

    def _is_mapped(self) -> bool:
        """Tell whether vmap runs the module, and gives the gradients of plain autograd on each sub-graph alone."""
        try:
            same_kind = self.engine.random(_LANES, _SIZES[-1], seed=0)
            if not all(self._is_stable(same_kind.with_features(kind(same_kind.x))) for kind in KINDS.values()):
                return False
            for slots in _SIZES:
                chunk = _mixed(self.engine.random(_LANES, slots, seed=slots))
                if not self._is_stable(chunk) or not self._is_autograd(chunk):
                    return False
        except Exception:  # whatever vmap says of a user's code: one by one does without it
            return False
        return True

    def _is_autograd(self, chunk: Chunk) -> bool:
        """Tell whether gradients are those of plain autograd, where numbers are not huge and both round alike."""
        lanes, size = _kinds(chunk) != list(KINDS).index("huge"), self.engine.size
        for values in (self.engine.values(), self._tried):  # at weights of zero all gradients look alike
            together, apart = (
                written_out(engine.gradients(values, chunk), chunk.lanes, size)[lanes]
                for engine in (self.engine, self._alone)
            )
            atol = 1e-4 * float(apart.norm(dim=1).max()) + 1e-7
            if not torch.allclose(together, apart, rtol=1e-3, atol=atol, equal_nan=True):
                return False
        return True


def _kinds(chunk: Chunk) -> Tensor:
    """Return a kind of features for each lane, by turns; the lane that is tried in all places has the first one."""
    return (torch.arange(chunk.lanes) - chunk.lanes // 2) % len(KINDS)


def _mixed(chunk: Chunk) -> Chunk:
    """Return a chunk whose lanes have features of all kinds by turns."""
    x = chunk.x
    for number, kind in enumerate(KINDS.values()):
        x = torch.where((_kinds(chunk) == number)[:, None, None], kind(chunk.x), x)
    return chunk.with_features(x)


def _equal(one: Tensor, other: Tensor) -> bool:
    """Tell whether numbers are equal, NaN being equal to itself."""
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
