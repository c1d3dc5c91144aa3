"""A place for costly arrays, lent to estimation by whoever may keep them: an evaluation of simulations.

Without one nothing is written: what a study learns of people stays in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from numpy.typing import NDArray

__all__ = ["Shelf", "lent", "lent_shelf"]


class Shelf(Protocol):
    """A place for arrays by name."""

    def get(self, name: str) -> NDArray[Any] | None:
        """Return an array, or None if it is not there."""

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Keep an array."""


_LENT: ContextVar[Shelf | None] = ContextVar("shelf", default=None)


@contextmanager
def lent(shelf: Shelf | None) -> Iterator[None]:
    """Lend a shelf while something is estimated.

    Args:
        shelf: The shelf; None lends none.
    """
    token = _LENT.set(shelf)
    try:
        yield
    finally:
        _LENT.reset(token)


def lent_shelf() -> Shelf | None:
    """Return the shelf that is lent now, if there is one."""
    return _LENT.get()
