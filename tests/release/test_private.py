from __future__ import annotations

import numpy as np
import pytest
from random_releases import NODES, POPULATIONS, people

from privet.data import social_graph
from privet.errors import InvalidData
from privet.release import PrivateData


def test_private_values_do_not_reach_a_log() -> None:
    secret = PrivateData.one(3, NODES, [0.123456], 2, [7])
    assert repr(secret) == str(secret) == "PrivateData(1 people)"
    assert "0.123456" not in f"{secret!r} {[secret]} { ({'a': secret}) }"


def test_a_graphs_rows_are_its_peoples_data() -> None:
    graph = social_graph(30, features=5, seed=0)
    some = PrivateData.of(graph, np.array([4, 9]))
    assert some.users.tolist() == [4, 9]
    assert np.array_equal(some.features.toarray(), graph.features[[4, 9]].toarray())
    assert np.array_equal(some.labels, graph.labels[[4, 9]])
    assert np.array_equal(some.neighbours.toarray(), graph.adjacency[[4, 9]].toarray())
    assert len(PrivateData.of(graph)) == 30


def test_one_person_is_a_row_of_the_same_form() -> None:
    whole = people(POPULATIONS["numeric"], 1)
    row = whole.take(np.array([2]))
    alone = PrivateData.one(2, NODES, row.features[0], int(row.labels[0]), row.neighbours.indices[::-1].tolist())
    assert np.array_equal(alone.features, row.features)
    assert np.array_equal(alone.labels, row.labels)
    assert np.array_equal(alone.neighbours.toarray(), row.neighbours.toarray())
    repeated = PrivateData.one(2, NODES, None, None, [5, 5, 1])
    assert repeated.neighbours.indices.tolist() == [1, 5]
    assert repeated.features is None
    assert repeated.labels is None


@pytest.mark.parametrize("neighbours", [[1.7], ["5"], [[1, 2]], [True]])
def test_neighbours_are_ids(neighbours: list) -> None:
    with pytest.raises(InvalidData, match="a list of ids"):
        PrivateData.one(2, NODES, None, None, neighbours)
