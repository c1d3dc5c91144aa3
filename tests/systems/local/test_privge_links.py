from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.data import EdgeSplit, Graph, Links, social_graph, split_edges
from privet.errors import InvalidData
from privet.mechanisms import SeededBits
from privet.models import roc_auc
from privet.systems import LinkFitted, PrivGE
from privet.systems.local._privge_links import LinkTask, hidden_edges

SYSTEM = PrivGE(num_layers=1, hidden_channels=16, weight_decay=0.0, scale=0.3, max_epochs=4, folds=2, seed=0)


@pytest.fixture(scope="module")
def links() -> EdgeSplit:
    return split_edges(social_graph(500, classes=6, average_degree=14, homophily=0.95, features=40, seed=2), seed=2)


def fit(system: PrivGE, links: EdgeSplit, graph: Graph | None = None) -> LinkFitted:
    collected = system.collect(links.graph if graph is None else graph, SeededBits(0))
    return system.fit_links(collected, links.train, links.validation)


@pytest.mark.parametrize(("folds", "num_layers"), [(1, 1), (2, 1), (2, 2)])
def test_unseen_links_rank_above_non_links(links: EdgeSplit, folds: int, num_layers: int) -> None:
    system = PrivGE(
        num_layers=num_layers, hidden_channels=16, folds=folds, scale=0.3, max_epochs=15, dropout=0.0, seed=0
    )
    fitted = fit(system, links)
    assert fitted.auc(links.test) > 0.6
    assert fitted.embedding.shape == (500, 16)
    assert fitted.guarantee.epsilon == 1.0


def test_one_fold_learns_to_recognise_its_own_edges(links: EdgeSplit) -> None:
    wide = PrivGE(num_layers=1, hidden_channels=32, weight_decay=0.0, max_epochs=30, patience=None, folds=1, seed=0)
    seen = fit(wide, links)
    assert seen.auc(links.train) > seen.auc(links.test) + 0.03


def test_a_fold_is_ranked_from_an_embedding_over_the_other_folds(links: EdgeSplit) -> None:
    collected = SYSTEM.collect(links.graph, SeededBits(0))
    part = np.arange(0, links.train.edges.shape[1], 2)
    z, _ = LinkTask(SYSTEM, collected, links.train, links.validation)._fold(links.graph.adjacency, part)
    others = Graph.from_edges(np.delete(links.train.edges, part, axis=1), 500)
    assert torch.allclose(z.dense(), SYSTEM.embed(collected, others).dense(), atol=1e-5)
    assert not torch.allclose(z.dense(), SYSTEM.embed(collected).dense(), atol=1e-2)


def test_scores_are_weighted_hadamard_sums_and_symmetric(links: EdgeSplit) -> None:
    fitted = fit(SYSTEM, links)
    pairs = links.test.edges[:, :20]
    z = fitted.embedding
    weight, bias = fitted.weights["scorer.weight"], fitted.weights["scorer.bias"]
    expected = (z[pairs[0]] * z[pairs[1]]) @ weight + bias
    assert np.allclose(fitted.score_links(pairs), expected, atol=1e-4)
    assert np.allclose(fitted.score_links(pairs[::-1]), expected, atol=1e-4)
    both = (torch.from_numpy(fitted.score_links(p)) for p in (links.test.edges, links.test.non_edges))
    assert fitted.auc(links.test) == roc_auc(*both)


def test_nothing_private_is_read_after_collection(links: EdgeSplit) -> None:
    mine = links.graph.replace(features=links.graph.features.copy(), labels=links.graph.labels.copy())
    collected = SYSTEM.collect(mine, SeededBits(0))
    first = SYSTEM.fit_links(collected, links.train, links.validation)
    mine.features.data[:] = np.nan
    mine.labels[:] = 0
    again = SYSTEM.fit_links(collected, links.train, links.validation)
    assert np.array_equal(first.embedding, again.embedding)
    assert np.array_equal(first.weights["scorer.weight"], again.weights["scorer.weight"])


def test_labels_are_not_needed(links: EdgeSplit) -> None:
    bare = links.graph.replace(labels=None, split=None)
    assert np.array_equal(fit(SYSTEM, links, bare).embedding, fit(SYSTEM, links).embedding)


def test_a_topology_with_held_out_edges_is_refused(links: EdgeSplit) -> None:
    whole = social_graph(500, classes=6, average_degree=14, homophily=0.95, features=40, seed=2)
    with pytest.raises(InvalidData, match="validation edge 0 must be absent from the collected topology"):
        fit(SYSTEM, links, whole)


def test_training_edges_are_edges(links: EdgeSplit) -> None:
    collected = SYSTEM.collect(links.graph, SeededBits(0))
    swapped = Links(links.train.non_edges, links.train.edges)
    with pytest.raises(InvalidData, match="training edge 0 must be an edge of the collected topology"):
        SYSTEM.fit_links(collected, swapped, links.validation)


@given(nodes=st.integers(4, 12), seed=st.integers(0, 99), share=st.floats(0, 1))
def test_hidden_edges_are_exactly_those(nodes: int, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < 0.5, 1)
    chosen = np.argwhere(upper)[: round(share * upper.sum())].T
    graph = Graph.from_edges(np.argwhere(upper).T, nodes)
    expected = upper.copy()
    expected[chosen[0], chosen[1]] = False
    assert np.array_equal(hidden_edges(graph.adjacency, chosen).toarray(), (expected | expected.T).astype(float))


def test_a_saved_predictor_scores_the_same(links: EdgeSplit, tmp_path) -> None:
    fitted = fit(SYSTEM, links)
    fitted.save(tmp_path / "links")
    again = LinkFitted.load(tmp_path / "links")
    assert np.array_equal(again.score_links(links.test.edges), fitted.score_links(links.test.edges))
