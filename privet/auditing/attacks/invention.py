"""Invented data: what liars tell their own honest devices."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.auditing.attacks.coalition import Coalition
from privet.release import PrivateData

__all__ = ["false_input"]


def false_input(
    coalition: Coalition,
    wanted: NDArray[np.int64],
    places: NDArray[np.int64],
    rng: np.random.Generator,
    invented: int | None = None,
) -> PrivateData:
    """Return data with which some liars pass for other classes.

    Features are those of a liar who is really of that class, as far as there is one; a liar keeps their own otherwise.
    Friends are as many as the liar has, but publicly of that class.

    Args:
        coalition: The liars.
        wanted: The class that each of the chosen liars passes for.
        places: The chosen liars, by their places in the coalition.
        rng: The source of randomness.
        invented: If it is a number, the liar's own data with so many further friends of that class instead.
    """
    own = coalition.private.take(places)
    lists = _friends(coalition, wanted, own, rng, invented)
    if invented is not None:
        return PrivateData(own.users, own.features, own.labels, lists)
    models = places.copy()
    for each in np.unique(wanted):
        members = np.flatnonzero(coalition.own == each)
        chosen = np.flatnonzero(wanted == each)
        if len(members):
            models[chosen] = rng.choice(members, len(chosen))
    features = None if own.features is None else coalition.private.take(models).features
    return PrivateData(own.users, features, wanted.copy(), lists)


def _friends(
    coalition: Coalition,
    wanted: NDArray[np.int64],
    own: PrivateData,
    rng: np.random.Generator,
    invented: int | None,
) -> sp.csr_array | None:
    """Draw friends who are publicly of the wanted class: for an own list, or beside it."""
    if own.neighbours is None:
        return None
    counts = np.diff(own.neighbours.indptr) if invented is None else np.full(len(own), invented)
    rows = np.repeat(np.arange(len(own)), counts)
    columns = np.empty(len(rows), dtype=np.int64)
    for each in np.unique(wanted):
        chosen = wanted[rows] == each
        members = np.flatnonzero(coalition.labels == each)
        if not len(members):
            members = np.arange(len(coalition.labels))
        columns[chosen] = rng.choice(members, int(chosen.sum()))
    kept = columns != own.users[rows]
    told = sp.csr_array((np.ones(int(kept.sum()), np.float32), (rows[kept], columns[kept])), own.neighbours.shape)
    whole = told if invented is None else sp.csr_array(told + own.neighbours)
    whole.sum_duplicates()
    whole.data[:] = 1
    return whole
