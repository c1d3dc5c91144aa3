"""Class sums: sums of labelled people's features by class, with the noise of a trusted aggregator or of two servers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph
from privet.data.population import Population
from privet.mechanisms import Bits, GridSum
from privet.mechanisms.primitives.grid import unit_rows_on_grid
from privet.privacy import Guarantee, Unit
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.privacy.guarantee import ADJACENCY
from privet.release.central import CentralRelease
from privet.release.price import Aggregate
from privet.release.private import PrivateData
from privet.release.sum import Sum
from privet.release.tallies import UnitFeatures
from privet.systems.collected import labelled

__all__ = [
    "ClassSums",
    "class_sums_aggregate",
    "class_sums_release",
    "server_sums_aggregate",
    "server_sums_of",
]

_CHANGE = 2.0  # the largest distance between two vectors of length 1


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums of the unit-length features of labelled people of each class, with noise.

    Attributes:
        sums: The noisy sums, classes x features.
        counts: The number of people behind each sum, which is public because the labels are.
        noise: The standard deviation of the noise of each entry.
    """

    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    noise: float

    @classmethod
    def of(cls, graph: Graph, classes: int, release: CentralRelease, bits: Bits) -> ClassSums:
        """Play the trusted aggregator: add up, add noise, and forget what was added up.

        Exchanging one person's features for others moves one sum by a vector of length at most 2.
        """
        people = np.flatnonzero(labelled(graph))
        labels = graph.labels[people] if graph.labels is not None else people
        rows, unit = unit_rows_on_grid(sp.csr_array(graph.features)[people])
        ones = np.ones(len(people), dtype=np.int64)
        hot = sp.csr_array((ones, (labels, np.arange(len(people)))), shape=(classes, len(people)))
        total = GridSum(np.asarray((hot @ rows).toarray()), unit)
        noise = _CHANGE * release.noise_multiplier
        return cls(total.with_noise(noise, bits), np.bincount(labels, minlength=classes), noise)

    @classmethod
    def by_two_servers(cls, graph: Graph, classes: int, wanted: Sum, bits: Bits) -> ClassSums:
        """Play labelled people's devices and both servers: one batch for each class, since classes are public.

        Nobody is in two batches, so exchanging one person's features moves the sum of one batch.
        """
        people = np.flatnonzero(labelled(graph))
        labels = graph.labels[people] if graph.labels is not None else people
        sums = np.zeros((classes, wanted.tally.width))
        for label in range(classes):
            own = people[labels == label]
            noisy = wanted.simulated(PrivateData.of(graph, own), bits)
            sums[label] = wanted.tally.estimate(noisy, len(own))
        counts = np.bincount(labels, minlength=classes)
        return cls(sums, counts, wanted.error * float(wanted.tally.estimate(np.ones(1), 0)[0]))


def class_sums_release(epsilon: float, num_nodes: int) -> CentralRelease:
    """Return the calibrated noise of class sums for a central epsilon, in multiples of the largest change of a sum."""
    return CentralRelease.calibrated(PoissonSampling(rate=1.0, steps=1, num_nodes=num_nodes), epsilon)


def class_sums_aggregate(release: CentralRelease) -> Aggregate:
    """Return the line and the promise of class sums: the features of labelled people, exchanged for any others."""
    found = release.guarantee()
    if found is None:  # calibrated noise is never 0
        raise AssertionError("class sums without noise")
    left = (
        "labelled people's features from the trusted aggregator who adds them up",
        "the number of labelled people of each class",
    )
    return Aggregate(
        "class sums (central)",
        "gaussian noise on sums of unit-length features",
        "a trusted aggregator adds up the features of labelled people of each class, and random noise to the sums",
        Guarantee("hybrid", Unit.FEATURES, ADJACENCY[Unit.FEATURES], found.epsilon, found.delta, unprotected=left),
    )


def server_sums_of(epsilon: float, population: Population) -> Sum:
    """Return the sum of one class by two servers: each class has a batch of its own, of different people."""
    negative = min(population.low, default=0.0) < 0
    return Sum.calibrated(UnitFeatures(population.dimension, negative), epsilon, population.num_nodes)


def server_sums_aggregate(wanted: Sum) -> Aggregate:
    """Return the line and the promise of class sums by two servers."""
    whole = wanted.aggregate()
    left = (*whole.promise.unprotected, "the number of labelled people of each class")
    return replace(whole, part="class sums (two servers)", promise=replace(whole.promise, unprotected=left))
