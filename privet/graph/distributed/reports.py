"""Feature reports that come in parts, projected by the workers and put where the graph's partitions need them.

A part is read by one worker, which projects its rows and keeps them in a file. Every partition then takes its people's
rows out of these files. No process ever holds more than one part of the reports or one partition of the columns.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data.store import StoredPartition
from privet.data.store.files import mapped, writing
from privet.data.store.manifest import folder_of
from privet.data.store.running import run_tasks
from privet.graph.distributed.columns import Columns
from privet.graph.distributed.graph import ClusterGraph
from privet.graph.distributed.propagation import completed_columns
from privet.graph.projection import Projection
from privet.mechanisms import AffineFeatures

__all__ = ["FeatureParts", "PartedReports", "ProjectedReports", "SpooledFeatures", "project_reports"]

_ROWS = 1 << 16  # of a spooled part


class FeatureParts(Protocol):
    """The estimated features of those who answered, in parts that any worker can read; it can be pickled."""

    @property
    def sizes(self) -> Sequence[int]:
        """The number of people in each part; people are in the order of their ids."""

    def features(self, part: int) -> AffineFeatures:
        """Read one part; all parts have the same scale and offset."""


@dataclass(frozen=True, eq=False)
class PartedReports:
    """Reports to the feature question that are read part by part; they stand where :class:`Reports` would.

    Attributes:
        parts: The parts.
        order: The row of the reports that each row stands for; None for the order of the parts.
    """

    parts: FeatureParts
    order: NDArray[np.integer[Any]] | None = None

    def __len__(self) -> int:
        return sum(self.parts.sizes) if self.order is None else len(self.order)

    def take(self, rows: NDArray[np.integer[Any]]) -> PartedReports:
        """Return some rows, in the order given; nothing is read."""
        return replace(self, order=rows if self.order is None else self.order[rows])


@dataclass(frozen=True)
class SpooledFeatures:
    """Estimated features of this process in files, for workers.

    Attributes:
        folder: The directory of the files.
        sizes: The number of people in each file.
    """

    folder: Path
    sizes: tuple[int, ...]

    @classmethod
    def write(cls, folder: Path, features: AffineFeatures) -> SpooledFeatures:
        """Write features in parts.

        Args:
            folder: An existing directory.
            features: One row for each person who answered.
        """
        symbols, rows = features.symbols, features.shape[0]
        starts = range(0, rows, _ROWS)
        for number, first in enumerate(starts):
            some = symbols[first : first + _ROWS]
            with (folder / f"{folder_of(number)}.npz").open("wb") as file:
                np.savez(file, data=some.data, indices=some.indices, indptr=some.indptr,
                         scale=features.scale, offset=features.offset)  # fmt: skip
        return cls(folder, tuple(min(_ROWS, rows - first) for first in starts))

    def features(self, part: int) -> AffineFeatures:
        """Read one part."""
        with np.load(self.folder / f"{folder_of(part)}.npz", allow_pickle=False) as file:
            scale, offset = file["scale"], file["offset"]
            matrix = (file["data"], file["indices"], file["indptr"])
        return AffineFeatures(sp.csr_array(matrix, shape=(self.sizes[part], len(scale))), scale, offset)


@dataclass(frozen=True, eq=False)
class ProjectedReports:
    """Rows S diag(scale weights) R of everybody who answered, in files, one a part.

    Attributes:
        folder: The directory of the files.
        starts: The first row of each part, and the number of rows last.
        projection: R.
        scale: The scale of the estimate, one number for each feature.
        offset: The offset of the estimate.
        weights: The further factor of each column.
        means: The mean of each column of S.
        squares: The mean square of each column of S.
    """

    folder: Path
    starts: tuple[int, ...]
    projection: Projection
    scale: NDArray[np.float64]
    offset: NDArray[np.float64]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]

    def columns(
        self,
        graph: ClusterGraph,
        users: NDArray[np.int64],
        constant: NDArray[np.float64],
        *,
        factor: float = 1.0,
        order: NDArray[np.integer[Any]] | None = None,
    ) -> Columns:
        """Put the rows, times ``factor`` and with ``constant`` added, to their nodes; complete them where they lack.

        Args:
            graph: The stored graph.
            users: The ids of those who answered, ascending.
            constant: One number for each column; numbers behind R's columns make columns of their own.
            factor: The factor of the rows.
            order: The row that each person of ``users`` has, if it is not the person's own.
        """
        np.save(self.folder / "users.npy", users)
        np.save(self.folder / "order.npy", np.arange(len(users)) if order is None else order)
        lacking = len(users) < graph.store.num_nodes
        width = len(constant) + lacking
        task = partial(_placed, self.folder, self.starts, factor, constant.astype(np.float32), lacking)
        placed = graph.map(task, width=width)
        if not lacking:
            return placed
        mean = constant.copy()
        mean[: self.projection.columns] += factor * self.projection.of_vector(self.means * self.scale * self.weights)
        return completed_columns(placed, mean.astype(np.float32))

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self.folder, ignore_errors=True)


def project_reports(
    graph: ClusterGraph, parts: FeatureParts, projection: Projection, weights: NDArray[np.float64] | None = None
) -> ProjectedReports:
    """Let the workers project all parts.

    Args:
        graph: The stored graph, whose workers and scratch directory are used.
        parts: The reports.
        projection: R.
        weights: A factor of each column beside the estimate's scale; ones by default.
    """
    folder = Path(tempfile.mkdtemp(prefix="reports-", dir=graph.scratch))
    factors = np.ones(projection.dimension) if weights is None else weights
    task = partial(_projected, parts, projection, factors, folder)
    found = run_tasks(task, range(len(parts.sizes)), graph.client)
    rows = sum(parts.sizes)
    return ProjectedReports(
        folder,
        tuple(np.cumsum([0, *parts.sizes]).tolist()),
        projection,
        found[0].scale,
        found[0].offset,
        factors,
        np.sum([part.sums for part in found], axis=0) / rows,
        np.sum([part.squares for part in found], axis=0) / rows,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    scale: NDArray[np.float64]
    offset: NDArray[np.float64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]


def _projected(
    parts: FeatureParts, projection: Projection, weights: NDArray[np.float64], folder: Path, part: int
) -> _Part:
    """Project one part; running twice gives the same."""
    features = parts.features(part)
    symbols = features.symbols
    rows = projection.of(symbols, features.scale * weights)
    with writing(folder / f"{folder_of(part)}.npy", flush=False) as temporary, temporary.open("wb") as file:
        np.save(file, rows, allow_pickle=False)
    return _Part(features.scale, features.offset, _sums(symbols, symbols.data), _sums(symbols, symbols.data**2))


def _sums(symbols: sp.csr_array, values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Sum the values of each column's stored entries."""
    return np.bincount(symbols.indices, values, symbols.shape[1]).astype(np.float64)


def _placed(
    folder: Path,
    starts: tuple[int, ...],
    factor: float,
    constant: NDArray[np.float32],
    lacking: bool,
    partition: StoredPartition,
) -> NDArray[np.float32]:
    """Return a partition's rows; if some people lack theirs, a last column is 1 for the others and 0 for them."""
    ids, users = partition.ids, mapped(folder / "users.npy")
    places = np.minimum(np.searchsorted(users, ids), len(users) - 1)
    own = np.flatnonzero(users[places] == ids)
    wanted = np.asarray(mapped(folder / "order.npy")[places[own]])
    parts = np.searchsorted(starts, wanted, side="right") - 1
    result = np.zeros((len(ids), len(constant) + lacking), np.float32)
    for part in np.unique(parts):
        chosen = parts == part
        rows = mapped(folder / f"{folder_of(int(part))}.npy")
        result[own[chosen], : rows.shape[1]] = factor * rows[wanted[chosen] - starts[part]]
    result[own, : len(constant)] += constant
    if lacking:
        result[own, -1] = 1.0
    return result
