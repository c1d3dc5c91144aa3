"""Statistics of links: the mean length of lists, and which classes are linked with which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.statistics.findings import Finding, Scale, from_ratios, nothing
from privet.estimation.statistics.readings import Reading
from privet.mechanisms import Mechanism, NeighbourReports

__all__ = ["list_length", "mixing"]

Array = NDArray[np.float64]


def list_length(users: NDArray[np.int64], reports: Any, mechanism: Mechanism, nodes: int) -> Finding:
    """Estimate the mean number of people on a list, from reported lists or from their reported lengths.

    It is the estimated share of linked pairs times nodes - 1: a one-sided question asks people of small ids about more
    others than people of large ids.

    Args:
        users: The ids of the people who reported.
        reports: Their reports.
        mechanism: The mechanism.
        nodes: The number of all people.
    """
    scale = Scale(high=nodes - 1.0, counts=True)
    asked = nodes - 1.0 - (users if getattr(mechanism, "one_sided", False) else 0.0 * users)
    if not asked.sum():
        return nothing(scale, 1, len(users))
    estimate = mechanism.estimate(reports)
    sums = np.asarray(estimate.symbols.sum(axis=1, dtype=np.float64)).ravel() * estimate.scale[0]
    sums += estimate.offset[0] * (asked if isinstance(reports, NeighbourReports) else 1.0)
    spread = np.cov(sums * (nodes - 1), asked) / len(users) if len(users) > 1 else np.zeros((2, 2))
    return from_ratios(scale, np.array([sums.mean() * (nodes - 1)]), float(asked.mean()), [spread], len(users))


def mixing(edges: NDArray[np.integer[Any]], classes: Reading, names: tuple[str, ...]) -> Iterator[Finding]:
    """Yield, for each class, the shares of the classes with which its people are linked.

    Both ends of an edge were randomised independently, so the product of their unbiased classes is unbiased for the
    pair. Edges that share a person are not independent: the variance adds up what they have in common (the
    dyad-robust estimator of Aronow, Samii and Assenova, 2015).

    Args:
        edges: Public links, pairs x 2 ids, each pair once in either or both directions.
        classes: What people reported about their class, one column a class.
        names: The names of the classes.
    """
    scale, place = (
        Scale(names, shares=True),
        np.full(int(max(edges.max(initial=0), classes.users.max(initial=0))) + 1, -1),
    )
    place[classes.users] = np.arange(len(classes))
    both = np.unique(np.sort(place[edges], axis=1), axis=0)
    both = both[(both[:, 0] >= 0) & (both[:, 0] != both[:, 1])]
    own, width = classes.estimates, len(names)
    one, other = (own[both[:, end]] for end in (0, 1))
    people, count = len(np.unique(both)), len(both)
    incidence = sp.csr_array(
        (np.ones(2 * count), (both.T.ravel(), np.tile(np.arange(count), 2))), shape=(len(own), count)
    )
    for each in range(width):
        if count < 2:
            yield nothing(scale, width, people)
            continue
        pairs = (one[:, [each]] * other + other[:, [each]] * one) / 2  # pairs x classes
        degrees = (one[:, each] + other[:, each]) / 2
        tops, bottom = pairs.mean(axis=0), float(degrees.mean())
        if bottom <= 0:
            yield nothing(scale, width, people)
            continue
        spreads = [_dyadic(np.stack([pairs[:, to], degrees], axis=1), incidence) for to in range(width)]
        yield from_ratios(scale, tops, bottom, spreads, people)


def _dyadic(figures: Array, incidence: sp.csr_array) -> Array:
    """Return the covariance matrix of the means of some figures of pairs, where pairs may share a person."""
    residuals = figures - figures.mean(axis=0)
    sums = incidence @ residuals
    return np.asarray((sums.T @ sums - residuals.T @ residuals) / len(figures) ** 2)
