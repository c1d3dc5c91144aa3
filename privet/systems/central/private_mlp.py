"""DP-SGD on a perceptron that never sees an edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import nn

from privet.graph.subgraphs import poisson_sample
from privet.mechanisms import Bits
from privet.models.clipping.rows import SparseRows
from privet.models.private_training import Batch
from privet.privacy.accounting.processes import Process
from privet.privacy.accounting.processes.poisson_sampling import PoissonSampling
from privet.systems.central._base import CentralSystem, predicted
from privet.systems.central._training_view import TrainingView

__all__ = ["PrivateMLP"]


@dataclass(frozen=True, kw_only=True)
class PrivateMLP(CentralSystem):
    """DP-SGD on an MLP without the graph: the control that every private GNN has to beat.

    It has the parameters of :class:`~privet.systems.central._base.CentralSystem` and no other.
    """

    name: ClassVar[str] = "private-mlp"
    search_space: ClassVar[dict[str, list[Any]]] = {"learning_rate": [0.005, 0.01, 0.02], "num_layers": [1, 2]}
    process_kind: ClassVar[type[Process]] = PoissonSampling
    baseline: ClassVar[str | None] = "DP-SGD on an MLP without the graph"
    baseline_short: ClassVar[str] = "DP-MLP"
    baseline_question: ClassVar[str | None] = "the edges"

    def batches(self, view: TrainingView, bits: Bits) -> Callable[[], Batch]:
        """Draw training nodes' rows by independent coins."""
        candidates = np.flatnonzero(view.members)
        rows = self.inputs(candidates, view)

        def batch() -> Batch:
            drawn = poisson_sample(candidates, self.rate(view.num_nodes), bits)
            return rows[np.searchsorted(candidates, drawn)], view.labels[drawn]

        return batch

    def infer(self, network: nn.Sequential, view: TrainingView, bits: Bits) -> NDArray[np.float32]:
        """Predict from each unprotected node's own features."""
        return predicted(network, self.inputs(np.flatnonzero(view.unprotected_nodes), view))

    def inputs(self, nodes: NDArray[np.int64], view: TrainingView) -> SparseRows | NDArray[np.float32]:
        """Return the nodes' own features, each row standardised alone."""
        parts = np.ones(len(nodes), dtype=np.float32), nodes, np.arange(len(nodes) + 1)
        own = sp.csr_array(parts, shape=(len(nodes), view.num_nodes))
        return view.aggregated(own, sparse=view.stays_sparse())
