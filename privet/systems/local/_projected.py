"""Propagation of reports in a fixed number of columns: what LPGNN and PrivGE share in memory and on a cluster.

With ``projection`` the first layer is a public random matrix R that is never trained (:mod:`privet.graph.projection`).
The server propagates X R instead of X and trains a perceptron on the rows of the result by mini-batches. All of it is
post-processing of the reports. Where the topology lies in a store, so do the columns: workers project the reports part
by part, hops go from files to files, and the network reads the rows that it needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.graph.distributed import ClusterGraph, Columns, StoredTopology
from privet.graph.distributed.reports import PartedReports, ProjectedReports, SpooledFeatures, project_reports
from privet.graph.memory import topology_of
from privet.graph.projection import Projection
from privet.models import MLP, seeded
from privet.models.settings import TrainingSettings
from privet.models.streaming import BATCH, HeldRows, Lesson, NodeRows, probabilities_of, train_streamed
from privet.systems.base import C, LocalSystem
from privet.systems.collected import Collected
from privet.systems.fitted import Fitted

__all__ = ["WIDTH", "ProjectedSystem", "hosted_graph", "placed_columns"]

WIDTH = 256
"""The number of columns on a cluster, unless ``projection`` says another."""

Shape: TypeAlias = Callable[[ProjectedReports], tuple[float, NDArray[np.float64]]]
"""Takes projected reports; returns the factor of their rows and the constant to add to each column."""


@dataclass(frozen=True, kw_only=True)
class ProjectedSystem(LocalSystem):
    """A system that can propagate a public random projection of the reports, and therefore use a cluster.

    Attributes:
        projection: The number of columns that reports are projected to by a public random matrix, which then is the
            first layer and is not trained; features of no more columns stay as they are. A perceptron stands behind
            the propagation. None to propagate all columns and train the published network, which a cluster cannot.
    """

    on_cluster: ClassVar[bool] = True
    projection: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_least(projection=1)

    @classmethod
    def cluster_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return some settings with a projection, which a topology in a store needs."""
        return {"projection": WIDTH} | dict(settings)

    def defended(self, collected: C) -> C:
        """Leave out reports that honest devices hardly ever send, if "screen" is among the defences."""
        reports = collected.answers["features"].reports
        if "screen" in self.defence and isinstance(reports, PartedReports):
            raise InvalidData(
                "The defence 'screen' compares all reports: train on an export in one file or without it."
            )
        return super().defended(collected)

    def projected(self, collected: Collected) -> Projection | None:
        """Return the projection, or None for none; a stored graph needs one.

        Args:
            collected: What the server holds.
        """
        if self.projection is not None:
            return Projection(len(collected.schema.features), self.projection)
        if hosted_graph(collected) is not None:
            raise InvalidData(f"{self.name} on a stored graph needs a projection of reports: set projection={WIDTH}.")
        return None

    def fit_rows(
        self,
        collected: Collected,
        rows: NodeRows,
        network: Callable[[], MLP],
        lesson: Callable[[], Lesson],
        seeds: Sequence[int | None],
        settings: Callable[[int | None], TrainingSettings],
        batch: int | None = None,
        smoothing: int = 0,
    ) -> Fitted:
        """Train perceptrons on propagated rows and average their probabilities.

        Args:
            collected: What the server holds.
            rows: The propagated rows of all nodes.
            network: Makes a network with new weights.
            lesson: Makes what a network is to learn.
            seeds: One seed a network.
            settings: The settings of the training from a seed.
            batch: The most rows of a mini-batch; :data:`privet.models.streaming.BATCH` by default.
            smoothing: The number of hops over which probabilities are averaged in the end, with those of neighbours.
        """
        members, results = [], []
        for seed in seeds:
            with seeded(seed):
                members.append(network())
            results.append(train_streamed(members[-1], rows, lesson(), settings(seed), batch or BATCH))
        classes = collected.schema.classes
        chances = [probabilities_of(member, rows, classes) for member in members]
        probabilities = _smoothed(collected, np.mean(chances, axis=0), smoothing)
        seen, _, held = collected.supervised(type(self).__name__)
        states = {f"{i}.{k}": v for i, member in enumerate(members) for k, v in member.state_dict().items()}
        return self.fitted(
            collected,
            probabilities,
            embedding=_embedding(members, rows) if isinstance(rows, HeldRows) else None,
            weights={name: value.numpy() for name, value in states.items() if value.is_floating_point()},
            best_epoch=max(result.best_epoch for result in results),
            validation_score=float((probabilities[held].argmax(1) == seen[held]).mean()),
            facts={"projected_columns": float(rows.shape[1]), "projection_seed": 0.0},
        )


def hosted_graph(collected: Collected) -> ClusterGraph | None:
    """Return the stored graph behind the public topology, or None if it is in memory."""
    adjacency: Any = collected.topology.adjacency
    return adjacency.graph if isinstance(adjacency, StoredTopology) else None


def placed_columns(
    collected: Collected,
    graph: ClusterGraph,
    projection: Projection,
    shape: Shape,
    weights: NDArray[np.float64] | None = None,
) -> Columns:
    """Project the reports on the workers and put the rows where the graph's partitions need them.

    Args:
        collected: What the server holds; its reports may be in memory, or in parts that workers read.
        graph: The stored graph.
        shape: Says how the rows become those of the features.
        weights: A factor of each feature beside the estimate's scale; ones by default.
    """
    answer = collected.answers["features"]
    with tempfile.TemporaryDirectory(prefix="spool-", dir=graph.scratch) as spool:
        if isinstance(answer.reports, PartedReports):
            parts, order = answer.reports.parts, answer.reports.order
        else:
            parts, order = SpooledFeatures.write(Path(spool), collected.reported()), None
        reports = project_reports(graph, parts, projection, weights)
    factor, constant = shape(reports)
    columns = reports.columns(graph, answer.users, constant, factor=factor, order=order)
    reports.close()
    return columns


def _smoothed(collected: Collected, chances: NDArray[np.float32], hops: int) -> NDArray[np.float32]:
    """Propagate probabilities, as many columns as there are classes, with a loop at every node."""
    if hops:
        chances = topology_of(collected.topology).gcn(self_loops=True).hops(chances, hops)
    shares: NDArray[np.float32] = chances / chances.sum(axis=1, keepdims=True)
    return shares


def _embedding(members: Sequence[MLP], rows: HeldRows) -> NDArray[np.float32]:
    """Return the last hidden layers side by side."""
    width = int(members[0].layers[-1].in_features)  # type: ignore[arg-type]
    return np.concatenate([rows.mapped(partial(_hidden, member), width) for member in members], axis=1)


def _hidden(network: MLP, rows: NDArray[np.float32]) -> NDArray[np.float32]:
    with torch.no_grad():
        hidden: NDArray[np.float32] = np.asarray(network.embed(torch.from_numpy(np.array(rows))))
    return hidden
