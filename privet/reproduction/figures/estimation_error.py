"""The error of the server's estimate of a neighbourhood's aggregate: LPGNN's figure 5."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
import torch

from privet.data import Graph
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.graph import Operator, gcn_operator, mean_operator
from privet.mechanisms import AffineFeatures, SeededBits
from privet.reproduction.measures import Measurement
from privet.systems import LPGNN, LocalSystem

__all__ = ["ESTIMATION_KINDS", "aggregation_error", "measure_estimation"]

ESTIMATION_KINDS = ("private", "one_bit", "analytic_gaussian", "mean_aggregator")
_COLUMNS = 256


def measure_estimation(kind: str, system: LocalSystem, graph: Graph, seed: int) -> Measurement:
    """The error of one collection: of the system as it is, with another mechanism, or with the mean aggregator."""
    if not isinstance(system, LPGNN):
        raise InvalidParameter("system", "lpgnn", system.name)
    if graph.features is None or graph.schema is None:
        raise InvalidData("graph given to measure_estimation", "with features and a schema", "none")
    began = time.perf_counter()
    match kind:
        case "one_bit":
            system = replace(system, mechanism="one-bit")
        case "analytic_gaussian":
            system = replace(system, mechanism="analytic-gaussian")
    mechanism = system.feature_mechanism(Population.of(graph))
    estimate = mechanism.estimate(mechanism.perturb(graph.features, SeededBits(seed)))
    make = mean_operator if kind == "mean_aggregator" else gcn_operator
    error = aggregation_error(estimate, graph, make(graph, self_loops=False))
    return {"test": error, "seconds": time.perf_counter() - began}


def aggregation_error(estimate: AffineFeatures, graph: Graph, operator: Operator) -> float:
    """Equation 10: the mean over nodes and features of |A x_hat - A x|, in units of each feature's declared range.

    The paper's features are scaled to [0, 1], which is the same unit. Columns are taken a block at a time, so that no
    N x d matrix is written out.
    """
    if graph.features is None or graph.schema is None:
        raise InvalidData("graph given to aggregation_error", "with features and a schema", "none")
    symbols, truth = estimate.symbols.tocsc(), sp.csr_array(graph.features).tocsc()
    span = graph.schema.high - graph.schema.low
    nodes, features = estimate.shape
    total = 0.0
    for start in range(0, features, _COLUMNS):
        block = slice(start, min(start + _COLUMNS, features))
        error = symbols[:, block].toarray() * estimate.scale[block] + estimate.offset[block]
        error -= truth[:, block].toarray()
        total += float((operator @ torch.from_numpy((error / span[block]).astype(np.float32))).abs().sum())
    return total / (nodes * features)
