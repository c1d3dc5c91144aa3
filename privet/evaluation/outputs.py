"""Files that commands write: checked before the work, never half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from privet.data import files
from privet.data.files import atomic_file
from privet.errors import InvalidParameter

__all__ = ["check_writable", "write_json"]


def check_writable(out: Path | None) -> None:
    """A run of an hour should not end with a path that cannot be written."""
    if out is None:
        return
    if out.is_dir():
        raise InvalidParameter("file to write", "privet", "a file name, such as result.json", f"the directory {out}")
    if not out.parent.is_dir():
        raise InvalidParameter("file to write", "privet", "in an existing directory", str(out.parent))
    files.check_writable(out)


def write_json(document: dict[str, Any], out: Path) -> None:
    """Sorted and indented, all of it or nothing."""
    with atomic_file(out) as file:
        file.write_text(json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n")
