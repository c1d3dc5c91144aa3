"""Structural priors of simulations on disk, beside the figures: several systems and budgets ask for the same ones."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.data.files import atomic_file
from privet.errors import PrivetError
from privet.evaluation.cache import shrink
from privet.evaluation.keys import program_digest

__all__ = ["ArrayShelf"]

_LIMIT = 256 << 20
_LARGEST = 16 << 20  # bytes of an array that is worth its place


@dataclass(frozen=True)
class ArrayShelf:
    """A directory of arrays, one .npy file each, readable by its owner only.

    Attributes:
        folder: The directory, which is made for the first array.
    """

    folder: Path

    def get(self, name: str) -> NDArray[Any] | None:
        """Return an array, or None if it is not there whole."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                found: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
            os.utime(path)  # used now
        except Exception:  # whatever numpy says of a file that is no array
            return None
        return found

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array, unless it is large or the directory cannot be written."""
        if array.nbytes > _LARGEST:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_file(self._path(name), private=True) as file:
                np.save(file, array, allow_pickle=False)
            shrink(self.folder, _LIMIT)
        except (OSError, PrivetError):
            return

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(f'{program_digest()} {name}'.encode()).hexdigest()[:32]}.npy"
