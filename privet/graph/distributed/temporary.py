"""Directories for temporary files that do not outlive their process for long, however it ends.

A directory is locked by the process that made it. The operating system drops the lock when that process ends, also when
it is killed, and whoever starts next removes directories of the same account that nobody locks any more.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["owned_directory", "remove_abandoned"]

_PREFIX = "privet-temporary-"
_LOCK = ".owner"


@contextmanager
def owned_directory() -> Iterator[Path]:
    """Give a new directory that only this account can read; it is removed in the end, and after SIGTERM.

    Directories that earlier processes of this account left behind are removed first.
    """
    import fcntl  # where it is missing, nothing but this is

    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, socket.gethostname().encode())
        with _ended_by_sigterm():
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned() -> None:
    """Remove directories that processes of this account, on this machine, made and did not live to remove."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """Tell whether a directory is ours beyond doubt, and its process is gone."""
    import fcntl

    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if not private or found.st_uid != os.getuid():
        return False
    descriptor = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW)  # a directory without one is left alone
    try:
        if os.read(descriptor, 1024).decode(errors="replace") != socket.gethostname():
            return False  # of another machine, whose locks need not be seen here, or not finished
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError, an OSError, while its process lives
    finally:
        os.close(descriptor)
    return True


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process as an exception does, so that what was opened is closed."""
    usual = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough: closing must not be cut short
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
