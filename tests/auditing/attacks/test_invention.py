from __future__ import annotations

import numpy as np
from village import village

from privet.auditing.attacks.coalition import Coalition
from privet.auditing.attacks.invention import false_input
from privet.systems import Solitude

LIARS = np.arange(0, 60, 4)


def test_a_false_person_has_the_data_of_another_class() -> None:
    graph = village()
    coalition = Coalition.of(graph, Solitude().release(graph), LIARS)
    wanted, places = (coalition.own + 1) % 3, np.arange(len(LIARS))
    found = false_input(coalition, wanted, places, np.random.default_rng(0))
    assert found.labels.tolist() == wanted.tolist()
    named = coalition.labels[found.neighbours.indices]
    rows = np.repeat(places, np.diff(found.neighbours.indptr))
    assert (named == wanted[rows]).all()
    features, told = graph.features.toarray(), found.features.toarray()
    for row, each in enumerate(wanted):
        members = features[LIARS[coalition.own == each]]
        assert (members == told[row]).all(axis=1).any()


def test_invented_friends_come_beside_the_own_ones() -> None:
    graph = village()
    coalition = Coalition.of(graph, Solitude().release(graph), LIARS)
    own, places = coalition.private, np.arange(len(LIARS))
    found = false_input(coalition, (coalition.own + 1) % 3, places, np.random.default_rng(0), 5)
    assert (np.diff(found.neighbours.indptr) > np.diff(own.neighbours.indptr)).all()
    assert found.neighbours.multiply(own.neighbours).nnz == own.neighbours.nnz
    assert found.labels.tolist() == own.labels.tolist()
