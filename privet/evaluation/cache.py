"""A store of finished figures: one small JSON file each, named after everything that decides its value.

The usual store is a cache that all commands and :func:`~privet.evaluation.evaluate.evaluate` share. It holds figures of
simulations and digests, never data, and only its owner may read it. Beside the figures lie structural priors of
simulations, for which several systems and budgets ask.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

import privet
from privet.data.files import atomic_file
from privet.errors import InvalidParameter, PrivetError

__all__ = ["LIMIT", "ArrayShelf", "Store", "canonical", "program_digest", "usual_store"]

LIMIT = 64 << 20
"""Bytes that the usual store may take; the figures whose last use is longest ago go first."""

_FORMAT = 2
_OFF = ("0", "off", "no", "false")
_ROUND = 128  # figures that are stored between two looks at the size
_ARRAYS = 256 << 20  # bytes that arrays may take
_LARGEST = 16 << 20  # bytes of an array that is worth its place
_COMPUTE = (
    "data", "privacy", "mechanisms", "release", "graph", "estimation", "models", "auditing", "systems", "evaluation",
    "advice", "reproduction",
)  # fmt: skip
_LIBRARIES = ("numpy", "scipy", "torch")


class Store:
    """A directory of finished figures, so that nothing is measured twice and interrupted work goes on.

    Several processes may use it at once: a file is there whole or not at all. One that cannot be read as a figure is
    measured again.

    Args:
        folder: The directory, which is made when the first figure is stored; None keeps figures in memory only.
        limit: The bytes that it may take (default: any number). A store with a limit is a cache: where it cannot be
            written, figures are measured and not kept.
        fresh: True to measure again what it has, and keep the new figure.
    """

    def __init__(self, folder: str | Path | None, *, limit: int | None = None, fresh: bool = False) -> None:
        self.folder = None if folder is None else Path(folder)
        self.limit, self.fresh = limit, fresh
        self._memory: dict[str, dict[str, Any]] = {}
        self._stored = 0

    @property
    def arrays(self) -> Path | None:
        """The directory of arrays beside the figures of a cache; None where none are kept, or none are to be read."""
        return None if self.folder is None or self.limit is None or self.fresh else self.folder.with_name("priors")

    @cached_property
    def in_memory(self) -> Store:
        """A store in memory for figures that a cache must not keep, since no key describes them whole."""
        return Store(None)

    def get(self, key: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the finished figure of a description, or None."""
        name = self.name(key)
        if name in self._memory:
            return self._memory[name]
        if self.folder is None or self.fresh:
            return None
        path = self.folder / name
        try:
            document = json.loads(path.read_bytes())
            if document["key"] != json.loads(json.dumps(key)) or not isinstance(document["value"], dict):
                return None
            if self.limit is not None:
                os.utime(path)  # used now
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        found: dict[str, Any] = document["value"]
        return found

    @staticmethod
    def name(key: Mapping[str, Any]) -> str:
        """Return a figure's file name: the SHA-256 of its description's canonical JSON."""
        text = json.dumps({"format": _FORMAT, **key}, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def compute(self, key: Mapping[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the finished figure of a description; compute and store it if it is not there yet."""
        found = self.get(key)
        if found is None:
            found = work()
            self._put(key, found)
        return found

    def _put(self, key: Mapping[str, Any], value: dict[str, Any]) -> None:
        name = self.name(key)
        if self.folder is None or self.fresh:
            self._memory[name] = value  # what was measured afresh is not measured again
        if self.folder is None:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_file(self.folder / name, private=True) as file:
                file.write_text(json.dumps({"key": key, "value": value}, sort_keys=True) + "\n")
        except (OSError, PrivetError) as error:
            if self.limit is not None:
                return
            place = f"{self.folder} ({getattr(error, 'strerror', None) or error})"
            raise InvalidParameter("folder", "a directory that can be written", place) from None
        if self.limit is not None and self._stored % _ROUND == 0:
            _shrink(self.folder, self.limit)
        self._stored += 1


def usual_store(*, fresh: bool = False) -> Store:
    """Return the store that is used where none is named: the platform's cache directory, or ``PRIVET_CACHE``.

    Args:
        fresh: True to measure again what it has.
    """
    named = os.environ.get("PRIVET_CACHE")
    if named is not None and named.strip().lower() in _OFF:
        return Store(None)
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("privet", appauthor=False))
    return Store(folder / "figures", limit=LIMIT, fresh=fresh)


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
            _shrink(self.folder, _ARRAYS)
        except (OSError, PrivetError):
            return

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(f'{program_digest()} {name}'.encode()).hexdigest()[:32]}.npy"


@cache
def program_digest() -> str:
    """Return a digest of the modules that figures come from, and of the libraries beneath them.

    A version alone would let an edited program read the figures of the one before.
    """
    root = Path(privet.__file__).parent
    files = sorted(path for part in _COMPUTE for path in (root / part).rglob("*.py"))
    mark = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    for path in files:
        mark.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{privet.__version__} {mark.hexdigest()[:32]}"


def canonical(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON can hold them: it has no infinity, which is how little a run without privacy clips."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in settings.items()
    }


def _shrink(folder: Path, limit: int) -> None:
    """Remove the files whose last use is longest ago, until a fifth of the limit is free.

    Args:
        folder: The directory.
        limit: The bytes above which files are removed.
    """
    files = []
    for path in folder.iterdir():
        try:
            facts = path.stat()
        except OSError:  # another process was faster
            continue
        files.append((facts.st_mtime_ns, facts.st_size, path))
    size = sum(each for _, each, _ in files)
    if size <= limit:
        return
    for _, each, path in sorted(files):
        if size <= 0.8 * limit:
            return
        path.unlink(missing_ok=True)
        size -= each
