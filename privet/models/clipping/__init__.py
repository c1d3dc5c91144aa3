"""Clipped sums of the gradients of a perceptron over rows, exact on an integer grid."""

from privet.models.clipping.gradients import clipped_gradient, perceptron, stable_block, summed_gradient
from privet.models.clipping.rows import Rows, SparseRows, outputs

__all__ = ["Rows", "SparseRows", "clipped_gradient", "outputs", "perceptron", "stable_block", "summed_gradient"]
