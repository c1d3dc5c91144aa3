"""What the server holds: answers, public data, and no way to anything else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData
from privet.mechanisms import MultiBit, RandomizedResponse, SeededBits
from privet.systems import LPGNN, Collected, Solitude
from privet.systems.collected import labelled, public_view


@pytest.fixture
def graph() -> Graph:
    graph = social_graph(120, classes=3, features=6, seed=0)
    labels = np.where(np.arange(120) < 10, -1, graph.labels)
    return graph.replace(labels=labels, split=split_nodes(graph, 0.5, 0.25, seed=0))


def collect(graph: Graph, **settings: float) -> Collected:
    return LPGNN(**settings).collect(graph, SeededBits(0))


def some_answered(collected: Collected, users: np.ndarray) -> Collected:
    answer = collected.answers["features"]
    rows = np.flatnonzero(np.isin(answer.users, users))
    return replace(collected, answers=collected.answers.with_part("features", answer.take(rows)))


def test_what_is_asked_for_is_not_handed_out(graph: Graph) -> None:
    seen = labelled(graph)
    assert not seen[:10].any()
    assert not seen[graph.split.test].any()
    plain = public_view(graph, LPGNN().release(graph))
    assert plain.features is None
    assert np.array_equal(plain.labels, np.where(seen, graph.labels, -1))
    assert np.array_equal(plain.adjacency.indices, graph.adjacency.indices)
    assert (public_view(graph, LPGNN(epsilon_labels=1.0).release(graph)).labels == -1).all()
    assert public_view(graph, Solitude().release(graph)).adjacency.nnz == 0


def test_mechanisms_and_answers_go_by_the_questions_name(graph: Graph) -> None:
    collected = collect(graph, epsilon_labels=1.0)
    assert isinstance(collected.mechanism("features"), MultiBit)
    assert isinstance(collected.label_response, RandomizedResponse)
    assert collected.mechanism("neighbours") is None
    assert collected.answer("neighbours") is None
    assert collected.answer("label") is collected.answers["label"]
    assert collected.guarantee() == collected.release.guarantee()
    assert collected.schema == graph.schema
    assert collected.num_nodes == 120


def test_seen_labels_are_public_or_reported(graph: Graph) -> None:
    seen = labelled(graph)
    assert np.array_equal(collect(graph).seen_labels(), np.where(seen, graph.labels, -1))
    reported = collect(graph, epsilon_labels=1.0)
    assert np.array_equal(reported.seen_labels() >= 0, seen)
    assert np.array_equal(reported.seen_labels()[seen], reported.answers["label"].reports.symbols[:, 0])


def test_labels_for_training_and_validation_are_demanded(graph: Graph) -> None:
    labels, train, held = collect(graph).supervised("X")
    assert np.array_equal(labels[train], graph.labels[train])
    assert set(train) | set(held) == set(np.flatnonzero(labelled(graph)))
    nobody = graph.replace(labels=np.full(120, -1))
    with pytest.raises(InvalidData, match="some for training and some for validation"):
        collect(nobody).supervised("X")


def test_who_did_not_answer_gets_the_neighbours_mean(graph: Graph) -> None:
    whole = collect(graph)
    assert whole.answered().all()
    assert not whole.completed().distances.any()
    silent = int(np.argmax(graph.degrees))
    some = some_answered(whole, np.delete(np.arange(120), silent))
    assert np.flatnonzero(~some.answered()).tolist() == [silent]
    around = graph.adjacency[[silent]].indices
    np.testing.assert_allclose(
        some.estimate().dense()[silent], whole.estimate().dense()[around].mean(axis=0), atol=1e-5
    )
    assert some.reported().shape == (119, 6)


def test_a_missing_split_or_a_private_topology_is_an_error(graph: Graph) -> None:
    collected = collect(graph)
    with pytest.raises(InvalidData, match="no split"):
        _ = replace(collected, public=collected.public.replace(split=None)).train
    private = Solitude().collect(graph, SeededBits(0))
    with pytest.raises(InvalidData, match="private neighbour lists"):
        _ = private.topology
    assert np.array_equal(collected.train, graph.split.train)
    assert np.array_equal(collected.validation, graph.split.validation)
