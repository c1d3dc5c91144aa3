"""NDP's sub-graphs (Daigavane et al. 2021) in a graph whose degrees a public choice of edges bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from privet.privacy.accounting.degrees import kept_weights
from privet.privacy.accounting.losses import Losses, loss_step, mixed_losses
from privet.privacy.accounting.processes._base import DEGREES_ARE_PUBLIC, Process, is_count

__all__ = ["BOUNDED_ADJACENCY", "BOUNDED_FACT", "BoundedDegree", "listened_losses"]

BOUNDED_FACT = "which edges of the whole graph a bound on degrees keeps"
BOUNDED_ADJACENCY = (
    "add or remove one training node with its features and label; the edges that a bound on degrees keeps are public"
)


@dataclass(frozen=True, kw_only=True)
class BoundedDegree(Process):
    """Sub-graphs with all neighbours, in a graph in which at most ``max_degree`` nodes listen to any node.

    A node is in its own sub-graph and in up to ``max_degree`` others; nobody is removed. Given that C of those are
    drawn, C ~ Bi(max_degree, q), the clipped sum moves by C, or by C + 1/2 if the node's own is too (probability q).

    Args:
        max_degree: The bound on the number of listeners (default 5).
        reads_degrees: True if the network's aggregation also reads degrees of the whole graph (default False).
    """

    name: ClassVar[str] = "bounded-degree"

    max_degree: int = 5
    reads_degrees: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require("max_degree", is_count(self.max_degree), "an integer of at least 1")

    @property
    def adjacency(self) -> str:
        """Without edges: the bound is put on the whole graph, so the edges that it keeps are not protected."""
        return BOUNDED_ADJACENCY

    @property
    def public_facts(self) -> tuple[str, ...]:
        """The bounded graph, and degrees if the aggregation reads them."""
        return (*((DEGREES_ARE_PUBLIC,) if self.reads_degrees else ()), BOUNDED_FACT)

    def _losses(self, sigma: float, delta: float) -> tuple[Losses, Losses]:
        step = loss_step(sigma, self.max_degree + 0.5)
        forward, backward = listened_losses(sigma, self.rate, self.max_degree, step)
        return forward.composed(self.steps), backward.composed(self.steps)


def listened_losses(sigma: float, rate: float, listeners: int, step: float) -> tuple[Losses, Losses]:
    """Return a step's losses in both directions, C revealed: a mixture over C of N(C or C + 1/2) against N(0).

    Args:
        sigma: The noise's standard deviation, the clip being 1/2.
        rate: The probability of a training node to be drawn.
        listeners: The largest number of other examples that a node is in.
        step: The grid of the losses.
    """
    from scipy.stats import binom

    counts = np.arange(listeners + 1)
    mixtures = [kept_weights(rate, np.append(np.zeros(count), 1.0)) for count in counts]
    return mixed_losses(sigma, mixtures, binom.pmf(counts, listeners, rate), step=step)
