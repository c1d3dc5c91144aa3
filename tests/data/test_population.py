from __future__ import annotations

import pytest

from privet.data import Schema, social_graph
from privet.data.population import Population
from privet.errors import InvalidData


def test_public_facts_are_read_from_anything_that_has_them() -> None:
    graph = social_graph(30, classes=3, features=5, seed=0)
    people = Population.of(graph)
    assert people == Population(graph.schema, 30)
    assert Population.of(people) is people
    assert Population.of(graph.schema) == Population(graph.schema, 0)


def test_nothing_private_is_read() -> None:
    graph = social_graph(30, classes=3, features=5, seed=0)
    bare = graph.replace(features=None, labels=None)
    assert Population.of(bare) == Population.of(graph)


def test_facts_are_plain_values() -> None:
    people = Population(Schema.numeric(2, [0.0, -1.0], [1.0, 4.0], classes=3), 7)
    assert (people.dimension, people.classes) == (2, 3)
    assert (people.low, people.high) == ((0.0, -1.0), (1.0, 4.0))
    assert Population(Schema.categorical([2, 5]), 7).categories == (2, 5)
    with pytest.raises(InvalidData, match="categorical"):
        _ = people.categories


def test_a_graph_without_a_schema_is_refused() -> None:
    graph = social_graph(30, features=5, seed=0)
    for bare in (graph.replace(schema=None), object(), None):
        with pytest.raises(InvalidData, match="has no schema"):
            Population.of(bare)
