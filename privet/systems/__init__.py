"""The published systems: each file reads like its paper's algorithm."""

from privet.systems.base import Collected, System
from privet.systems.fitted import Fitted
from privet.systems.lpgnn import LPGNN
from privet.systems.privge import PrivGE
from privet.systems.privge_links import LinkFitted
from privet.systems.rgnn import RGNN
from privet.systems.solitude import Solitude

SYSTEMS: dict[str, type[System]] = {system.name: system for system in (LPGNN, PrivGE, RGNN, Solitude)}
"""Every system by the name that the command line uses."""

__all__ = ["LPGNN", "RGNN", "SYSTEMS", "Collected", "Fitted", "LinkFitted", "PrivGE", "Solitude", "System"]
