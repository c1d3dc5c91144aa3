"""NDP (Daigavane et al. 2021): sub-graphs in a graph of bounded degree, priced soundly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from privet.graph.subgraphs import SubgraphSampler
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.bounded_degree import BoundedDegree
from privet.systems.central._training_view import TrainingView, bounded_listeners
from privet.systems.central.heterpoisson import HeterPoisson

__all__ = ["NDP"]


@dataclass(frozen=True, kw_only=True)
class NDP(HeterPoisson):
    """Sub-graphs with all neighbours in a graph in which at most ``max_degree`` nodes listen to any node.

    Args:
        max_degree: The bound on listeners, kept by a public choice of edges of the whole graph (default 5).
    """

    name: ClassVar[str] = "ndp"
    search_space: ClassVar[dict[str, list[Any]]] = {"max_degree": [2, 5, 10]}
    process_kind: ClassVar[type[Process]] = BoundedDegree
    baseline: ClassVar[str | None] = "NDP, the bounded-degree private GNN"
    baseline_short: ClassVar[str] = "NDP"
    gin_lambda: float = 0.0
    max_degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_counts("max_degree")

    @property
    def expected_picks(self) -> float:
        """Everybody who may be heard."""
        return float(self.max_degree)

    def sampler(self, view: TrainingView) -> SubgraphSampler:
        """Return the sampler that picks every neighbour; centres stay where they are peripheral."""
        visible = view.unprotected_nodes if self.knows_unprotected else None
        kept = bounded_listeners(view.graph.adjacency, self.max_degree)
        return SubgraphSampler(kept, view.members, self.rate(view.num_nodes), math.inf, visible, keep_central=True)
