"""Normalisations as diagonal scales: L = D^left and R = D^right around a pattern with or without loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from privet.data.store.files import reading, writing
from privet.data.store.manifest import folder_of
from privet.data.store.reading import GraphStore, StoredPartition
from privet.graph.csr import degree_powers

__all__ = ["Loops", "Normalisation", "ScaleTask", "opened", "prepare_scales", "scale_paths", "scales_of"]

Loops = Literal["none", "every", "stored"]


def opened(path: Path) -> GraphStore:
    """Open a store, once in each process unless its manifest changes.

    Args:
        path: The store's directory.
    """
    with reading(path / "store.json"):
        return _opened(path, (path / "store.json").stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _opened(path: Path, _: int) -> GraphStore:
    return GraphStore.open(path)


@dataclass(frozen=True)
class Normalisation:
    """The map D^left (A + loops) D^right, where D holds the row sums of A + loops.

    Attributes:
        left: The exponent of the receiving node's degree; 0 leaves it out.
        right: The exponent of the sending node's degree; 0 leaves it out.
        loops: The loops that A has: none, one at every node, or those of the store.
    """

    left: float
    right: float
    loops: Loops

    def loop_weights(self, partition: StoredPartition) -> NDArray[np.float32] | None:
        """Return the weight of each row's loop, or None if there are none."""
        if self.loops == "every":
            return np.ones(partition.entry.rows, np.float32)
        stored = partition.loops if self.loops == "stored" else None
        return None if stored is None else stored.astype(np.float32)

    def degrees(self, partition: StoredPartition) -> NDArray[np.float64]:
        """Return the row sums of A + loops."""
        degrees = np.diff(partition.pointers).astype(np.float64)
        weights = self.loop_weights(partition)
        return degrees if weights is None else degrees + weights


@dataclass(frozen=True)
class ScaleTask:
    """Scales to prepare.

    Attributes:
        store: The store's directory.
        partition: The partition's number.
        normalisation: The operator.
        folder: The directory for the scales.
        dtype: Their type, as NumPy spells it.
        check: True to compare the partition's files with their checksums first.
    """

    store: Path
    partition: int
    normalisation: Normalisation
    folder: Path
    dtype: str
    check: bool


def prepare_scales(task: ScaleTask) -> None:
    """Write L for a partition's rows and R for its rows and its halo's.

    Args:
        task: The scales.
    """
    partition = opened(task.store).partition(task.partition)
    if task.check:
        partition.check()
    paths = scale_paths(task.folder, task.partition)
    for path, scale in zip(paths, scales_of(partition, task.normalisation, task.dtype), strict=True):
        if scale is not None:
            with writing(path, flush=False) as temporary, temporary.open("wb") as file:
                np.save(file, scale, allow_pickle=False)


def scales_of(
    partition: StoredPartition, chosen: Normalisation, dtype: DTypeLike
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Compute L for a partition's rows and R for its rows and its halo's, each None where it is one.

    Args:
        chosen: The operator.
        dtype: The type of the scales.
    """
    store, own = partition.store, chosen.degrees(partition)
    left = degree_powers(own, chosen.left).astype(dtype) if chosen.left else None
    if not chosen.right:
        return left, None
    halo = [chosen.degrees(store.partition(owner))[places] for owner, places in partition.halo_groups()]
    return left, degree_powers(np.concatenate([own, *halo]), chosen.right).astype(dtype)


def scale_paths(folder: Path, partition: int) -> tuple[Path, Path]:
    """Return the files of L and R.

    Args:
        folder: The directory of the scales.
        partition: The partition's number.
    """
    return folder / f"left-{folder_of(partition)}.npy", folder / f"right-{folder_of(partition)}.npy"
