"""The trust boundary as a function boundary: ``collect`` stands for all devices, ``fit`` is the server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph, Schema, Split
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.missing import Completed, complete_from_neighbours
from privet.mechanisms import (
    AdjacencyResponse,
    AffineFeatures,
    Bits,
    DegreeResponse,
    Mechanism,
    NeighbourReports,
    RandomizedResponse,
    Reports,
)
from privet.privacy import Guarantee
from privet.privacy.study import study_guarantee
from privet.systems.fitted import Fitted

__all__ = ["Collected", "System"]


@dataclass(frozen=True, eq=False)
class Collected:
    """All that the server holds: reports, the public topology, and the labels that it may see.

    ``graph`` has the topology, the schema and the split, and neither features nor labels. ``labels`` are the public
    labels of training and validation nodes, -1 elsewhere (everywhere, if labels are private). Private labels arrive
    as ``label_reports``, row i from node ``labelled[i]``. Nothing here knows a test node's label.

    Private edges arrive as ``neighbours`` (and maybe ``degrees``), and ``graph`` is then made of these reports.

    If not everybody answered, row i of ``features`` is from node ``respondents[i]``, and neighbour lists are from the
    same nodes. Everybody else sent nothing, which is not the same as sending zeros: see :meth:`completed`.
    """

    graph: Graph
    features: Reports
    feature_mechanism: Mechanism
    labels: NDArray[np.int64]
    label_reports: Reports | None = None
    labelled: NDArray[np.int64] | None = None
    label_mechanism: RandomizedResponse | None = None
    neighbours: NeighbourReports | None = None
    edge_mechanism: AdjacencyResponse | None = None
    degrees: Reports | None = None
    degree_mechanism: DegreeResponse | None = None
    respondents: NDArray[np.int64] | None = None

    @property
    def schema(self) -> Schema:
        """The declared domain of the features and the number of classes."""
        if self.graph.schema is None:
            raise InvalidData("collected graph", "with a schema", "none")
        return self.graph.schema

    @property
    def train(self) -> NDArray[np.bool_]:
        """Which nodes are for training."""
        return _split(self.graph).train

    @property
    def validation(self) -> NDArray[np.bool_]:
        """Which nodes are for choosing among models."""
        return _split(self.graph).validation

    @property
    def private_labels(self) -> bool:
        """Whether labels arrived as reports."""
        return self.label_reports is not None

    def seen_labels(self) -> NDArray[np.int64]:
        """The class that the server sees of each node, public or reported; -1 where it sees none."""
        if self.label_reports is None:
            return self.labels
        seen = np.full(self.graph.num_nodes, -1, dtype=np.int64)
        seen[self.labelled] = self.label_reports.symbols[:, 0]
        return seen

    def estimate(self, topology: sp.csr_array | None = None) -> AffineFeatures:
        """The unbiased estimate of everybody's features; of who did not answer, that of the neighbours' mean.

        Neighbours are those of ``topology`` where it is given and otherwise those of the graph.
        """
        return self.completed(topology).features

    def completed(self, topology: sp.csr_array | None = None) -> Completed:
        """The estimate, and whose reports each node's row of it comes from."""
        reported = self.reported()
        if self.respondents is None:
            return Completed(reported, np.zeros(self.graph.num_nodes, dtype=np.int64))
        adjacency = self.graph.adjacency if topology is None else topology
        return complete_from_neighbours(reported, self.respondents, adjacency)

    def reported(self) -> AffineFeatures:
        """The unbiased estimate of the respondents' features, row by row as they were reported."""
        return self.feature_mechanism.estimate(self.features)

    def answered(self) -> NDArray[np.bool_]:
        """Which nodes sent a report."""
        mask = np.full(self.graph.num_nodes, self.respondents is None)
        if self.respondents is not None:
            mask[self.respondents] = True
        return mask

    def guarantee(self) -> Guarantee:
        """What every device was promised: features, with label or neighbour list together where those are private."""
        labels = None if self.label_mechanism is None else self.label_mechanism.guarantee()
        lists = None if self.edge_mechanism is None else list_guarantee(self.edge_mechanism, self.degree_mechanism)
        return study_guarantee(self.feature_mechanism.guarantee(), labels, lists, self.schema.classes)


@dataclass(frozen=True, kw_only=True)
class System(ABC):
    """Hyper-parameters in the constructor; ``collect`` sees private fields, ``fit`` never does.

    ``epsilon_features`` is the true budget of a feature report. With ``epsilon_labels`` the labels of training and
    validation nodes are private too and go through randomised response. ``seed`` is the server's (initial weights,
    dropout); the devices' randomness is the ``bits`` of ``collect``.
    """

    name: ClassVar[str]
    search_space: ClassVar[dict[str, list[Any]]] = {}
    """The values that ``privet run --tune`` tries, by field."""

    epsilon_features: float = 1.0
    epsilon_labels: float | None = None
    seed: int = 0

    @abstractmethod
    def feature_mechanism(self, schema: Schema) -> Mechanism:
        """The randomiser of every device."""

    @abstractmethod
    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        """Train on what was collected. The result's guarantee is that of the reports: the rest is post-processing."""

    def collect(self, graph: Graph, bits: Bits) -> Collected:
        """Every device perturbs its features, and its label where labels are private, and sends the reports."""
        if graph.features is None or graph.schema is None or graph.labels is None or graph.split is None:
            missing = [n for n in ("features", "schema", "labels", "split") if getattr(graph, n) is None]
            raise InvalidData(f"graph given to {type(self).__name__}", "with features, schema, labels, split", missing)
        if graph.schema.private_edges:
            expected = "with public edges, which the server sees"
            raise InvalidData(f"graph given to {type(self).__name__}", expected, "a schema with private edges")
        mechanism = self.feature_mechanism(graph.schema)
        features = mechanism.perturb(graph.features, bits)
        public = Graph(graph.adjacency, graph.directed, split=graph.split, schema=graph.schema)
        visible = (graph.split.train | graph.split.validation) & (graph.labels >= 0)
        nothing = np.full(graph.num_nodes, -1, dtype=np.int64)
        if self.epsilon_labels is None:
            return Collected(public, features, mechanism, np.where(visible, graph.labels, nothing))
        response = RandomizedResponse(epsilon=self.epsilon_labels, classes=graph.schema.classes)
        labelled = np.flatnonzero(visible)
        answers = response.perturb(graph.labels[labelled], bits)
        return Collected(public, features, mechanism, nothing, answers, labelled, response)

    def guarantee(self, schema: Schema) -> Guarantee:
        """What a study with these parameters promises, before anything is collected."""
        labels = None
        if self.epsilon_labels is not None:
            labels = RandomizedResponse(epsilon=self.epsilon_labels, classes=schema.classes).guarantee()
        return study_guarantee(
            self.feature_mechanism(schema).guarantee(), labels, self.edge_guarantee(), schema.classes
        )

    def edge_guarantee(self) -> Guarantee | None:
        """What is promised of neighbour lists; None where the topology is public."""
        return None

    def promise(self, graph: Graph) -> Guarantee:
        """What a study of this graph's people promises: only public facts are read."""
        if graph.schema is None:
            raise InvalidData(f"graph given to {type(self).__name__}", "with a schema", "none")
        return self.guarantee(graph.schema)

    def mechanism_names(self, graph: Graph) -> list[str]:
        """The randomisers that devices use, by their names on the command line."""
        if graph.schema is None:
            raise InvalidData(f"graph given to {type(self).__name__}", "with a schema", "none")
        labels = [] if self.epsilon_labels is None else [RandomizedResponse.name]
        return [self.feature_mechanism(graph.schema).name, *labels]

    def settings(self) -> dict[str, Any]:
        """The hyper-parameters as plain values."""
        return asdict(self)

    def _check_positive(self, **numbers: float) -> None:
        for name, value in numbers.items():
            if not value > 0:
                raise InvalidParameter(name, type(self).__name__, "a number above 0", value)


def list_guarantee(lists: AdjacencyResponse, degrees: DegreeResponse | None) -> Guarantee:
    """One bit of a neighbour list changes the list and the degree: the two epsilons add, a relationship's too."""
    if degrees is None:
        return lists.guarantee()
    whole = lists.guarantee() + degrees.guarantee()
    return replace(whole, unprotected=lists.unprotected(whole.epsilon))


def _split(graph: Graph) -> Split:
    if graph.split is None:
        raise InvalidData("collected graph", "with a split into training, validation and test nodes", "none")
    return graph.split
