"""Forms of reports: the columns of integers that a report consists of, in memory, in bytes and in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InvalidReports
from privet.mechanisms.core.reports import NeighbourReports, Reports

__all__ = ["Column", "ListShape", "SymbolShape"]


@dataclass(frozen=True)
class Column:
    """One column of a report.

    Attributes:
        name: Its name, empty if the report has no other column.
        dtype: The integers in it.
        count: How many integers each row has; None if rows differ. A column of rows that differ is held as a pair of
            row starts and values.
    """

    name: str
    dtype: np.dtype[Any]
    count: int | None


@dataclass(frozen=True)
class SymbolShape:
    """Reports of ``width`` out of ``dimension`` coordinates, one symbol each.

    Attributes:
        dimension: The number of coordinates.
        width: The number of symbols in a report; with fewer than ``dimension`` the report names its coordinates.
        dtype: The integers that hold a symbol.
    """

    dimension: int
    width: int
    dtype: np.dtype[Any]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order in which they are sent."""
        if self.dimension == 1:
            return (Column("", self.dtype, 1),)
        symbols = Column("symbols", self.dtype, self.width)
        return (Column("coordinates", np.dtype(np.int32), self.width), symbols) if self._sampled else (symbols,)

    @property
    def _sampled(self) -> bool:
        return self.width < self.dimension

    def check(self, reports: Any, owner: str) -> None:
        """Refuse reports of another form."""
        if not isinstance(reports, Reports):
            raise InvalidReports(f"reports for {owner}", "symbols", type(reports).__name__)
        if reports.dimension != self.dimension or reports.symbols.shape[1] != self.width:
            found = f"{reports.symbols.shape[1]} of {reports.dimension}"
            raise InvalidReports(f"reports for {owner}", f"{self.width} of {self.dimension} coordinates", found)
        if reports.symbols.dtype != self.dtype or (reports.indices is not None) != self._sampled:
            expected = f"{self.dtype} symbols {'with' if self._sampled else 'without'} indices"
            raise InvalidReports(f"reports for {owner}", expected, reports.symbols.dtype)

    def split(self, reports: Reports) -> tuple[Any, ...]:
        """Return the values of each column."""
        return (reports.symbols,) if reports.indices is None else (reports.indices, reports.symbols)

    def join(self, values: Sequence[Any], users: NDArray[np.int64]) -> Reports:
        """Make reports of the values of each column."""
        indices = values[0].astype(np.int32) if self._sampled else None
        return Reports(self.dimension, values[-1].astype(self.dtype), indices)


@dataclass(frozen=True)
class ListShape:
    """Reports that are lists of other nodes, ascending and of any length.

    Attributes:
        num_nodes: The number of nodes.
    """

    num_nodes: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column whose rows differ in length."""
        return (Column("", np.dtype(np.int32), None),)

    def check(self, reports: Any, owner: str) -> None:
        """Refuse reports of another form."""
        if not isinstance(reports, NeighbourReports) or reports.num_nodes != self.num_nodes:
            found = getattr(reports, "num_nodes", type(reports).__name__)
            raise InvalidReports(f"reports for {owner}", f"lists about {self.num_nodes} nodes", found)

    def split(self, reports: NeighbourReports) -> tuple[Any, ...]:
        """Return the row starts and the values of the column."""
        return ((reports.indptr, reports.indices),)

    def join(self, values: Sequence[Any], users: NDArray[np.int64]) -> NeighbourReports:
        """Make reports of row starts and values."""
        starts, listed = values[0]
        return NeighbourReports(self.num_nodes, starts, listed.astype(np.int32), users)
