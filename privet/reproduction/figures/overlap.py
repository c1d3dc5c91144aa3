"""HeterPoisson without lines 15 to 22 of its Algorithm 2: centres stay in the sub-graphs of others (figure 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from privet.graph.subgraphs import SubgraphSampler
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.overlapping_poisson import OverlappingPoisson
from privet.systems import HeterPoisson
from privet.systems.central._training_view import TrainingView

__all__ = ["OverlappingHeterPoisson"]


@dataclass(frozen=True, kw_only=True)
class OverlappingHeterPoisson(HeterPoisson):
    """The sampler that keeps centres, with an accountant of its own. For comparison: it needs more noise."""

    process_kind: ClassVar[type[Process]] = OverlappingPoisson

    def sampler(self, view: TrainingView) -> SubgraphSampler:
        """Return the sampler of Algorithm 2 without its last loop."""
        return replace(super().sampler(view), keep_central=True)
