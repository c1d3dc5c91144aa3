"""Each example's clipped gradient in a linear layer as integers of known norm, and their exact sum over examples.

The gradient is the outer product g (h, 1)ᵀ. (h, 1) is scaled to norm 1 and rounded; g takes that norm in, is clipped
and rounded. Three kinds of inputs h are rounded in three ways, all to multiples of the unit C 2^-37:

- dense ones to multiples of 2^-14, and their g to multiples of C 2^-14, so that :class:`OuterSum` can add them up;
- sparse ones to multiples of 2^-19, and their g to multiples of C 2^-18: doubles add up the products exactly;
- aggregated ones h = s (y - m 1), y being integers, not at all: g takes s in and is rounded to a vector q of multiples
  of C 2^-41; with p = round(m q) the gradient is q yᵀ - p 1ᵀ. Its norm is known from the exact moments of y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from privet.models.clipping.blocks import AggregatedLayer, Layer
from privet.models.clipping.outer_sums import LARGEST, OuterSum, Scaled
from privet.models.clipping.rows import SparseRows

__all__ = [
    "FINER",
    "WHOLE",
    "Aggregated",
    "Dense",
    "DenseSum",
    "Sparse",
    "SparseSum",
    "put_together",
    "room_for_rounding",
    "rounded_dense",
    "rounded_first",
    "rounded_sparse",
]

Array = NDArray[np.float64]

WHOLE = 2.0**37
"""C in units."""
FINER = 4
"""Bits by which the unit is smaller where the first layer has aggregated inputs."""

_DENSE_SHIFT = 37 - 28
_SPARSE_INPUTS, _SPARSE_SLOPES = 2.0**19, 2.0**18
_EXACT_ROWS = 2**15  # so many integers up to 2^37 add up to less than 2^53: a double holds the sum
_ABOVE = 1 + 2.0**-20  # times a number is above what a few roundings of factors and products make of it
_DOUBT = 2.0**-30  # of two terms is added to their difference, for its rounding


class Dense(NamedTuple):
    """A layer's part in some examples with dense inputs.

    Attributes:
        slopes: The integers of g.
        inputs: The integers of (h, 1).
        squares: At least the squared norm of each product, in units of C 2^-37.
    """

    slopes: Scaled
    inputs: Scaled
    squares: Array

    def leave_out(self, refused: NDArray[np.bool_]) -> None:
        """Let some examples count as zero."""
        self.slopes.factors[refused] = 0.0


class Sparse(NamedTuple):
    """The same with sparse inputs: the integers of g, h and 1, and the squares."""

    slopes: Tensor
    inputs: SparseRows
    ends: Array
    squares: Array

    def leave_out(self, refused: NDArray[np.bool_]) -> None:
        """Let some examples count as zero."""
        self.slopes[torch.from_numpy(refused)] = 0.0


class Aggregated(NamedTuple):
    """The same with aggregated inputs of a first layer: q, p, the integers of the bias' gradient, and the squares."""

    slopes: Array
    shifts: Array
    ends: Array
    squares: Array

    def leave_out(self, refused: NDArray[np.bool_]) -> None:
        """Let some examples count as zero."""
        for part in (self.slopes, self.shifts, self.ends):
            part[refused] = 0.0


def rounded_dense(layer: Layer, factors: Array) -> Dense:
    """Say how a layer's slopes and dense inputs are to be rounded.

    Rounding moves a vector of n entries by at most sqrt(n) / 2, which bounds all norms.

    Args:
        layer: The layer's part in some examples.
        factors: What each example's gradient is multiplied by, over C; 0 for one that counts as zero, whatever it is.
    """
    usable, inputs = factors > 0, cast(Tensor, layer.inputs)
    lengths = np.where(usable, np.sqrt(layer.squares), 1.0)
    slants = factors * LARGEST * lengths
    size = LARGEST * _ABOVE + math.sqrt(inputs.shape[1] + 1) / 2
    steepest = np.sqrt(np.where(usable, layer.steepness, 0.0)) * slants * _ABOVE + math.sqrt(layer.slopes.shape[1]) / 2
    squares = (size * steepest * 2.0**_DENSE_SHIFT) ** 2
    scales = np.where(usable, LARGEST / lengths, 0.0)
    return Dense(Scaled(layer.slopes, slants), Scaled(inputs, scales, ends=True), squares)


def rounded_sparse(layer: Layer, factors: Array) -> Sparse:
    """Round a layer's slopes and sparse inputs.

    Args:
        layer: The layer's part in some examples.
        factors: As for :func:`rounded_dense`.
    """
    usable, inputs = factors > 0, cast(SparseRows, layer.inputs)
    lengths = np.where(usable, np.sqrt(layer.squares), 1.0)
    scales = np.where(usable, _SPARSE_INPUTS / lengths, 0.0)
    steep = _scaled(layer.slopes.double(), factors * _SPARSE_SLOPES * lengths).round_()
    whole, ends = inputs.rounded(scales), np.rint(scales)
    return Sparse(steep, whole, ends, _exact_squares(steep.numpy()) * (whole.square_norms() + ends**2))


def rounded_first(layer: AggregatedLayer, factors: Array) -> Aggregated:
    """Round the slopes of an aggregated layer, in the finer unit.

    Args:
        layer: The layer's part in some examples.
        factors: As for :func:`rounded_dense`.
    """
    rows, slopes, finer = layer.rows, layer.slopes.double(), factors * WHOLE * 2.0**FINER
    steep, ends = (_scaled(slopes, each).round_().numpy() for each in (finer * rows.scales, finer))
    shifts = np.rint(steep * rows.means[:, None])
    # |q yᵀ - p 1ᵀ|²: the difference of these two, and what rounding may have taken from it
    most = _exact_squares(steep) * rows.squares + _exact_squares(shifts) * rows.shape[1]
    cross = 2 * np.einsum("ij,ij->i", steep, shifts) * rows.sums
    return Aggregated(steep, shifts, ends, (most - cross + _DOUBT * most + _exact_squares(ends)) / 4.0**FINER)


def room_for_rounding(inputs: int, outputs: int) -> float:
    """Return the share of C that gradients may have before rounding, so that none of them has more after it.

    By rounding, inputs grow by a factor of at most 1 + sqrt(n) / 2^15, and slopes of all layers by sqrt(m) C / 2^15.

    Args:
        inputs: n, the largest number of inputs of a layer, its bias' included.
        outputs: m, the number of outputs of all layers.
    """
    return min(1 - 2.0**-8, 1 / (1 + math.sqrt(inputs) / 2 / LARGEST) - math.sqrt(outputs) / 2 / LARGEST - 2.0**-16)


class DenseSum:
    """The sum of a layer's parts, in units of C 2^-37.

    Args:
        layer: The layer.
    """

    def __init__(self, layer: nn.Linear) -> None:
        self._products = OuterSum(layer.out_features, layer.in_features + 1)

    def add(self, part: Dense) -> None:
        """Add the products of some examples."""
        self._products.add(part.slopes, part.inputs)

    def total(self) -> tuple[Tensor, Tensor]:
        """Return the sums of the gradients in the weight and in the bias."""
        whole = self._products.total() << _DENSE_SHIFT
        return whole[:, :-1], whole[:, -1]


class SparseSum:
    """The same where inputs are sparse: doubles hold the sum of so many rows exactly, and integers that of all.

    Args:
        layer: The layer.
    """

    def __init__(self, layer: nn.Linear) -> None:
        self._shape = layer.weight.shape
        self._totals: list[Tensor] = []
        self._part: Array | None = None
        self._ends, self._rows = np.zeros(layer.out_features), 0

    def add(self, part: Sparse) -> None:
        """Add the products of some examples."""
        slopes = part.slopes.numpy()
        if self._rows + len(slopes) > _EXACT_ROWS:
            self._totals, self._part, self._rows = list(self.total()), None, 0
            self._ends = np.zeros_like(self._ends)
        product = part.inputs.weighted_sum(slopes)
        self._part = product if self._part is None else np.add(self._part, product, out=self._part)
        self._ends += part.ends @ slopes
        self._rows += len(slopes)

    def total(self) -> tuple[Tensor, Tensor]:
        """Return the sums of the gradients in the weight and in the bias."""
        part = np.zeros(self._shape) if self._part is None else self._part
        found = [torch.from_numpy(each).long() for each in (part, self._ends)]
        for each, total in zip(found, self._totals, strict=False):
            each += total
        return found[0], found[1]


def put_together(gradients: Sequence[tuple[Tensor, Tensor]]) -> NDArray[np.int64]:
    """Return the gradients in the weights and biases of layers after another, as 64-bit integers.

    Args:
        gradients: Those in the weight and in the bias of each layer.
    """
    parts = [part for pair in gradients for part in pair]
    found = torch.empty(sum(part.numel() for part in parts), dtype=torch.int64)
    start = 0
    for part in parts:
        found[start : start + part.numel()].view(part.shape).copy_(part)
        start += part.numel()
    return found.numpy()


def _scaled(rows: Tensor, factors: Array) -> Tensor:
    """Return each row times its factor; one with factor 0 becomes zeros in any case."""
    found = rows * torch.from_numpy(factors).to(rows.dtype)[:, None]
    if not factors.all():
        found[torch.from_numpy(factors == 0)] = 0.0
    return found


def _exact_squares(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
