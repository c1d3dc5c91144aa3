"""The published systems: each file reads like its paper's algorithm."""

from privet.systems.base import Collected, System
from privet.systems.fitted import Fitted

__all__ = ["Collected", "Fitted", "System"]
