"""Gradients of sub-graphs as integers of bounded norm, and their exact sum.

A sub-graph's gradient in a matrix is a sum of outer products over its rows, sum_r g_r h_rᵀ. As in
:mod:`privet.models.clipping`, h_r is scaled to norm 1 and rounded to multiples of 2^-19; g_r takes that norm in, is
clipped and rounded to multiples of C 2^-18. The gradient in any other parameter is rounded to multiples of C 2^-37.
So every gradient is a vector of integers in units of C 2^-37, and doubles add them up without rounding:

- the sizes of a matrix' outer products add up to at most 8 C in a sub-graph, else the sub-graph is clipped more. So
  every entry of a sum of 2^12 sub-graphs is at most 2^52 at any time, in any order;
- the squared norm is computed from the integers. Its terms are products of two exact integers whose sizes add up to at
  most 2^80, so that rounding n terms errs by at most n 2^27; 2^58 of the allowed 2^74 is left for that. A gradient
  above it counts as zero.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["MOST_LANES", "WHOLE", "Direct", "Outer", "Rounded", "clipped_integers"]

INPUT_BITS, SLOPE_BITS = 19, 18
WHOLE = 2.0 ** (INPUT_BITS + SLOPE_BITS)
MOST_LANES = 2**12

_SHRUNK = 1 - 2.0**-8  # of the norm is left for rounding to the grid
_MARGIN = 1 - 2.0**-16  # of the squared norm is left for rounding of the check itself
_CANCELLED = 8.0


class Outer(NamedTuple):
    """Outer products of slopes and inputs.

    Attributes:
        weight: Where the matrix begins among all parameters.
        transposed: True if the matrix has inputs in its rows.
        inputs: [lanes, rows, inputs].
        slopes: [lanes, rows, outputs].
    """

    weight: int
    transposed: bool
    inputs: Tensor
    slopes: Tensor

    def written_out(self) -> tuple[int, Tensor]:
        """Return where the gradients begin, and a row for each lane."""
        product = torch.bmm(self.slopes.transpose(1, 2), self.inputs)
        return self.weight, (product.transpose(1, 2) if self.transposed else product).flatten(1)

    def by_lane(self) -> list[Tensor]:
        """Return all numbers, each tensor with a row for each lane."""
        return [self.inputs, self.slopes]


class Direct(NamedTuple):
    """Gradients in a parameter.

    Attributes:
        start: Where it begins among all parameters.
        gradients: [lanes, entries].
    """

    start: int
    gradients: Tensor

    def written_out(self) -> tuple[int, Tensor]:
        """Return where the gradients begin, and a row for each lane."""
        return self.start, self.gradients

    def by_lane(self) -> list[Tensor]:
        """Return the gradients, a row for each lane."""
        return [self.gradients]


class _Whole(NamedTuple):
    """Outer products whose inputs are integers, with the products of all pairs of them."""

    use: Outer
    inputs: Tensor
    pairs: Tensor | None
    slopes: Tensor

    def squares(self, slopes: Tensor) -> Tensor:
        """Return each lane's squared norm for given slopes."""
        if self.pairs is not None:
            return (self.pairs * torch.bmm(slopes, slopes.transpose(1, 2))).sum((1, 2))
        return torch.bmm(slopes.transpose(1, 2), self.inputs).square().sum((1, 2))


class Rounded(NamedTuple):
    """Clipped gradients of the lanes of a chunk in units of C 2^-37: whole numbers, in doubles."""

    outer: list[tuple[_Whole, Tensor]]
    direct: list[Direct]

    def total(self, size: int) -> Tensor:
        """Return the sum over all lanes.

        Args:
            size: The number of entries of all parameters.
        """
        total = torch.zeros(size, dtype=torch.float64)
        for whole, slopes in self.outer:
            _add_products(total, whole, slopes)
        for use in self.direct:
            total[use.start : use.start + use.gradients.shape[1]] += use.gradients.sum(0)
        return total

    def by_lane(self) -> list[Tensor]:
        """Return all numbers that the sum is made of, each tensor with a row for each lane."""
        products = [part for whole, slopes in self.outer for part in (whole.inputs, slopes)]
        return products + [use.gradients for use in self.direct]


def clipped_integers(uses: list[Outer | Direct], max_grad_norm: float) -> Rounded:
    """Clip and round the gradients of all lanes; one that is not finite counts as zero.

    Args:
        uses: The gradients, part by part; every parameter is in at most one part.
        max_grad_norm: C.
    """
    wholes = [_whole(use) for use in uses if isinstance(use, Outer)]
    direct = [use._replace(gradients=use.gradients.double()) for use in uses if isinstance(use, Direct)]
    squares = _summed(
        [whole.squares(whole.slopes) * 4.0**-INPUT_BITS for whole in wholes], [use.gradients for use in direct]
    )
    norms = squares.clamp(min=0).sqrt()
    for whole in wholes:
        norms = torch.maximum(norms, whole.slopes.norm(dim=2).sum(1) / _CANCELLED)
    factors = (_SHRUNK * max_grad_norm / norms.clamp(min=1e-30)).clamp(max=1.0)
    factors = torch.where(norms.isfinite(), factors, 0.0)
    steep = [_rounded(whole.slopes, factors * (2.0**SLOPE_BITS / max_grad_norm)) for whole in wholes]
    plain = [_rounded(use.gradients, factors * (WHOLE / max_grad_norm)) for use in direct]
    found = _summed([whole.squares(slopes) for whole, slopes in zip(wholes, steep, strict=True)], plain)
    allowed = (found <= WHOLE**2 * _MARGIN).double()
    return Rounded(
        [(whole, slopes * allowed[:, None, None]) for whole, slopes in zip(wholes, steep, strict=True)],
        [use._replace(gradients=each * allowed[:, None]) for use, each in zip(direct, plain, strict=True)],
    )


def _summed(squares: list[Tensor], rows: list[Tensor]) -> Tensor:
    """Return each lane's sum of squared norms, those of some rows still to be computed."""
    return torch.stack([*squares, *(each.square().sum(1) for each in rows)]).sum(0)


def _whole(use: Outer) -> _Whole:
    """Round the inputs, and let the slopes take their lengths in."""
    inputs, slopes = use.inputs.double(), use.slopes.double()
    lengths = inputs.square().sum(2).sqrt()
    scales = torch.where(lengths > 0, 2.0**INPUT_BITS / lengths, 0.0)
    rounded = (inputs * scales[..., None]).round_().nan_to_num_(0.0, 0.0, 0.0)
    count, into, out = inputs.shape[1], inputs.shape[2], slopes.shape[2]
    pairs = None
    if count * count * (into + out) <= count * into * out:
        pairs = torch.bmm(rounded, rounded.transpose(1, 2))
    return _Whole(use, rounded, pairs, slopes * lengths[..., None])


def _rounded(rows: Tensor, factors: Tensor) -> Tensor:
    """Return each lane's numbers times its factor as integers; a lane with factor 0 becomes zeros in any case."""
    shaped = factors.reshape(-1, *[1] * (rows.dim() - 1))
    return torch.where(shaped > 0, rows * shaped, 0.0).round_()


def _add_products(total: Tensor, whole: _Whole, slopes: Tensor) -> None:
    """Add the outer products of all lanes to the total; rows of zeros are left out, which is exact."""
    rows = slopes.flatten(0, 1)
    there = rows.any(dim=1)
    rows, inputs = rows[there], whole.inputs.flatten(0, 1)[there]
    product = inputs.T @ rows if whole.use.transposed else rows.T @ inputs
    total[whole.use.weight : whole.use.weight + product.numel()] += product.flatten()
