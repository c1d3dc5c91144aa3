"""Reports in parts on a store: every person's row, whoever reads it, and neighbours' rows for the silent ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from stored_graphs import random_pattern, stored

from privet.estimation.missing import complete_from_neighbours
from privet.graph.distributed import ClusterGraph, reports
from privet.graph.distributed.reports import PartedReports, SpooledFeatures, project_reports
from privet.graph.projection import Projection
from privet.mechanisms import AffineFeatures

NODES, FEATURES = 60, 12
PATTERN = random_pattern(2, NODES)


def some_features(rows: int) -> AffineFeatures:
    rng = np.random.default_rng(3)
    symbols = sp.csr_array(np.where(rng.random((rows, FEATURES)) < 0.3, 1.0, 0.0).astype(np.float32))
    return AffineFeatures(symbols, rng.random(FEATURES) + 1, rng.random(FEATURES))


@pytest.fixture(params=[(1, "id"), (7, "hash")])
def graph(request: pytest.FixtureRequest, tmp_path: Path):
    partitions, by = request.param
    with ClusterGraph(stored(tmp_path, PATTERN, partitions, by=by), scratch=tmp_path) as graph:
        yield graph


@pytest.mark.parametrize("silent", [0, 25, 59])
@pytest.mark.parametrize("dealt", [False, True])
def test_rows_arrive_where_they_belong(
    graph: ClusterGraph, silent: int, dealt: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "_ROWS", 8)
    users = np.sort(np.random.default_rng(0).permutation(NODES)[silent:])
    features, projection = some_features(len(users)), Projection(FEATURES, 5)
    order = np.random.default_rng(1).permutation(len(users)) if dealt else np.arange(len(users))
    found = PartedReports(SpooledFeatures.write(tmp_path, features)).take(order)
    assert len(found) == len(users)
    weights = np.linspace(1, 3, FEATURES)
    projected = project_reports(graph, found.parts, projection, weights)
    np.testing.assert_allclose(projected.means, features.symbols.toarray().mean(axis=0))
    np.testing.assert_allclose(projected.squares, (features.symbols.toarray() ** 2).mean(axis=0))
    constant = np.append(projection.of_vector(features.offset), 4.0)
    columns = projected.columns(graph, users, constant, factor=2.0, order=found.order)
    whole = AffineFeatures(features.symbols[order], 2.0 * features.scale * weights, features.offset)
    everybody = complete_from_neighbours(whole, users, PATTERN).features
    expected = everybody.dense() @ projection.matrix()
    np.testing.assert_allclose(columns.numpy(), np.column_stack([expected, np.full(NODES, 4.0)]), atol=1e-4)
    some = np.array([5, 59, 0, 5])
    np.testing.assert_array_equal(columns.take(some), columns.numpy()[some])
    projected.close()
    assert not projected.folder.exists()
