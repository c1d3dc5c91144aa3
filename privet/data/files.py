"""Writing files so that a reader sees the old one or the new one, and never half of either."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privet.errors import InvalidParameter

__all__ = ["atomic_directory", "atomic_file", "check_writable"]


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary sibling of ``path`` to write to; it takes the place of ``path`` only if nothing failed."""
    target = Path(path)
    _require_parent(target)
    if target.is_dir():
        raise InvalidParameter("path", "a file to write", "a file's", f"the directory {target}")
    temporary = _sibling(target)
    try:
        with _named_after(target):
            yield temporary
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary directory to fill; it becomes ``path`` only if nothing failed.

    ``path`` must not exist or be empty: what else lies in a directory is not ours to remove.
    """
    target = Path(path)
    _require_parent(target)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameter("path", "a directory to write", "new or empty", str(target))
    temporary = _sibling(target)
    try:
        with _named_after(target):
            temporary.mkdir()
            yield temporary
            os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written before an hour is spent on what goes into it."""
    target = Path(path)
    if target.is_dir():
        raise InvalidParameter("path", "a file to write", "a file's", f"the directory {target}")
    _require_parent(target)
    probe = _sibling(target)
    with _named_after(target):
        probe.touch()
        probe.unlink()


@contextmanager
def _named_after(target: Path) -> Iterator[None]:
    """What the operating system refuses is told about the file that was asked for, not about its temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        found = f"{target} ({error.strerror})"
        raise InvalidParameter("path", "a file to write", "where files can be written", found) from error


def _sibling(target: Path) -> Path:
    # On the same file system, or the final rename would not be atomic; the suffix is kept for writers that add one.
    return target.with_name(f".{target.stem}.{secrets.token_hex(8)}{target.suffix}")


def _require_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise InvalidParameter("path", "a file to write", "in an existing directory", str(target))
