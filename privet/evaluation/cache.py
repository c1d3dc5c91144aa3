"""A store of finished figures: one small JSON file each, named after everything that decides its value."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidParameter

__all__ = ["Store", "canonical"]

_FORMAT = 1


class Store:
    """A directory of finished figures, so that interrupted work goes on where it stopped.

    Args:
        folder: The directory, which is made when the first figure is stored; None keeps figures in memory only.
    """

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[str, dict[str, Any]] = {}

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the finished figure of a description, or None."""
        name = _name(key)
        if self.folder is None or not (path := self.folder / name).exists():
            return self._memory.get(name)
        try:
            found: dict[str, Any] = json.loads(path.read_text())["value"]
        except (ValueError, KeyError, TypeError):
            raise InvalidData(f"stored figure {name}", "written by privet", "another file; remove it") from None
        return found

    def compute(self, key: dict[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the finished figure of a description; compute and store it if it is not there yet."""
        found = self.get(key)
        if found is None:
            found = work()
            self._put(key, found)
        return found

    def _put(self, key: dict[str, Any], value: dict[str, Any]) -> None:
        if self.folder is None:
            self._memory[_name(key)] = value
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            place = f"{self.folder} ({error.strerror})"
            raise InvalidParameter("folder", "Store", "a directory that can be written", place) from None
        with atomic_file(self.folder / _name(key)) as file:
            file.write_text(json.dumps({"key": key, "value": value}, sort_keys=True) + "\n")


def canonical(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON can hold them: it has no infinity, which is how little a run without privacy clips."""
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in settings.items()
    }


def _name(key: dict[str, Any]) -> str:
    """The SHA-256 of a description's canonical JSON, as a file name."""
    text = json.dumps({"format": _FORMAT, **key}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
