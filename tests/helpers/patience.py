"""Waiting for something that another thread or process does, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["PATIENCE", "wait_until"]

Found = TypeVar("Found")
PATIENCE = 120.0  # seconds after which something will never happen; reached only when a test fails


def wait_until(look: Callable[[], Found], *, pause: float = 0.05) -> Found:
    """Look again and again, and return the first thing found that is true.

    Args:
        look: Returns what it finds.
        pause: The seconds between two looks.
    """
    give_up = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < give_up, f"waited {PATIENCE:.0f} s in vain"
        time.sleep(pause)
    return found
