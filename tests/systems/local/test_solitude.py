"""Solitude: the trust boundary, its guarantee in both modes, its calibrations, and that it learns."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from privet.data import Graph, Schema, Split, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.estimation import ReportedPairs
from privet.graph import LazyFeatures
from privet.mechanisms import AdjacencyResponse, SeededBits
from privet.models import GNN, seeded
from privet.release import PrivateData
from privet.systems import Fitted, Solitude
from privet.systems.controls import features_only, label_propagation, non_private, structure_only
from privet.systems.local._solitude_network import SolitudeNetwork
from privet.systems.local.solitude import count_noise

CALIBRATIONS = ("bayesian", "none", "published")


def make_graph(num_nodes: int = 400, homophily: float = 0.9, features: int = 12) -> Graph:
    graph = social_graph(num_nodes, classes=3, average_degree=8, homophily=homophily, features=features, seed=0)
    schema = replace(graph.schema, private_edges=True)
    return graph.replace(schema=schema, split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture
def graph() -> Graph:
    return make_graph()


def quick(**changes: Any) -> Solitude:
    settings = {"epsilon_edges": 5.0, "feature_hops": 4, "max_epochs": 20, "seed": 0, **changes}
    return Solitude(epsilon_features=2.0, **settings)


def run(system: Solitude, graph: Graph) -> Fitted:
    return system.fit(system.collect(graph, SeededBits(0)))


def score(system: Solitude, graph: Graph) -> float:
    return run(system, graph).score(graph.labels, graph.split.test)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_fit_is_the_same_without_the_private_fields(graph: Graph, calibration: str) -> None:
    system = quick(calibration=calibration, degrees="reported")
    collected = system.collect(graph, SeededBits(0))
    before = system.fit(collected).predict_proba().copy()
    graph.features.data[:] = np.nan
    graph.labels[:] = 10**6
    graph.adjacency.data[:] = np.nan
    graph.adjacency.indices[:] = 0
    assert np.array_equal(system.fit(collected).predict_proba(), before)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_fit_cannot_reach_test_labels(graph: Graph, calibration: str) -> None:
    system = quick(calibration=calibration)
    changed = np.where(graph.split.test, (graph.labels + 1) % 3, graph.labels)
    other = run(system, graph.replace(labels=changed))
    assert np.array_equal(run(system, graph).predict_proba(), other.predict_proba())


@pytest.mark.parametrize("one_sided", [True, False])
def test_what_is_collected_depends_on_the_graph_through_reports_alone(graph: Graph, one_sided: bool) -> None:
    """The server's topology is a function of the reports: another graph that gives the same reports gives it too."""
    system = quick(one_sided=one_sided)
    collected = system.collect(graph, SeededBits(0))
    noisy = system.topology(collected).adjacency
    assert not (noisy != noisy.T).nnz
    named = collected.answers["neighbours"].reports.to_sparse()
    union = sp.csr_array(named + named.T)
    assert np.array_equal(noisy.indices, union.indices)
    assert noisy.nnz != graph.adjacency.nnz
    # What is public has no topology at all, and asking for it is an error.
    assert collected.public.features is None
    assert collected.public.adjacency.nnz == 0
    assert collected.schema.private_edges
    with pytest.raises(InvalidData, match="private neighbour lists"):
        _ = collected.topology


def test_the_guarantee_is_about_relationships_which_both_ends_may_report(graph: Graph) -> None:
    for one_sided in (False, True):
        system = quick(one_sided=one_sided, epsilon_edges=7.0)
        promised = system.guarantee(graph)
        assert promised.epsilon == 16.0
        assert promised.unit == "feature vector and relationship"
        assert promised.relationship_epsilon == 14.0
        assert any("relationship costs an epsilon of 14;" in text for text in promised.unprotected)
        assert system.collect(graph, SeededBits(0)).guarantee() == promised
        assert run(system, graph).guarantee == promised


def test_a_degree_share_is_part_of_the_edge_budget(graph: Graph) -> None:
    system = quick(degrees="reported", degree_share=0.25, epsilon_edges=6.0)
    collected = system.collect(graph, SeededBits(0))
    assert collected.mechanism("neighbours").epsilon == 4.5
    assert collected.mechanism("length").epsilon == 1.5
    assert collected.guarantee().epsilon == system.guarantee(graph).epsilon == 14.0
    assert collected.guarantee().relationship_epsilon == 12.0
    assert not quick(degrees="counted").collect(graph, SeededBits(0)).release.asks("length")


def test_one_sided_degrees_count_larger_ids_only(graph: Graph) -> None:
    def lengths(one_sided: bool) -> np.ndarray:
        question = quick(one_sided=one_sided, degrees="reported").release(graph).question("length")
        return question.ask.apply(PrivateData.of(graph), question.mechanism)

    assert lengths(True).sum() == graph.num_edges
    assert lengths(True)[-1] == 0
    assert np.array_equal(lengths(False), graph.degrees)


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_it_learns_with_every_calibration_and_backbone(graph: Graph, calibration: str, backbone: str) -> None:
    assert score(quick(calibration=calibration, backbone=backbone, max_epochs=40), graph) > 0.6


@pytest.mark.parametrize("symmetrise", ["directed", "intersection", "posterior", "union"])
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_every_symmetrisation_runs_two_sided(graph: Graph, calibration: str, symmetrise: str) -> None:
    system = quick(one_sided=False, calibration=calibration, symmetrise=symmetrise, max_epochs=40)
    assert score(system, graph) > 0.55


@pytest.mark.parametrize("degrees", ["counted", "reported"])
@pytest.mark.parametrize("one_sided", [True, False])
def test_degrees_may_enter_the_posterior(graph: Graph, degrees: str, one_sided: bool) -> None:
    assert score(quick(degrees=degrees, one_sided=one_sided, max_epochs=40), graph) > 0.6


def test_calibration_beats_the_noisy_graph() -> None:
    """At three false edges for every true one; the features say nothing."""
    graph = make_graph(1_000, features=300)
    settings = {"epsilon_edges": 3.8, "max_epochs": 60, "label_hops": 2}
    blind = graph.replace(features=sp.csr_array(graph.features.shape, dtype=np.float32))
    assert score(quick(calibration="bayesian", **settings), blind) > 0.1 + score(
        quick(calibration="none", symmetrise="union", **settings), blind
    )


def test_published_calibration_moves_reported_edges_and_keeps_them_positive(graph: Graph) -> None:
    options = {"one_sided": False, "symmetrise": "directed", "adjacency_learning_rate": 0.5}
    system = quick(calibration="published", patience=None, **options)
    collected = system.collect(graph, SeededBits(0))
    trained: list[SolitudeNetwork] = []
    original = Solitude._train

    def spy(self: Solitude, network: SolitudeNetwork, *rest: Any) -> Any:
        trained.append(network)
        return original(self, network, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Solitude, "_train", spy)
        system.fit(collected)
    values = trained[0].graph.values.detach()
    assert len(values) == collected.answers["neighbours"].reports.to_sparse().nnz
    assert (values >= 0).all()
    assert (values == 0).any()  # some were stopped there
    assert not torch.equal(values, trained[0].graph.noisy)


def test_the_result_is_the_mean_of_network_and_beliefs(graph: Graph) -> None:
    system = quick(average_beliefs=True)
    collected = system.collect(graph, SeededBits(0))
    alone = replace(system, average_beliefs=False).fit(collected).predict_proba()
    pairs = ReportedPairs.from_reports(collected.answers["neighbours"].reports, collected.mechanism("neighbours"))
    beliefs = torch.from_numpy(system._beliefs(collected, pairs).log_classes).softmax(1).numpy()
    assert np.allclose(system.fit(collected).predict_proba(), (alone + beliefs) / 2, atol=1e-6)
    assert np.abs(alone - beliefs).max() > 0.1


def test_validation_labels_do_not_enter_the_calibration(graph: Graph) -> None:
    """They choose among epochs; an estimate that had seen them would be chosen by its own memory."""
    system, found = quick(), []
    for shift in (0, 1):
        labels = np.where(graph.split.validation, (graph.labels + shift) % 3, graph.labels)
        collected = system.collect(graph.replace(labels=labels), SeededBits(0))
        pairs = ReportedPairs.from_reports(collected.answers["neighbours"].reports, collected.mechanism("neighbours"))
        found.append(system._beliefs(collected, pairs))
    assert np.array_equal(found[0].edges, found[1].edges)
    assert np.array_equal(found[0].log_classes, found[1].log_classes)


def test_seeds_repeat(graph: Graph) -> None:
    system = quick(calibration="published")
    assert np.array_equal(run(system, graph).predict_proba(), run(system, graph).predict_proba())
    assert not np.array_equal(run(system, graph).predict_proba(), run(replace(system, seed=1), graph).predict_proba())


@pytest.mark.parametrize("one_sided", [True, False])
def test_the_fitted_result_says_how_much_is_noise(graph: Graph, one_sided: bool) -> None:
    """Within 5 deviations of a binomial count: a chance below 1e-5 to fail for another seed."""
    system = quick(one_sided=one_sided, symmetrise="union")
    collected = system.collect(graph, SeededBits(3))
    facts = system.fit(collected).facts
    noise = count_noise(graph, collected)
    assert facts["reported_pairs"] == system.topology(collected).num_edges
    assert 0 < noise < facts["reported_pairs"]
    assert abs(facts["expected_noise"] - noise) < 5 * np.sqrt(noise)


def test_facts_are_saved(graph: Graph, tmp_path: Any) -> None:
    fitted = run(quick(), graph)
    fitted.save(tmp_path / "model")
    assert Fitted.load(tmp_path / "model").facts == fitted.facts


def test_predictions_are_smoothed_as_in_equation_12() -> None:
    adjacency = sp.csr_array(np.array([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    x = LazyFeatures.from_dense(torch.eye(4))
    with seeded(0):
        gnn = GNN(4, 4, 3)
    plain, smoothed = (SolitudeNetwork(gnn, adjacency, hops)(x).exp() for hops in (0, 2))
    root = torch.tensor([2.0, 1.0, 1.0, 1.0]).rsqrt()
    operator = root[:, None] * torch.from_numpy(adjacency.toarray()) * root[None, :]
    expected = operator @ (operator @ plain)
    expected[3] = plain[3]  # a node without neighbours keeps its own
    assert torch.allclose(smoothed, expected / expected.sum(1, keepdim=True), atol=1e-6)


def test_public_edges_are_an_upper_bound_without_reports(graph: Graph) -> None:
    open_graph = graph.replace(schema=replace(graph.schema, private_edges=False))
    system = quick(epsilon_edges=None)
    collected = system.collect(open_graph, SeededBits(0))
    assert not collected.release.asks("neighbours")
    assert np.array_equal(collected.topology.adjacency.indices, graph.adjacency.indices)
    assert system.guarantee(graph).epsilon == 2.0
    assert system.fit(collected).facts == {}
    with pytest.raises(InvalidData, match="needs public edges"):
        system.collect(graph, SeededBits(0))


def test_the_controls_run(graph: Graph) -> None:
    system = quick()
    collected = system.collect(graph, SeededBits(0))
    results = [
        structure_only(system, graph, SeededBits(0)),
        label_propagation(collected, system.topology(collected)),
        features_only(collected, max_epochs=20),
        non_private(system, graph, SeededBits(0)),
    ]
    assert all(each.predict_proba().shape == (400, 3) for each in results)


def test_too_small_an_epsilon_is_refused_before_anything_is_allocated() -> None:
    """The sentence names the expected number of flips and the smallest epsilon that would do."""
    nodes = 20_000
    edges = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
    labels = np.arange(nodes) % 2
    graph = Graph.from_edges(
        edges,
        nodes,
        features=sp.csr_array((nodes, 2), dtype=np.float32),
        labels=labels,
        schema=Schema.numeric(2, 0.0, 1.0, classes=2, private_edges=True),
        split=split_nodes(nodes, seed=0),
    )
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameter, match=r"at least 3\.\d+ for 20000 nodes.*about 53,7\d\d,\d\d\d"):
            Solitude(epsilon_edges=1.0, epsilon_features=1.0).collect(graph, SeededBits(0))
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()
    feasible = AdjacencyResponse(epsilon=3.2, num_nodes=nodes, one_sided=True)
    assert feasible.flip * nodes * (nodes - 1) / 2 < 1 << 23


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"calibration": "magic"}, "calibration.*one of bayesian, none, published"),
        ({"symmetrise": "magic"}, "symmetrise.*one of directed, intersection"),
        ({"symmetrise": "directed", "one_sided": True}, "another than directed"),
        ({"backbone": "gat"}, "backbone.*one of gcn, sage"),
        ({"degrees": "magic"}, "degrees.*one of counted"),
        ({"degrees": "reported", "degree_share": 0.0}, "degree_share.*above 0"),
        ({"degree_share": 1.0}, "degree_share.*below 1"),
        ({"epsilon_edges": -1.0}, "epsilon_edges.*above 0"),
        ({"epsilon_labels": 1.0}, "epsilon_labels.*None"),
        ({"feature_hops": -1}, "feature_hops.*at least 0"),
        ({"fidelity": -1.0}, "fidelity.*at least 0"),
        ({"dropout": 1.0}, "dropout.*below 1"),
        ({"learning_rate": 0.0}, "learning_rate.*above 0"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        quick(**changes)


def test_bad_graphs_are_refused(graph: Graph) -> None:
    with pytest.raises(InvalidData, match="this graph is directed"):
        quick().collect(graph.replace(directed=True), SeededBits(0))
    with pytest.raises(InvalidData, match="features"):
        quick().collect(graph.replace(features=None), SeededBits(0))
    nobody = Split(np.zeros(400, bool), graph.split.validation, graph.split.test)
    with pytest.raises(InvalidData, match=r"Solitude needs labelled nodes.*it has 0 and 100"):
        run(quick(), graph.replace(split=nobody))
