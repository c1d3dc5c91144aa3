"""Randomisers that run on a device: one a file, each with its guarantee and its exact distribution."""

from privet.mechanisms.adjacency_response import AdjacencyResponse
from privet.mechanisms.analytic_gaussian import AnalyticGaussian
from privet.mechanisms.core.affine import AffineFeatures
from privet.mechanisms.core.base import Mechanism
from privet.mechanisms.core.reports import NeighbourReports, Reports
from privet.mechanisms.counts import Counts
from privet.mechanisms.degree_response import DegreeResponse
from privet.mechanisms.hds import HDS
from privet.mechanisms.laplace import Laplace
from privet.mechanisms.mixed_response import MixedResponse
from privet.mechanisms.multi_bit import MultiBit
from privet.mechanisms.offered_response import OfferedResponse
from privet.mechanisms.piecewise import Piecewise
from privet.mechanisms.primitives.bits import Bits, SeededBits, SystemBits
from privet.mechanisms.primitives.grid import GridSum
from privet.mechanisms.randomized_response import RandomizedResponse
from privet.mechanisms.sampled_response import SampledResponse
from privet.mechanisms.square_wave import SquareWave
from privet.mechanisms.subset_response import SubsetResponse
from privet.registry import Registry

MECHANISMS: Registry[Mechanism] = Registry("mechanism", "Mechanism", ("privet.mechanisms",), "privet.mechanisms")
"""Every mechanism by the name that the command line and a study's manifest use."""

__all__ = [
    "HDS",
    "MECHANISMS",
    "AdjacencyResponse",
    "AffineFeatures",
    "AnalyticGaussian",
    "Bits",
    "Counts",
    "DegreeResponse",
    "GridSum",
    "Laplace",
    "Mechanism",
    "MixedResponse",
    "MultiBit",
    "NeighbourReports",
    "OfferedResponse",
    "Piecewise",
    "RandomizedResponse",
    "Reports",
    "SampledResponse",
    "SeededBits",
    "SquareWave",
    "SubsetResponse",
    "SystemBits",
]
