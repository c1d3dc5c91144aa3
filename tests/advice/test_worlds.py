from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.advice.topology import stated_topology
from privet.advice.worlds import (
    HOMOPHILY,
    SIGNAL,
    World,
    edge_homophily,
    planted_features,
    planted_labels,
    worlds,
)
from privet.data import Categories, Graph, Interval, Schema

MIXED = Schema((Interval(-3.0, 5.0), Categories(4), Interval(0.0, 0.1), Categories(2)), classes=3)


@pytest.fixture(scope="module")
def topology() -> Graph:
    return stated_topology(600, 8.0).graph


@given(st.integers(0, 10_000), st.floats(0, 1), st.floats(-1e3, 1e3), st.floats(1e-2, 1e6))
def test_features_are_of_the_declared_schema(seed: int, signal: float, low: float, width: float) -> None:
    schema = Schema((*MIXED.features, Interval(low, low + width)), classes=3)
    rng = np.random.default_rng(seed)
    features = planted_features(rng.integers(3, size=50), schema, signal, rng)
    assert (features >= schema.low).all()
    assert (features <= schema.high).all()
    for column in (1, 3):
        assert (features[:, column] == np.round(features[:, column])).all()


def test_the_signal_is_the_share_that_the_class_decides() -> None:
    """A category of 4 is the class's own with chance s + (1 - s) / 4; 4 standard deviations: 1 alarm in 15,000."""
    rng = np.random.default_rng(0)
    labels = np.zeros(20_000, dtype=np.int64)
    for signal in SIGNAL.values():
        column = planted_features(labels, MIXED, signal, rng)[:, 1]
        chance = signal + (1 - signal) / 4
        most = np.bincount(column.astype(int)).max() / len(labels)
        assert abs(most - chance) < 4 * np.sqrt(chance * (1 - chance) / len(labels))


def test_classes_follow_communities_as_much_as_they_should(topology: Graph) -> None:
    rng = np.random.default_rng(1)
    shares = [
        edge_homophily(topology.replace(labels=planted_labels(topology, 4, keep, rng))) for keep in (0.0, 0.5, 1.0)
    ]
    assert shares[0] == pytest.approx(0.25, abs=0.06)
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.6


def test_all_classes_occur_and_a_draw_repeats(topology: Graph) -> None:
    world = World("high", "weak")
    one, two, other = (world.people(topology, MIXED, seed) for seed in (3, 3, 4))
    assert np.array_equal(np.unique(one.labels), [0, 1, 2])
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.features, two.features)
    assert not np.array_equal(one.labels, other.labels)
    assert one.split.train.sum() == 300


def test_every_combination_is_a_world() -> None:
    assert len(worlds()) == len(set(worlds())) == len(HOMOPHILY) * len(SIGNAL)
