"""Reports at the edges of what a device can send: how far one report can move an estimate, and which report does.

A server cannot check a report against the truth, so anybody may send any possible report. Everything here follows from
the public alphabet alone. It serves the bound on one liar's influence, and simulated liars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidParameter
from privet.mechanisms.core.reports import NeighbourReports, Reports
from privet.mechanisms.core.shapes import SymbolShape
from privet.mechanisms.primitives.bits import Bits

if TYPE_CHECKING:
    from privet.mechanisms.core.base import Mechanism

__all__ = ["dense_rows", "influence_of", "random_lists", "strongest_symbols", "uniform_symbols"]

_WIDEST = 2  # bytes of a symbol whose whole alphabet is listed
_PEOPLE = 1 << 10  # rows of directions that are dense at once
_MOST_COLUMNS = 1 << 12


def dense_rows(directions: Any) -> Any:
    """Yield slices of rows, and the rows as dense numbers, so that a sparse matrix is never dense as a whole."""
    for start in range(0, directions.shape[0], _PEOPLE):
        rows = slice(start, min(start + _PEOPLE, directions.shape[0]))
        block = directions[rows]
        yield rows, np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)


def strongest_symbols(mechanism: Mechanism, directions: Any, reports: Reports) -> Reports:
    """Choose each coordinate's symbol alone, which is best where an estimate is a sum over coordinates.

    Args:
        mechanism: A mechanism whose reports have all coordinates, with symbols of two bytes at most.
        directions: The direction that each person's estimate is pushed in, people x columns of the estimate.
        reports: Possible reports of the same people.
    """
    chosen = reports.symbols.copy()
    for column, (alphabet, estimates) in enumerate(_alphabets(mechanism, reports)):
        for rows, block in dense_rows(directions):
            chosen[rows, column] = alphabet[(block @ estimates.T).argmax(axis=1)]
    return Reports(reports.dimension, chosen)


def uniform_symbols(mechanism: Mechanism, reports: Reports, bits: Bits) -> Reports:
    """Draw each coordinate's symbol from its whole alphabet, all alike.

    Args:
        mechanism: As for :func:`strongest_symbols`.
        reports: Possible reports of the same people.
        bits: The source of randomness.
    """
    chosen = reports.symbols.copy()
    for column, (alphabet, _) in enumerate(_alphabets(mechanism, reports)):
        chosen[:, column] = alphabet[bits.below(len(alphabet), (len(reports),))]
    return Reports(reports.dimension, chosen)


def influence_of(mechanism: Mechanism, reports: Any) -> float:
    """Push one person's estimate of every column up and down as far as a possible report can.

    Args:
        mechanism: The mechanism.
        reports: A possible report of one person.
    """
    columns = mechanism.estimate(reports).shape[1]
    if columns > _MOST_COLUMNS:
        expected = f"one that states its own, since its estimate has more than {_MOST_COLUMNS} columns"
        raise InvalidParameter("influence", expected, f"{columns} columns")
    one = sp.eye_array(columns, format="csr")
    both = sp.csr_array(sp.vstack([one, -one]))
    many = reports.take(np.zeros(2 * columns, dtype=np.int64))
    found = mechanism.estimate(mechanism.strongest(both, many))
    stored = found.symbols.toarray()
    place = np.arange(columns)
    return float(np.max((stored[place, place] - stored[columns + place, place]) * found.scale))


def random_lists(reports: NeighbourReports, lowest: NDArray[np.int64], bits: Bits) -> NeighbourReports:
    """Draw lists of the same lengths, each uniform among the lists of its length.

    Args:
        reports: The lists whose lengths and senders are kept.
        lowest: The smallest id that each of them may name.
        bits: The source of randomness.
    """
    ids = np.arange(len(reports)) if reports.users is None else reports.users
    lengths = np.diff(reports.indptr)
    choices = reports.num_nodes - lowest - (ids >= lowest)
    cells = np.zeros(0, dtype=np.int64)
    while True:
        have = np.bincount(cells // reports.num_nodes, minlength=len(ids))
        rows = np.repeat(np.arange(len(ids)), lengths - have)
        if not len(rows):
            break
        drawn = lowest[rows] + bits.below(choices[rows], rows.shape)
        drawn += (drawn >= ids[rows]) & (ids[rows] >= lowest[rows])  # nobody names themselves
        cells = np.unique(np.concatenate([cells, rows * reports.num_nodes + drawn]))
    return NeighbourReports(
        reports.num_nodes, reports.indptr, (cells % reports.num_nodes).astype(np.int32), reports.users
    )


def _alphabets(mechanism: Mechanism, reports: Reports) -> Any:
    """Yield each coordinate's possible symbols, and the estimate of the first person's report with each of them."""
    shape = mechanism.shape
    if not isinstance(shape, SymbolShape) or shape.width < shape.dimension or shape.dtype.itemsize > _WIDEST:
        raise InvalidParameter(
            f"{mechanism.name} needs a strongest method of its own: its reports leave coordinates out or are wide."
        )
    bounds = np.iinfo(shape.dtype)
    every = np.arange(bounds.min, bounds.max + 1)
    for column in range(shape.width if len(reports) else 0):
        symbols = np.repeat(reports.symbols[:1], len(every), axis=0)
        symbols[:, column] = every
        fine = mechanism.possible(Reports(reports.dimension, symbols))
        estimate = mechanism.estimate(Reports(reports.dimension, symbols[fine]))
        yield every[fine].astype(shape.dtype), estimate.dense()
