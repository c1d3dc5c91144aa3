"""What HeterPoisson is compared with: NDP (Daigavane et al. 2021) and GAP (Sajadmanesh et al. 2023), priced soundly.

Both bound degrees by a fixed choice of edges of the whole graph. DP-SGD without the graph is
:class:`~privet.systems.central.smoothed_mlp.PrivateMLP`; the non-private figure of any of them is ``without_privacy()``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binom
from torch import nn

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphSampler, few_neighbours, poisson_sample
from privet.mechanisms import Bits, SeededBits
from privet.mechanisms.primitives.noise import noisy_sum
from privet.models.private_training import Batch
from privet.privacy.accounting.calibration import least_noise
from privet.privacy.accounting.losses import Losses, loss_step, mixture_losses
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import HeldGraph, dense_rows, standardised
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.fitted import Fitted

__all__ = ["GAP", "NDP", "bounded_listeners"]

_BOUNDED = ("which edges of the whole graph a bound on degrees keeps",)
_ADJACENCY = (
    "add or remove one training node with its features and label; the edges that a bound on degrees keeps are public"
)


@dataclass(frozen=True, kw_only=True)
class NDP(HeterPoisson):
    """Sub-graphs with all neighbours in a graph of which every node has at most ``max_degree`` listeners.

    A node is in its own sub-graph and in up to ``max_degree`` others; nobody is removed. Given that C of those are
    drawn, C ~ Bi(max_degree, q), the clipped sum moves by C, or by C + 1/2 if the node's own is too (probability q).
    """

    name: ClassVar[str] = "ndp"
    search_space: ClassVar[dict[str, list[Any]]] = {"max_degree": [2, 5, 10]}
    max_degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, self.max_degree)

    @property
    def picks(self) -> float:
        """Everybody who may be heard."""
        return float(self.max_degree)

    def sampler(self, held: HeldGraph) -> SubgraphSampler:
        """Every neighbour is picked; centres stay where they are peripheral."""
        visible = held.open_nodes if self.setting == "transductive" else None
        kept = bounded_listeners(held.graph.adjacency, self.max_degree)
        return SubgraphSampler(kept, held.members, self.rate(held.num_nodes), math.inf, visible, keep_central=True)

    def epsilon_of(self, noise_multiplier: float, num_nodes: int, delta: float) -> float:
        """C revealed: a mixture over C of the losses of N(C or C + 1/2) against N(0)."""
        q = self.rate(num_nodes)
        return _ndp_epsilon(noise_multiplier / 2, q, self.max_degree, self.steps(num_nodes), delta)

    def calibrated(self, target_epsilon: float, num_nodes: int, delta: float) -> float:
        """By bisection."""
        return least_noise(lambda noise: self.epsilon_of(noise, num_nodes, delta), target_epsilon, type(self).__name__)

    @property
    def adjacency_words(self) -> str:
        """The bound on degrees is put on the whole graph, so it is not the nodes' edges that are protected."""
        return _ADJACENCY

    def public_facts(self) -> tuple[str, ...]:
        """What the bound on degrees looked at."""
        return (*super().public_facts(), *_BOUNDED)

    def published_epsilon(self, noise_multiplier: float, num_nodes: int, delta: float) -> float | None:
        """None: HeterPoisson's theorem is not about this sampler."""
        return None


@dataclass(frozen=True, kw_only=True)
class GAP(CentralSystem):
    """One noisy aggregation x_i / |x_i| + sum_j x_j / |x_j| of every training node, then DP-SGD on its rows.

    With at most D = ``max_degree`` neighbours and listeners, taking part moves one's own row by at most D + 1 and the
    rows of D others by at most 1, so the L2 sensitivity of the whole release is sqrt((D + 1)^2 + D), where the paper
    has 1 (HeterPoisson's Section 6.2). Both releases have the same ``noise_multiplier``.
    """

    name: ClassVar[str] = "gap"
    search_space: ClassVar[dict[str, list[Any]]] = {"max_degree": [2, 5, 10]}
    max_degree: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, self.max_degree)

    @property
    def sensitivity(self) -> float:
        """L2, of the aggregation."""
        return math.sqrt((self.max_degree + 1) ** 2 + self.max_degree)

    def fit(self, graph: Graph, *, progress: bool = False) -> Fitted:
        """Aggregate once with noise, then train on own features beside the aggregate."""
        held, bits = HeldGraph.of(graph, type(self).__name__), self.bits()
        noise = self.noise_multiplier_for(held.num_nodes) * self.sensitivity
        members = np.flatnonzero(held.members)
        place = np.cumsum(held.members) - 1
        aggregate = noisy_sum(self._aggregate(held, held.members, held.graph.adjacency), noise, bits, noise=self.noise)
        network = self.network(held.features.shape[1], held.classes)

        def batch() -> Batch:
            nodes = poisson_sample(members, self.rate(held.num_nodes), bits)
            return _beside(held.features[nodes], aggregate[place[nodes]]), held.labels[nodes]

        self.descend(network, batch, held.num_nodes, bits, progress=progress)
        return self.released(network, held, self.infer(network, held, bits))

    def input_width(self, features: int) -> int:
        """Own features beside the aggregate."""
        return 2 * features

    def infer(self, network: nn.Sequential, held: HeldGraph, bits: Bits) -> NDArray[np.float32]:
        """With the aggregate over open neighbours, which needs no noise; their degrees are bounded among themselves."""
        aggregate = self._aggregate(held, held.open_nodes, held.among_open())
        return predicted(network, _beside(held.features[held.open_nodes], aggregate))

    @property
    def adjacency_words(self) -> str:
        """The bound on degrees is put on the whole graph, so it is not the nodes' edges that are protected."""
        return _ADJACENCY

    def public_facts(self) -> tuple[str, ...]:
        """What the bound on degrees looked at."""
        return (*super().public_facts(), *_BOUNDED)

    def _aggregate(self, held: HeldGraph, nodes: NDArray[np.bool_], adjacency: sp.csr_array) -> NDArray[np.float32]:
        """Of each of some nodes, over those of its bounded neighbours that are among them."""
        kept = bounded_listeners(adjacency, self.max_degree, both=True)
        inside = sp.csr_array(kept[nodes][:, nodes]) + sp.eye_array(int(nodes.sum()), format="csr")
        rows = sp.csr_array(held.features[nodes])
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        unit = sp.diags_array(1.0 / np.maximum(norms, 1e-12), format="csr") @ rows
        return dense_rows(sp.csr_array(inside @ unit))

    def epsilon_of(self, noise_multiplier: float, num_nodes: int, delta: float) -> float:
        """One Gaussian release and T sampled ones."""
        return _gap_epsilon(noise_multiplier / 2, self.rate(num_nodes), self.steps(num_nodes), delta)

    def calibrated(self, target_epsilon: float, num_nodes: int, delta: float) -> float:
        """By bisection."""
        return least_noise(lambda noise: self.epsilon_of(noise, num_nodes, delta), target_epsilon, type(self).__name__)


def bounded_listeners(adjacency: sp.csr_array, most: int, *, both: bool = False) -> sp.csr_array:
    """The adjacency in which each node is listened to by at most ``most``, and with ``both`` listens to no more.

    The choice is a public one (a fixed seed) over the edges of the whole graph; it never looks at who takes part.
    """
    by_source = few_neighbours(sp.csr_array(adjacency.T), most, SeededBits(0))
    kept = sp.csr_array(by_source.T)
    kept.sort_indices()
    kept = few_neighbours(kept, most, SeededBits(1)) if both else kept
    kept.data.fill(1.0)
    return kept


@lru_cache(maxsize=256)
def _ndp_epsilon(sigma: float, q: float, most: int, steps: int, delta: float) -> float:
    step = loss_step(sigma, most + 0.5)
    pairs = []
    for count in range(most + 1):
        weights = np.zeros(2 * count + 2)
        weights[2 * count], weights[2 * count + 1] = 1 - q, q
        pairs.append(mixture_losses(sigma, weights, step))
    chances = binom.pmf(np.arange(most + 1), most, q)
    directions = (Losses.mixed(zip(chances, (pair[i] for pair in pairs), strict=True)) for i in (0, 1))
    return max(losses.composed(steps).epsilon(delta) for losses in directions)


@lru_cache(maxsize=256)
def _gap_epsilon(sigma: float, q: float, steps: int, delta: float) -> float:
    step = loss_step(sigma, 0.5)
    sampled = mixture_losses(sigma, np.array([1 - q, q]), step)
    once = mixture_losses(sigma, np.array([0.0, 1.0]), step)
    return max(many.composed(steps).joined(one).epsilon(delta) for many, one in zip(sampled, once, strict=True))


def _beside(own: Any, aggregate: NDArray[np.floating]) -> NDArray[np.float32]:
    return np.concatenate([standardised(dense_rows(own)), standardised(aggregate.astype(np.float32))], axis=1)


def _check(system: CentralSystem, degree: int) -> None:
    owner = type(system).__name__
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 1:
        raise InvalidParameter("max_degree", owner, "an integer of at least 1", degree)
    if system.noise != "gaussian":
        raise InvalidParameter("noise", owner, "gaussian, the only one accounted for", system.noise)
