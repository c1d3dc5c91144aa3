"""A study whose participants are played by one program: for examples and tests, which have the raw data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.collection.answers import Answers
from privet.collection.study import Study
from privet.data import Graph
from privet.errors import InvalidData
from privet.mechanisms import Bits

__all__ = ["simulated_answers"]


def simulated_answers(study: Study, graph: Graph, bits: Bits, respondents: NDArray[np.int64] | None = None) -> Answers:
    """What these nodes of a graph (default: all) would send in a study, each through the study's mechanisms."""
    if graph.num_nodes != study.nodes or graph.features is None:
        raise InvalidData("graph of a simulated study", f"of {study.nodes} nodes with features", repr(graph))
    nodes = np.arange(study.nodes) if respondents is None else np.asarray(respondents, dtype=np.int64)
    labels = neighbours = None
    features = study.feature_mechanism.perturb(graph.features[nodes], bits)
    if study.label_mechanism is not None:
        if graph.labels is None or graph.labels[nodes].min() < 0:
            raise InvalidData("graph of a simulated study", "with a label for each respondent", "one without")
        labels = study.label_mechanism.perturb(graph.labels[nodes], bits)
    if study.neighbour_mechanism is not None:
        neighbours = study.neighbour_mechanism.perturb(graph.adjacency[nodes], bits, users=nodes)
    return Answers(nodes, features, labels, neighbours)
