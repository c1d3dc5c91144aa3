"""The published systems: each file reads like its paper's algorithm."""

from privet.systems.base import Collected, System
from privet.systems.fitted import Fitted
from privet.systems.lpgnn import LPGNN
from privet.systems.rgnn import RGNN

__all__ = ["LPGNN", "RGNN", "Collected", "Fitted", "System"]
