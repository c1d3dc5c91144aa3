"""HeterPoisson (Xiang, Wang, Wang; 2024): node-level private GNNs by heterogeneous Poisson sampling of sub-graphs.

Algorithm 1: in each step every training node is the centre of a sub-graph with probability q; it picks each neighbour
with probability min(1, M / the neighbour's out-degree), and centres are removed where they are peripheral. Gradients
are clipped by sub-graph, summed and perturbed. Only the centre's prediction enters a sub-graph's loss.

Our noise is Gaussian by default, with an accountant that is proven; the paper's is ``noise="sml"``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.data import Graph, Schema
from privet.errors import InvalidData, InvalidParameter
from privet.graph.subgraphs import SubgraphBatch, few_neighbours
from privet.mechanisms import Bits
from privet.models.clipping.rows import SparseRows
from privet.models.private_training import Batch
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson
from privet.release.central import CentralRelease
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._public_structure import (
    PublicStructure,
    Structure,
    neighbourhoods,
    structure_width,
)
from privet.systems.central._settings import Sized, SubgraphTraining
from privet.systems.central._training_view import TrainingView
from privet.systems.controls import Control, simulate
from privet.systems.fitted import Fitted

__all__ = ["HeterPoisson"]

Backbone: TypeAlias = Literal["gcn", "gin", "sage"]


@dataclass(frozen=True, kw_only=True)
class HeterPoisson(SubgraphTraining, CentralSystem):
    """A perceptron over one aggregated vector for each sub-graph, standardised over its own features:

        gin    (1 + lambda) x_u + sum_j x_j                      lambda = ``gin_lambda``, a constant
        sage   x_u + sum_j x_j / n_u                             n_u a public count, see below
        gcn    x_u / d_u + sum_j x_j / sqrt(d_u d_j)             d = public degree in the whole graph + 1

    A neighbour that is absent contributes nothing at all, not even to a denominator: in training n_u = max(1, o_u +
    min(M, d_u - 1 - o_u)) with o_u the number of u's unprotected neighbours.

    Args:
        backbone: "gin", "sage" or "gcn" (default "gin").
        gin_lambda: The extra weight of a centre's own features with "gin" (default 1).
        claimed_epsilon: The epsilon that the paper would claim, in place of ``target_epsilon``: its accountant says how
            much SML noise is added, and the guarantee states the true price (default None).
        structure: Extra columns at no cost: "degrees" for a centre's public degree, "public" for coordinates of its
            unprotected neighbours in the graph among such nodes too (default "none").
    """

    name: ClassVar[str] = "heterpoisson"
    search_space: ClassVar[dict[str, list[Any]]] = {
        "multiplier": [0.0, 1.0, 2.0],
        "gin_lambda": [0.0, 1.0, 3.0],
        "learning_rate": [0.005, 0.01, 0.02],
        "test_neighbours": [4, 13],
    }
    backbone: Backbone = "gin"
    gin_lambda: float = 1.0
    claimed_epsilon: float | None = None
    structure: Structure = "none"

    budgets: ClassVar[tuple[str, ...]] = (*SubgraphTraining.budgets, "claimed_epsilon")

    def __post_init__(self) -> None:
        super().__post_init__()
        claimed = self.claimed_epsilon
        self.require("claimed_epsilon", claimed is None or 0 < claimed < math.inf, "finite and above 0")
        if claimed is not None and self.noise != "sml":
            raise InvalidParameter("claimed_epsilon is a claim about the paper's noise. Give noise='sml' with it.")
        if self.structure == "public" and not self.knows_unprotected:
            expected = "none or degrees in the inductive setting, in which training does not know unprotected nodes"
            raise InvalidParameter("structure", expected, self.structure)

    @property
    def expected_picks(self) -> float:
        """The expected number of other sub-graphs that a training node is in: the paper's M."""
        return self.multiplier

    @property
    def reads_degrees(self) -> bool:
        """True where the aggregation or an extra column reads degrees of the whole graph."""
        return self.backbone != "gin" or self.structure != "none"

    def input_width(self, features: int) -> int:
        """Return the width of an aggregated vector with its extra columns."""
        return features + structure_width(self.structure)

    @classmethod
    def preset_condition(cls, settings: Mapping[str, Any]) -> str | None:
        """Presets differ where training does not know unprotected nodes."""
        return "inductive" if settings.get("setting") == "inductive" else None

    def published_noise_multiplier(self, target_epsilon: float, num_nodes: int) -> float:
        """Return the SML noise that the paper would add for this epsilon: to compare with, not to rely on."""
        rate, steps = self.rate(num_nodes), self.steps(num_nodes)
        process = HeterogeneousPoisson(rate=rate, steps=steps, num_nodes=num_nodes, multiplier=self.multiplier)
        return process.published_noise_multiplier(target_epsilon, self.delta_for(num_nodes))

    def release(self, public: Sized) -> CentralRelease:
        """Return what a run gives out; of ``public`` only the number of nodes is read."""
        if self.claimed_epsilon is None:
            return super().release(public)
        noise = self.published_noise_multiplier(self.claimed_epsilon, public.num_nodes)
        return replace(self, claimed_epsilon=None, noise_multiplier=noise).release(public)

    def shared(self) -> dict[str, Any]:
        """Return the settings that every central system has: Gaussian noise for a claimed epsilon."""
        claim = {"noise": "gaussian", "target_epsilon": self.claimed_epsilon}
        return super().shared() | ({} if self.claimed_epsilon is None else claim)

    def without_privacy(self) -> Self:
        """Return the same system without noise and clipping, which protects nobody."""
        if self.claimed_epsilon is None:
            return super().without_privacy()
        return replace(self, claimed_epsilon=None, noise_multiplier=0.0).without_privacy()

    def controls(self) -> tuple[Control, ...]:
        """Compare also with public structure alone and, where it is priced, with the paper's own noise."""

        def published(system: HeterPoisson, graph: Graph, seed: int) -> Fitted:
            noise = system.noise_multiplier
            if system.target_epsilon is not None:
                noise = system.published_noise_multiplier(system.target_epsilon, graph.num_nodes)
            return simulate(replace(system, noise="sml", noise_multiplier=noise, target_epsilon=None), graph, seed)

        title = "the paper's SML noise at its claimed epsilon, which does not hold"
        ours = self.noise != "sml" and "sml" in self.process_kind.noises
        sml = (Control("sml", "SML", title, published),) if ours else ()
        return (*sml, _STRUCTURE_ALONE, *super().controls())

    def batches(self, view: TrainingView, bits: Bits) -> Callable[[], Batch]:
        """Sample sub-graphs as Algorithm 1 does; those that no coin changes are aggregated only once."""
        sampler, sparse, public = self.sampler(view), view.stays_sparse(), self.public_structure(view)
        always = sampler.always_the_same()

        def examples(batch: SubgraphBatch) -> SparseRows | NDArray[np.float32]:
            rows = self.inputs(batch, view, sparse=sparse)
            return rows if public is None else public.beside(rows, batch)

        def drawn() -> Batch:
            batch = sampler.draw(bits)
            return examples(batch), view.labels[batch.central]

        if always is None:
            return drawn
        rows, members = examples(always), always.central

        def chosen() -> Batch:
            centres = sampler.centres(bits)
            return rows[np.searchsorted(members, centres)], view.labels[centres]

        return chosen

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict for the unprotected nodes, each of which aggregates from such nodes only (Section 4.4)."""
        nodes, among = np.flatnonzero(view.unprotected_nodes), view.among_unprotected()
        around = few_neighbours(among, self.test_neighbours, bits)
        rows = self.inputs(neighbourhoods(around, nodes), view, training=False, sparse=view.stays_sparse())
        public = self.public_structure(view)
        return predicted(network, rows if public is None else public.beside(rows, neighbourhoods(among, nodes)))

    def public_structure(self, view: TrainingView) -> PublicStructure | None:
        """Return the source of the extra columns; None without any."""
        return None if self.structure == "none" else PublicStructure.of(view, self.structure)

    def inputs(
        self, batch: SubgraphBatch, view: TrainingView, *, training: bool = True, sparse: bool = False
    ) -> SparseRows | NDArray[np.float32]:
        """Return one aggregated vector for each sub-graph; nothing in it depends on another sub-graph."""
        degrees = view.graph.degrees
        match self.backbone:
            case "gin":
                own, others = np.full(len(batch), 1.0 + self.gin_lambda), np.ones(len(batch.owner))
            case "sage":
                own, others = np.ones(len(batch)), 1.0 / self._counts(batch, view, training)[batch.owner]
            case "gcn":
                root = 1.0 / np.sqrt(degrees + 1.0)
                own, others = root[batch.central] ** 2, root[batch.central][batch.owner] * root[batch.peripheral]
        return view.aggregated(batch.matrix(own, others, view.num_nodes), sparse=sparse)

    def _counts(self, batch: SubgraphBatch, view: TrainingView, training: bool) -> NDArray[np.float64]:
        """Return SAGE's n_u, which does not depend on the protected neighbours that are there."""
        is_unprotected = view.unprotected_nodes[batch.peripheral]
        counts = np.bincount(batch.owner[is_unprotected], minlength=len(batch)).astype(np.float64)
        if training:
            counts += np.minimum(self.expected_picks, view.graph.degrees[batch.central] - counts)
        return np.maximum(counts, 1.0)


def _structure_alone(system: HeterPoisson, graph: Graph, seed: int) -> Fitted:
    """Train on the extra columns alone: training labels under noise, public degrees, and edges to unprotected nodes."""
    if graph.schema is None:
        raise InvalidData("The graph given to HeterPoisson has no schema. Use graph.replace(schema=...).")
    blank = sp.csr_array((graph.num_nodes, 1), dtype=np.float32)
    schema = Schema.numeric(1, 0.0, 1.0, classes=graph.schema.classes)
    return simulate(system, graph.replace(features=blank, schema=schema), seed)


def _on_structure(system: HeterPoisson) -> HeterPoisson:
    """Return the system that trains on structure alone."""
    return HeterPoisson(**system.shared(), structure="public")


_STRUCTURE_ALONE = Control(
    "structure_alone",
    "no features",
    "public structure without features, privately trained",
    _structure_alone,
    question="the features",
    subject=_on_structure,
)
