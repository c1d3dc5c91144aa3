"""The length question, from a device's list to the server's graph: nothing but its own file knows of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from random_releases import NODES, POPULATIONS, people

from privet.data import Graph, social_graph, split_nodes
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import AdjacencyResponse, DegreeResponse, Mechanism, MultiBit, SeededBits
from privet.privacy import Unit
from privet.release import LocalRelease, PrivateData, Question
from privet.release.asks.length import Length
from privet.systems import Collected, Fitted, LocalSystem

PEOPLE = POPULATIONS["numeric"]


def question(*, one_sided: bool = False, epsilon: float = 2.0) -> Question:
    return Question(Length(), DegreeResponse.declare(PEOPLE, epsilon=epsilon, one_sided=one_sided))


def test_one_sided_lengths_count_each_pair_once() -> None:
    private = people(PEOPLE, 0)
    adjacency = private.neighbours.toarray()
    for one_sided, expected in ((False, adjacency.sum(1)), (True, np.triu(adjacency).sum(1))):
        asked = question(one_sided=one_sided)
        assert np.array_equal(asked.ask.apply(private, asked.mechanism), expected)
    some = private.take(np.array([6, 2]))
    assert np.array_equal(Length().apply(some, question().mechanism), adjacency[[6, 2]].sum(1))


def test_one_bit_of_a_list_changes_the_length_by_one() -> None:
    """So a mechanism for a step of one protects a bit, wherever it is."""
    for one_sided in (False, True):
        mechanism = question(one_sided=one_sided).mechanism
        for bit in (0, 1, 2, 3, 5, 8):
            lists = [[], [bit]] if bit != 4 else []
            lengths = [Length().apply(PrivateData.one(4, NODES, None, None, each), mechanism)[0] for each in lists]
            assert lengths[1] - lengths[0] == (0 if one_sided and bit < 4 else 1)


def test_wire_guarantee_and_cost() -> None:
    for one_sided in (False, True):
        release = LocalRelease((question(one_sided=one_sided),), PEOPLE)
        assert release.guarantee().unit == Unit.RELATIONSHIP
        assert release.guarantee().epsilon == release.guarantee().relationship_epsilon == 4.0
        answers = release.perturb(people(PEOPLE, 1), SeededBits(0))
        bodies = release.wire.pack(answers)
        assert {len(body) for body in bodies} == {8}
        assert release.wire.unpack(range(NODES), bodies)["length"].reports == answers["length"].reports
        assert LocalRelease.from_list(release.to_list(), PEOPLE).matches(release)


def test_lists_and_own_ids_are_checked_and_needed() -> None:
    with pytest.raises(InvalidData, match="Your list of neighbours"):
        Length().check(PrivateData.one(4, NODES, None, None, [4]), PEOPLE)
    with pytest.raises(InvalidData, match="neighbour lists"):
        Length().apply(PrivateData(np.array([0])), question().mechanism)
    with pytest.raises(InvalidParameter, match="mechanism"):
        Question(Length(), AdjacencyResponse.declare(PEOPLE, epsilon=1.0))


@dataclass(frozen=True, kw_only=True)
class Popular(LocalSystem):
    """Predicts the class from the noisy length of the list alone."""

    name = "popular"
    epsilon_edges: float = 4.0

    def feature_mechanism(self, population: Population) -> Mechanism:
        return MultiBit.declare(population, epsilon=self.epsilon_features)

    def questions(self, population: Population) -> tuple[Question, ...]:
        return (Question(Length(), DegreeResponse.declare(population, epsilon=self.epsilon_edges)),)

    def fit(self, collected: Collected, *, progress: bool = False) -> Fitted:
        lengths = collected.mechanism("length").estimate(collected.answers["length"].reports).dense()[:, 0]
        labels, train = collected.seen_labels(), collected.train
        centres = np.array([lengths[train & (labels == c)].mean() for c in range(collected.schema.classes)])
        scores = -np.abs(lengths[:, None] - centres).astype(np.float32)
        return Fitted(self.name, collected.guarantee(), scores)


def stars() -> Graph:
    """Hubs are of class 1, everybody else is of class 0."""
    hubs = np.arange(20)
    leaves = np.arange(20, 200)
    edges = np.stack([np.repeat(hubs, 60), np.tile(leaves, 20)[: 20 * 60]])
    graph = social_graph(200, classes=2, features=4, seed=0)
    made = Graph.from_edges(edges, 200).replace(features=graph.features, labels=(np.arange(200) < 20).astype(np.int64))
    schema = replace(graph.schema, private_edges=True)
    return made.replace(schema=schema, split=split_nodes(made, 0.5, 0.25, seed=0))


def test_a_system_can_ask_for_lengths_alone() -> None:
    graph = stars()
    system = Popular(seed=0)
    collected = system.collect(graph)
    assert set(collected.answers) == {"length"}
    assert collected.public.adjacency.nnz == 0  # who is linked with whom stays on the devices
    with pytest.raises(InvalidData, match="private"):
        _ = collected.topology
    fitted = system.fit(collected)
    assert fitted.guarantee == system.guarantee(graph)
    assert (fitted.predict() == graph.labels).mean() > 0.95
    assert Popular.from_release(collected.release, seed=0) == system
