"""Files written so that a reader sees the old one or the new one, and never half of either."""

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
def atomic_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """Give a temporary file to write to; it takes the place of ``path`` only if nothing failed.

    Args:
        path: The file that is to exist in the end.
        private: True if only its owner may read it; the temporary file then exists, and is empty.
    """
    target = Path(path)
    _require_parent(target)
    if target.is_dir():
        raise InvalidParameter(f"{target} is a directory. Name a file to write.")
    temporary = _sibling(target)
    try:
        with _named_after(target):
            if private:
                os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield temporary
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """Give a temporary directory to fill; it becomes ``path`` only if nothing failed.

    Args:
        path: The directory that is to exist in the end. It must not exist yet or be empty: nothing that lies in a
            directory is removed.
        private: True if only its owner may look into it.
    """
    target = Path(path)
    _require_parent(target)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidParameter(f"{target} is not empty. Name a new or empty directory.")
    temporary = _sibling(target)
    try:
        with _named_after(target):
            temporary.mkdir(mode=0o700 if private else 0o777)
            yield temporary
            os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written before an hour is spent on its content.

    Args:
        path: The file to write.
    """
    target = Path(path)
    if target.is_dir():
        raise InvalidParameter(f"{target} is a directory. Name a file to write.")
    _require_parent(target)
    probe = _sibling(target)
    with _named_after(target):
        probe.touch(mode=0o600)  # a kill may leave it beside a secret file
        probe.unlink()


@contextmanager
def _named_after(target: Path) -> Iterator[None]:
    """Re-raise OSError with the path that the user asked for instead of the temporary one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise InvalidParameter(f"{target} cannot be written: {error.strerror}.") from error


def _sibling(target: Path) -> Path:
    # On the same file system, or the final rename would not be atomic; the suffix is kept for writers that add one.
    return target.with_name(f".{target.stem}.{secrets.token_hex(8)}{target.suffix}")


def _require_parent(target: Path) -> None:
    if not target.parent.is_dir():
        raise InvalidParameter(f"There is no directory {target.parent}. Name a file in an existing directory.")
