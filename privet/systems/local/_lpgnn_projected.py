"""LPGNN on a projection of the reports: KProp in a fixed number of columns, a perceptron behind it, a few last hops.

The published network's graph layers would need the graph at every step. Here the layers are linear, and the class
probabilities are averaged in the end over as many hops as the published network has graph layers.
"""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from privet.errors import InvalidData
from privet.estimation.labels import class_posterior, overfits, report_loss
from privet.estimation.resistant import bounded_influence, scaled_rows
from privet.graph import LazyFeatures, distributed, kprop
from privet.graph.csr import to_scipy
from privet.graph.distributed.reports import ProjectedReports
from privet.graph.memory import topology_of
from privet.graph.projection import Projection
from privet.mechanisms import RandomizedResponse
from privet.models import MLP
from privet.models.streaming import HeldRows, Lesson, NodeRows, StoredRows
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted
from privet.systems.local._projected import hosted_graph, placed_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from privet.systems.local.lpgnn import LPGNN

__all__ = ["fit_projected", "propagated_rows"]


def fit_projected(system: LPGNN, collected: Collected, projection: Projection, progress: bool) -> Fitted:
    """Do Algorithm 3 from line 5 on with a first layer that is random and public, and linear layers behind it.

    Args:
        system: LPGNN's settings.
        collected: What the server holds.
        projection: The first layer.
        progress: Show a progress bar.
    """
    rows = propagated_rows(system, collected, projection)

    def network() -> MLP:
        return MLP(
            rows.shape[1],
            system.hidden_channels,
            collected.schema.classes,
            num_layers=system.num_layers,
            activation="selu",
            dropout=system.dropout,
            batch_norm=system.batch_norm,
        )

    lesson = _lessons(system, collected)
    return system.fit_rows(
        collected,
        rows,
        network,
        lesson,
        system.seeds(),
        lambda seed: system.training(seed, "min", progress=progress),
        smoothing=system.num_layers - 1,
    )


def propagated_rows(system: LPGNN, collected: Collected, projection: Projection) -> NodeRows:
    """Compute A^K X R, in memory or in files.

    Args:
        system: LPGNN's settings.
        collected: What the server holds.
        projection: R.
    """
    graph = hosted_graph(collected)
    if graph is None:
        estimate, aggregation = collected.estimate(), system.aggregation(collected.topology)
        if "bound" in system.defence:
            estimate = scaled_rows(estimate, bounded_influence(to_scipy(aggregation.matrix), system.hops))
        x = kprop(LazyFeatures.from_affine(estimate), aggregation, system.hops)
        return HeldRows((x @ torch.from_numpy(projection.matrix())).numpy())
    if "bound" in system.defence:
        raise InvalidData("The defence 'bound' looks at every friendship: run without a cluster, or without it.")
    make = distributed.gcn_operator if system.aggregator == "gcn" else distributed.mean_operator
    operator = make(graph, self_loops=system.self_loops)

    def shape(reports: ProjectedReports) -> tuple[float, NDArray[np.float64]]:
        return 1.0, projection.of_vector(reports.offset)

    # Nothing here refers to the first columns, so that their files go with the first hop.
    return StoredRows(distributed.kprop(placed_columns(collected, graph, projection, shape), operator, system.hops))


def _lessons(system: LPGNN, collected: Collected) -> Callable[[], Lesson]:
    """Learn public labels, or the posterior around each node of private ones; choose by the loss of held-out ones."""
    seen, fit, choose = map(torch.from_numpy, collected.supervised("LPGNN"))
    response = collected.label_response
    if response is None:
        lesson = Lesson(
            fit,
            lambda outputs, nodes: cross_entropy(outputs, seen[nodes]),
            lambda outputs_of: float(cross_entropy(outputs_of(choose), seen[choose])),
            "min",
        )
        return lambda: lesson
    heard = seen if system.validation_reports else seen.index_fill(0, choose, -1)
    posterior = class_posterior(_propagated(system, collected, heard), response.epsilon, system.label_evidence)

    def make() -> Lesson:
        epochs = count()

        def score(outputs_of: Callable[[Tensor], Tensor]) -> float:
            loss = _held_out_loss(outputs_of, seen, fit, choose, response)
            return float(-next(epochs)) if system.validation_reports and math.isfinite(loss) else loss

        everybody = torch.arange(len(seen))
        return Lesson(everybody, lambda outputs, nodes: cross_entropy(outputs, posterior[nodes]), score, "min")

    return make


def _held_out_loss(
    outputs_of: Callable[[Tensor], Tensor], seen: Tensor, fit: Tensor, choose: Tensor, response: RandomizedResponse
) -> float:
    """Return the loss of the validation reports; infinity once the network has learned the training reports' noise."""
    agreement = float((outputs_of(fit).argmax(1) == seen[fit]).float().mean())
    if overfits(agreement, response.keep, len(fit)):
        return math.inf
    return float(report_loss(outputs_of(choose), seen[choose], response))


def _propagated(system: LPGNN, collected: Collected, heard: Tensor) -> Tensor:
    """Propagate the label reports, as many columns as there are classes."""
    rows = one_hot(heard.clamp(min=0), collected.schema.classes) * (heard >= 0).unsqueeze(1)
    smoothing = topology_of(collected.topology).gcn(self_loops=False)
    return torch.from_numpy(smoothing.hops(rows.numpy(), system.label_hops))
