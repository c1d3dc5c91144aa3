from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import social_graph
from privet.estimation.answers.neighbour_evidence import SOURCES, class_mixing, neighbour_evidence

GRAPH = social_graph(60, classes=3, average_degree=6, homophily=0.8, seed=0)
LABELS = np.where(np.arange(60) % 2, GRAPH.labels, -1).astype(np.int64)


def test_mixing_counts_edges_between_labelled_people() -> None:
    counts = np.full((3, 3), 1e-3)
    for i, j in zip(*GRAPH.adjacency.nonzero(), strict=True):
        if LABELS[i] >= 0 and LABELS[j] >= 0:
            counts[LABELS[i], LABELS[j]] += 1
    found = class_mixing(GRAPH.adjacency, LABELS, 3)
    np.testing.assert_allclose(found, counts / counts.sum(axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_sources_against_a_slow_count() -> None:
    own = np.random.default_rng(0).normal(size=(60, 3))
    own -= own.mean(axis=1, keepdims=True)
    mixing = class_mixing(GRAPH.adjacency, LABELS, 3)
    told = np.array([[np.log(sum(mixing[c, y] * np.exp(row[y]) for y in range(3))) for c in range(3)] for row in own])
    told -= told.mean(axis=1, keepdims=True)
    expected = np.zeros((len(SOURCES), 60, 3))
    for i in range(60):
        friends = np.flatnonzero(GRAPH.adjacency.toarray()[i])
        free = [j for j in friends if LABELS[j] < 0]
        if len(friends):
            expected[0, i] = np.mean([told[j] for j in friends], axis=0)
        if free:
            expected[1, i] = np.mean([told[j] for j in free], axis=0)
            expected[2, i] = np.sum([told[j] for j in free], axis=0) / np.sqrt(len(friends) + 1)
            expected[3, i] = np.mean([own[j] for j in free], axis=0)
    np.testing.assert_allclose(
        np.stack(list(neighbour_evidence(GRAPH.adjacency, own.astype(np.float32), LABELS))), expected, atol=1e-5
    )


def test_people_who_did_not_answer_tell_nothing_and_nobody_tells_themselves() -> None:
    own = np.zeros((60, 3), dtype=np.float32)
    for source in neighbour_evidence(GRAPH.adjacency, own, LABELS):
        np.testing.assert_allclose(source, 0.0, atol=1e-6)
    own[4] = [2.0, -1.0, -1.0]
    reached = np.flatnonzero(GRAPH.adjacency.toarray()[:, 4])
    for source in neighbour_evidence(GRAPH.adjacency, own, LABELS):
        assert set(np.flatnonzero(np.abs(source).max(axis=1) > 1e-6)) == set(reached)
    assert 4 not in reached


@pytest.mark.parametrize("labels", [np.full(5, -1), np.zeros(5, dtype=int)])
def test_graphs_without_edges_or_labels(labels: np.ndarray) -> None:
    nothing = sp.csr_array((5, 5), dtype=np.float32)
    np.testing.assert_allclose(class_mixing(nothing, labels, 2), 0.5)
    for source in neighbour_evidence(nothing, np.ones((5, 2), dtype=np.float32), labels):
        assert np.isfinite(source).all()


def test_trimming_and_bounding_keep_a_liar_within_limits() -> None:
    own = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    lied = own.copy()
    hub = int(np.argmax(np.diff(GRAPH.adjacency.indptr)))
    lied[hub] = [50.0, -50.0, 0.0]
    several = GRAPH.adjacency @ (LABELS < 0).astype(float) >= 3  # fewer are not trimmed
    moved = {}
    for name, options in {"plain": {}, "trim": {"trimmed": True}, "bound": {"bounded": True}}.items():
        before, after = (list(neighbour_evidence(GRAPH.adjacency, each, LABELS, **options)) for each in (own, lied))
        moved[name] = float(np.abs(before[3] - after[3])[several].max())
        assert len(before) == len(SOURCES)
    assert moved["trim"] < moved["plain"] / 2
    assert moved["bound"] <= moved["plain"]
