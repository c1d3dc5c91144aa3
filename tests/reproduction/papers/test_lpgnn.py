from __future__ import annotations

import numpy as np
import pytest

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.graph import gcn_operator, mean_operator
from privet.mechanisms import MultiBit, SeededBits
from privet.reproduction.papers import lpgnn
from privet.reproduction.papers.lpgnn import ESTIMATION, aggregation_error, measure_estimation
from privet.systems import LPGNN, PrivGE


@pytest.mark.parametrize("make", [gcn_operator, mean_operator])
def test_the_error_is_that_of_the_dense_definition(make, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lpgnn, "_COLUMNS", 5)  # 12 features: two whole blocks and a part
    mechanism = MultiBit.declare(graph.schema, epsilon=2.0)
    estimate = mechanism.estimate(mechanism.perturb(graph.features, SeededBits(0)))
    adjacency = graph.adjacency.toarray().astype(float)
    degrees = np.maximum(adjacency.sum(axis=1), 1)
    sides = (np.sqrt(degrees), np.sqrt(degrees)) if make is gcn_operator else (degrees, np.ones_like(degrees))
    aggregate = adjacency / sides[0][:, None] / sides[1][None, :]
    span = graph.schema.high - graph.schema.low
    expected = np.abs(aggregate @ ((estimate.dense() - graph.features.toarray()) / span)).mean()
    assert aggregation_error(estimate, graph, make(graph, self_loops=False)) == pytest.approx(expected, rel=1e-5)


def test_multi_bit_errs_least_and_the_gcn_aggregator_less_than_the_mean(graph: Graph) -> None:
    errors = {each.key: each.fit(LPGNN(), graph, 0) for each in ESTIMATION.columns(LPGNN())}
    assert min(errors, key=errors.get) == "private"
    assert errors["analytic_gaussian"] != errors["one_bit"]


def test_other_systems_have_no_such_study(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="lpgnn"):
        measure_estimation("private", PrivGE(), graph, seed=0)
