"""Sampling processes that can be priced, one a file, found by name."""

from privet.privacy.accounting.processes._base import Comparison, Explanation, Noise, Part, Process
from privet.registry import Registry

__all__ = ["PROCESSES", "Comparison", "Explanation", "Noise", "Part", "Process"]

PROCESSES: Registry[Process] = Registry(
    "process", "Process", ("privet.privacy.accounting.processes",), "privet.processes"
)
"""Every sampling process by name; other packages add theirs through the entry points ``privet.processes``."""
