"""Randomisers that run on a device: one a file, each with its guarantee and its exact distribution."""

from privet.mechanisms.adjacency import AdjacencyResponse
from privet.mechanisms.affine import AffineFeatures
from privet.mechanisms.base import Mechanism
from privet.mechanisms.degrees import DegreeResponse
from privet.mechanisms.gaussian import AnalyticGaussian
from privet.mechanisms.laplace import Laplace
from privet.mechanisms.multibit import MultiBit
from privet.mechanisms.piecewise import Piecewise
from privet.mechanisms.primitives.bits import Bits, SeededBits, SystemBits
from privet.mechanisms.primitives.noise import noisy_sum
from privet.mechanisms.randomized_response import RandomizedResponse
from privet.mechanisms.reports import NeighbourReports, Reports
from privet.mechanisms.sampled_response import SampledResponse
from privet.mechanisms.square_wave import HDS, SquareWave

MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        MultiBit,
        HDS,
        SquareWave,
        Piecewise,
        Laplace,
        AnalyticGaussian,
        RandomizedResponse,
        SampledResponse,
        AdjacencyResponse,
        DegreeResponse,
    )
}
"""Every mechanism by the name that the command line and a study's manifest use."""

__all__ = [
    "HDS",
    "MECHANISMS",
    "AdjacencyResponse",
    "AffineFeatures",
    "AnalyticGaussian",
    "Bits",
    "DegreeResponse",
    "Laplace",
    "Mechanism",
    "MultiBit",
    "NeighbourReports",
    "Piecewise",
    "RandomizedResponse",
    "Reports",
    "SampledResponse",
    "SeededBits",
    "SquareWave",
    "SystemBits",
    "noisy_sum",
]
