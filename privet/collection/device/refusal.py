"""The device's own word against taking part."""

from __future__ import annotations

from privet.errors import PrivetError

__all__ = ["NotAsked", "Refusal"]


class Refusal(PrivetError):
    """The device does not take part, and says why."""


class NotAsked(Refusal):
    """The owner is not among those whom a round asks; nothing is wrong."""
