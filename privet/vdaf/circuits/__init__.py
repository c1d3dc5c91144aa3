"""Validity circuits, one a file: which measurements are allowed, and what is summed."""

from privet.vdaf.circuits.chunks import best_chunk_length
from privet.vdaf.circuits.circuit import Circuit
from privet.vdaf.circuits.count import Count
from privet.vdaf.circuits.higher_degree import HigherDegree
from privet.vdaf.circuits.histogram import Histogram
from privet.vdaf.circuits.multihot_count_vec import MultihotCountVec
from privet.vdaf.circuits.sum import Sum
from privet.vdaf.circuits.sum_vec import SumVec

__all__ = [
    "Circuit",
    "Count",
    "HigherDegree",
    "Histogram",
    "MultihotCountVec",
    "Sum",
    "SumVec",
    "best_chunk_length",
]
