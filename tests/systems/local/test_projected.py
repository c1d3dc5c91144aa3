"""Systems on a projection of the reports: the same rows in memory and from a store, however it is partitioned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_graphs import stored

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed import ClusterGraph, StoredTopology
from privet.graph.distributed.reports import PartedReports, SpooledFeatures
from privet.graph.projection import Projection
from privet.models.streaming import StoredRows
from privet.systems import LPGNN, Collected, PrivGE
from privet.systems.controls import simulate
from privet.systems.local._lpgnn_projected import propagated_rows
from privet.systems.local._projected import WIDTH as WIDTH_ON_A_CLUSTER

NODES, FEATURES, WIDTH = 300, 40, 16
QUICK = {"hidden_channels": 8, "max_epochs": 20, "patience": 10, "projection": WIDTH}


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(NODES, classes=3, average_degree=8, homophily=0.9, features=FEATURES, seed=0)
    alone = graph.adjacency.tolil()
    alone[:3] = 0  # nobody reaches these
    alone[:, :3] = 0
    made = Graph.from_scipy(alone.tocsr(), features=graph.features, labels=graph.labels, schema=graph.schema)
    return made.replace(split=split_nodes(made, 0.5, 0.25, seed=0))


@contextmanager
def elsewhere(graph: Graph, folder: Path, partitions: int, **more: Any) -> Iterator[Graph]:
    """The same graph, whose adjacency lies in a store and refuses to be loaded."""
    with ClusterGraph(stored(folder, graph.adjacency, partitions, **more), scratch=folder) as hosted:
        adjacency = StoredTopology(hosted)
        adjacency.loaded = lambda: pytest.fail("the adjacency was loaded")  # type: ignore[method-assign]
        data = {name: getattr(graph, name) for name in ("labels", "split", "schema", "features")}
        yield Graph.from_operator(adjacency, **data)


def without(collected: Collected, missing: np.ndarray) -> Collected:
    """The same, as if some people had not answered."""
    answer = collected.answers["features"]
    kept = np.flatnonzero(~np.isin(answer.users, missing))
    return replace(collected, answers=collected.answers.with_part("features", answer.take(kept)))


def rows_of(system: LPGNN | PrivGE, collected: Collected) -> Any:
    projection = Projection(FEATURES, WIDTH)
    if isinstance(system, LPGNN):
        return propagated_rows(system, collected, projection)
    return system.embed_projected(collected, projection)


SYSTEMS = {
    "lpgnn": LPGNN(epsilon_features=4.0, hops=3, seed=0, **QUICK),
    "lpgnn, mean with loops": LPGNN(hops=2, aggregator="mean", self_loops=True, seed=0, **QUICK),
    "lpgnn, every feature": LPGNN(mechanism="one-bit", hops=1, seed=0, **QUICK),
    "privge": PrivGE(epsilon_features=4.0, sample=3, alpha=0.3, r=0.2, seed=0, **QUICK),
    "privge, middle": PrivGE(centring="middle", scale=3.0, alpha=0.5, seed=0, **QUICK),
}


@pytest.mark.parametrize("answered", ["all", "most", "few"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_rows_are_those_of_the_graph_in_memory(name: str, answered: str, graph: Graph, tmp_path: Path) -> None:
    system = SYSTEMS[name]
    collected = system.collect(graph)
    silent = {"all": 0.0, "most": 0.3, "few": 0.97}[answered]
    missing = np.flatnonzero(np.random.default_rng(1).random(NODES) < silent)
    expected = rows_of(system, without(collected, missing)).array
    assert np.isfinite(expected).all()
    for partitions, by in ((1, "id"), (2, "hash"), (7, "id")):
        folder = tmp_path / str(partitions)
        folder.mkdir()
        with elsewhere(graph, folder, partitions, by=by) as stored_graph:
            found = rows_of(system, without(system.collect(stored_graph), missing))
            assert isinstance(found, StoredRows)
            assert np.allclose(found.columns.numpy(), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["lpgnn", "privge"])
@pytest.mark.parametrize("epsilon_labels", [None, 3.0])
def test_models_are_those_of_the_graph_in_memory(
    name: str, epsilon_labels: float | None, graph: Graph, tmp_path: Path
) -> None:
    system = replace(SYSTEMS[name], epsilon_labels=epsilon_labels, epsilon_features=8.0, max_epochs=60)
    system = replace(system, alpha=0.05, scale=10.0) if isinstance(system, PrivGE) else system
    expected = simulate(system, graph, 0)
    with elsewhere(graph, tmp_path, 3) as stored_graph:
        found = simulate(system, stored_graph, 0)
    assert found.guarantee == expected.guarantee
    assert found.lines == expected.lines
    assert found.facts == expected.facts == {"projected_columns": WIDTH + (name == "privge"), "projection_seed": 0}
    assert found.settings == expected.settings
    assert found.settings["projection"] == WIDTH
    assert (found.predict() == expected.predict()).mean() > 0.97
    assert expected.score(graph.labels, graph.split.test) > 0.6  # a third by chance
    assert expected.embedding.shape == (NODES, 8)
    assert found.embedding is None


def test_few_features_are_propagated_as_they_are(graph: Graph) -> None:
    system = LPGNN(hops=2, seed=0)
    collected = system.collect(graph)
    rows = propagated_rows(system, collected, Projection(FEATURES, FEATURES)).array
    step = system.aggregation(graph).matrix.to_dense().numpy()
    assert np.allclose(rows, step @ step @ collected.estimate().dense(), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["lpgnn", "privge"])
def test_reports_in_parts_are_never_held_together(
    name: str, graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = SYSTEMS[name]
    with elsewhere(graph, tmp_path, 2) as stored_graph:
        whole = system.collect(stored_graph)
        answer = whole.answers["features"]
        (tmp_path / "parts").mkdir()
        monkeypatch.setattr("privet.graph.distributed.reports._ROWS", 70)
        parted = PartedReports(SpooledFeatures.write(tmp_path / "parts", whole.reported()))
        parts = replace(whole, answers=whole.answers.with_part("features", replace(answer, reports=parted)))
        expected = [rows_of(system, each).columns.numpy() for each in (whole, system.dealt(whole))]
        monkeypatch.setattr(Collected, "reported", lambda _: pytest.fail("all reports were read"))
        sizes: list[int] = []
        read = SpooledFeatures.features
        monkeypatch.setattr(SpooledFeatures, "features", lambda self, part: sizes.append(part) or read(self, part))
        found = [rows_of(system, each).columns.numpy() for each in (parts, system.dealt(parts))]
        assert sizes == 2 * [0, 1, 2, 3, 4]
    assert all(np.allclose(*pair, atol=1e-5) for pair in zip(expected, found, strict=True))
    assert not np.allclose(*found, atol=1e-2)


def test_a_stored_graph_needs_a_projection(graph: Graph, tmp_path: Path) -> None:
    with elsewhere(graph, tmp_path, 2) as stored_graph:
        for system in (LPGNN(seed=0), PrivGE(seed=0)):
            with pytest.raises(InvalidData, match=f"{system.name} on a stored graph needs a projection"):
                system.fit(system.collect(stored_graph))
        with pytest.raises(InvalidData, match="'bound' looks at every friendship"):
            simulate(replace(SYSTEMS["lpgnn"], defence=("bound",)), stored_graph, 0)
    assert LPGNN.cluster_settings({"projection": 8, "hops": 1}) == {"projection": 8, "hops": 1}
    assert PrivGE.cluster_settings({}) == {"projection": WIDTH_ON_A_CLUSTER}


def test_refusals() -> None:
    with pytest.raises(InvalidParameter, match="label_denoising"):
        LPGNN(projection=8, epsilon_labels=1.0, label_denoising="majority")
    with pytest.raises(InvalidParameter, match="projection"):
        PrivGE(projection=0)
