"""Public structure as input: no training node decides another node's columns, and degrees are confessed."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import random_graph, without_node

from privet.data import Graph, Split, social_graph, split_nodes
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch
from privet.mechanisms import SeededBits
from privet.models.clipping.rows import SparseRows
from privet.systems.central._public_structure import PublicStructure, beside, neighbourhoods, structure_width
from privet.systems.central._training_view import TrainingView
from privet.systems.central.heterpoisson import HeterPoisson

KINDS: list[Any] = ["degrees", "public"]


def made(**changes: Any) -> HeterPoisson:
    small = {"noise_multiplier": 0.0, "batch_size": 100, "epochs": 2, "hidden_channels": 6, "seed": 0}
    return HeterPoisson(**{**small, **changes})


def rows_of(system: HeterPoisson, graph: Graph, falls: np.ndarray, coins: np.ndarray) -> dict[int, bytes]:
    """The examples of given coins by centre."""
    view = system.view(graph)
    public = system.public_structure(view)
    batch = system.sampler(view).form(np.flatnonzero(view.members & falls), lambda entries: coins[entries])
    rows = public.beside(system.inputs(batch, view), batch)
    return {int(node): row.tobytes() for node, row in zip(batch.central, rows, strict=True)}


@given(st.integers(0, 2**32), st.integers(4, 14), st.sampled_from(KINDS), st.sampled_from([0.0, 2.0]))
@settings(max_examples=40)
def test_removing_a_training_node_changes_no_bit_of_another_example_that_it_is_not_in(
    seed: int, nodes: int, structure: Any, multiplier: float
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, nodes)
    falls, coins = rng.random(nodes) < 0.7, rng.random(graph.adjacency.nnz) < 0.5 * (multiplier > 0)
    system = made(structure=structure, multiplier=multiplier, axes=2)
    present, absent = (rows_of(system, side, falls, coins) for side in (graph, without_node(graph, 0)))
    view = system.view(graph)
    batch = system.sampler(view).form(np.flatnonzero(view.members & falls), lambda entries: coins[entries])
    touched = set(batch.central[batch.owner[batch.peripheral == 0]].tolist())
    assert all(row == present[node] for node, row in absent.items() if node not in touched)
    assert present.keys() - absent.keys() == ({0} if falls[0] else set())
    assert multiplier or not touched


@given(st.integers(0, 2**32), st.integers(4, 14), st.sampled_from(KINDS))
@settings(max_examples=40)
def test_a_node_that_leaves_with_its_edges_changes_no_bit_either(seed: int, nodes: int, structure: Any) -> None:
    """The degrees of the whole graph are public and fixed; sub-graphs have unprotected neighbours only."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, nodes)
    falls, system = rng.random(nodes) < 0.7, made(structure=structure, axes=2)
    rest = graph.adjacency.toarray()
    rest[0], rest[:, 0] = 0, 0
    left = without_node(graph, 0).replace(adjacency=sp.csr_array(rest))
    left.__dict__["degrees"] = graph.degrees
    nobody = np.zeros(graph.adjacency.nnz, bool)
    present, absent = (rows_of(system, side, falls, nobody) for side in (graph, left))
    assert all(row == present[node] for node, row in absent.items())


@pytest.mark.parametrize("structure", KINDS)
def test_a_training_node_s_edges_decide_its_own_columns_only(structure: Any) -> None:
    """Two training nodes change ends among unprotected ones, all degrees fixed: only their own columns move."""
    pairs = [(0, 4), (0, 5), (1, 6), (1, 7), (2, 4), (3, 5), (4, 5), (5, 6), (6, 7), (4, 7), (8, 4), (8, 6)]
    other = [(0, 4), (0, 6), (1, 5), (1, 7), *pairs[4:]]
    train = np.arange(9) < 4
    split = Split(train, ~train & False, ~train)
    found = []
    for edges in (pairs, other):
        graph = Graph.from_edges(np.array(edges).T, 9, labels=np.zeros(9, int), split=split)
        view = TrainingView(graph, np.zeros((9, 1), np.float32), np.where(train, 0, -1), train, ~train, 2)
        public = PublicStructure.of(view, structure)
        found.append(public.columns(neighbourhoods(graph.adjacency, np.arange(9))))
    assert np.array_equal(found[0][2:], found[1][2:])
    assert np.array_equal(found[0][:2], found[1][:2]) == (structure == "degrees")


def test_columns_against_the_definition() -> None:
    graph = random_graph(np.random.default_rng(5), 14)
    view = TrainingView.of(graph, "test")
    public = PublicStructure.of(view, "public")
    nodes = np.flatnonzero(view.members)
    found = public.columns(neighbourhoods(graph.adjacency, nodes)) * public.scale + public.centre
    sizes = np.log1p(graph.degrees)
    shifted = (sizes - sizes.mean()) / sizes.std()
    np.testing.assert_allclose(found[:, 0], shifted[nodes], atol=1e-5)
    np.testing.assert_allclose(found[:, 2], np.maximum(shifted[nodes], 0), atol=1e-5)
    for row, node in zip(found, nodes, strict=True):
        heard = [other for other in graph.adjacency[[node]].indices if view.unprotected_nodes[other]]
        assert row[4] == pytest.approx(np.log1p(len(heard)), abs=1e-5)
        if heard:
            assert row[5] == pytest.approx(shifted[heard].mean(), abs=1e-5)
            np.testing.assert_allclose(row[5:], public.around[heard].mean(axis=0), atol=1e-5)


def test_labels_are_not_read_and_predictions_read_no_training_node() -> None:
    graph = random_graph(np.random.default_rng(7), 30)
    system = made(structure="public")
    relabelled = graph.replace(labels=np.where(graph.split.train, graph.labels, (graph.labels + 1) % 3))
    one, other = (system.fit(each).probabilities for each in (graph, relabelled))
    assert np.array_equal(one, other, equal_nan=True)
    view = system.view(graph)
    network = system.network(4, 3)
    fewer = system.view(graph.replace(split=without_node(graph, 0).split))
    found = [system.infer(network, each, SeededBits(0)) for each in (view, fewer)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("structure", ["none", *KINDS])
def test_degrees_are_confessed_where_they_are_read(structure: Any) -> None:
    promised = made(structure=structure, noise_multiplier=5.0).guarantee(1000)
    assert ("each node's degree in the whole graph" in promised.unprotected) is (structure != "none")
    assert ("degree" in promised.adjacency) is (structure != "none")


def test_sparse_examples_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(5, 3)).astype(np.float32)
    rows = SparseRows(sp.csr_array(np.eye(5, 8, dtype=np.float32)), rng.normal(size=5))
    found = beside(rows, columns)
    assert isinstance(found, SparseRows)
    np.testing.assert_allclose(found.dense(), np.concatenate([rows.dense(), columns], axis=1), atol=1e-6)


def test_it_helps_where_degrees_tell_the_class() -> None:
    graph = social_graph(900, classes=2, average_degree=8, homophily=0.5, features=6, seed=1)
    labels = (graph.degrees > np.median(graph.degrees)).astype(np.int64)
    graph = graph.replace(labels=labels, split=split_nodes(graph.replace(labels=labels), 0.6, 0.0, seed=1))
    scores = {}
    for structure in ("none", "degrees"):
        system = made(structure=structure, batch_size=300, epochs=20, hidden_channels=16, max_grad_norm=np.inf)
        scores[structure] = system.fit(graph).score(labels, graph.split.test)
    assert scores["degrees"] > 0.9
    assert scores["degrees"] > scores["none"] + 0.1


def test_refused_where_training_does_not_know_unprotected_nodes() -> None:
    with pytest.raises(InvalidParameter, match="structure must be none or degrees"):
        made(structure="public", setting="inductive")
    with pytest.raises(InvalidParameter, match="structure must be"):
        made(structure="edges")
    assert made(structure="degrees", setting="inductive").input_width(4) == 4 + structure_width("degrees")
    nothing = np.zeros(0, np.int64)
    graph = random_graph(np.random.default_rng(1), 8)
    view = TrainingView.of(
        graph.replace(split=Split(graph.split.train, graph.split.test & False, graph.split.test & False)), "t"
    )
    assert np.isfinite(PublicStructure.of(view, "public").columns(SubgraphBatch(np.array([0]), nothing, nothing))).all()
