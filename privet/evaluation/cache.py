"""Figures that are not computed twice: one small JSON file each, named after everything that decides its value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidParameter

__all__ = ["Store"]

_FORMAT = 1


class Store:
    """A directory of finished figures. An interrupted table goes on where it stopped."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, key: dict[str, Any]) -> Path:
        """Where the figure of a description lies: the SHA-256 of its canonical JSON."""
        text = json.dumps({"format": _FORMAT, **key}, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def get(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """The finished figure, or None."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            document = json.loads(path.read_text())
            found: dict[str, Any] = document["value"]
        except (ValueError, KeyError, TypeError):
            raise InvalidData(f"stored figure {path.name}", "written by privet", "another file; remove it") from None
        return found

    def compute(self, key: dict[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The finished figure, computed and stored now if it is not there yet."""
        found = self.get(key)
        if found is None:
            found = work()
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                place = f"{self.folder} ({error.strerror})"
                raise InvalidParameter("--store", "privet", "a directory that can be written", place) from None
            with atomic_file(self.path(key)) as file:
                file.write_text(json.dumps({"key": key, "value": found}, sort_keys=True) + "\n")
        return found
