"""The ceiling is chosen by validation labels, knows no test label, and is no lower than what it is made of."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Graph, Schema, social_graph, split_nodes
from privet.errors import InvalidData
from privet.evaluation.ceiling import ceiling, leading_columns, only_if_highest, scaled_rows, with_neighbours
from privet.evaluation.results import Figures
from privet.systems import Structure
from privet.systems.controls import majority, simulate


def people(homophily: float, signal: float, seed: int = 0, **more: int) -> Graph:
    graph = social_graph(
        600, classes=3, features=24, homophily=homophily, feature_signal=signal, active_features=6, seed=seed, **more
    )
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=seed))


@pytest.fixture(scope="module")
def told_by_features() -> Graph:
    """People whose features tell much and whose edges tell little."""
    return people(0.4, 0.9)


def right(graph: Graph, fitted: object) -> float:
    return float(fitted.score(graph.labels, graph.split.test))  # type: ignore[attr-defined]


def test_where_features_tell_it_reads_them(told_by_features: Graph) -> None:
    found = ceiling(told_by_features, 0)
    assert found.guarantee is None
    assert (
        right(told_by_features, found) > 0.8 > right(told_by_features, simulate(Structure(), told_by_features, 0)) + 0.1
    )


def test_where_only_the_structure_tells_it_is_not_below_it() -> None:
    graph = people(0.85, 0.0)
    found = ceiling(graph, 0)
    assert right(graph, found) > right(graph, simulate(Structure(), graph, 0)) - 0.02 > 0.6


def test_where_both_tell_something_it_is_above_either() -> None:
    """Means over three graphs, where it is 10 points above structure and 6 above features."""
    above = []
    for seed in range(3):
        graph = people(0.6, 0.5, seed)
        without = graph.replace(features=np.zeros((600, 24), dtype=np.float32))
        apart = Graph.from_edges(np.array([[0], [1]]), 600, features=graph.features, labels=graph.labels)
        apart = apart.replace(schema=graph.schema, split=graph.split)
        best = right(graph, ceiling(graph, 0))
        above.append([best - right(graph, ceiling(other, 0)) for other in (without, apart)])
    assert (np.mean(above, axis=0) > 0.035).all()


def test_where_nothing_tells_it_is_the_most_frequent_class() -> None:
    """Labels of which 60 % are of one class, dealt at random; the seed is fixed."""
    graph = people(0.7, 0.7)
    dealt = np.random.default_rng(0).choice(3, size=600, p=[0.6, 0.2, 0.2])
    shuffled = graph.replace(labels=dealt)
    assert right(shuffled, ceiling(shuffled, 0)) > right(shuffled, majority(shuffled)) - 0.03


def test_test_labels_are_out_of_reach(told_by_features: Graph) -> None:
    hidden = told_by_features.replace(labels=np.where(told_by_features.split.test, -1, told_by_features.labels))
    found = [ceiling(graph, 0) for graph in (told_by_features, hidden)]
    np.testing.assert_array_equal(*(each.probabilities for each in found))


def test_the_validation_score_is_of_people_whose_labels_had_no_part(told_by_features: Graph) -> None:
    """Validation labels dealt at random: a model that had learned them would still be right about them."""
    rng, held = np.random.default_rng(0), told_by_features.split.validation
    labels = told_by_features.labels.copy()
    labels[held] = rng.integers(0, 3, held.sum())
    assert ceiling(told_by_features.replace(labels=labels), 0).validation_score < 0.5


def test_without_validation_nodes_some_training_nodes_choose(told_by_features: Graph) -> None:
    central = told_by_features.replace(split=split_nodes(told_by_features, 0.8, 0.0, seed=0))
    assert right(central, ceiling(central, 0)) > 0.7


def test_dense_features_are_scaled_column_by_column(told_by_features: Graph) -> None:
    shifted = np.asarray(told_by_features.features.toarray() * 50.0 + 1000.0, dtype=np.float32)
    wide = told_by_features.replace(schema=None).replace(features=shifted)
    wide = wide.replace(schema=Schema.numeric(24, 1000.0, 1050.0, classes=3))
    assert right(told_by_features, ceiling(wide, 0)) > 0.7


def test_a_graph_without_labels_has_no_ceiling(told_by_features: Graph) -> None:
    with pytest.raises(InvalidData, match="labels"):
        ceiling(told_by_features.replace(labels=None), 0)


@pytest.mark.parametrize(("own", "other", "name"), [(80, 85, "ceiling"), (80, 91, "raw model"), (91, 85, "raw model")])
def test_what_something_else_beats_is_not_called_a_ceiling(own: float, other: float, name: str) -> None:
    controls = {
        "structure": Figures((other - 1.0, other + 1.0)),
        "ceiling": Figures((89.0, 91.0), "ceiling", "the best"),
    }
    found = only_if_highest(controls, Figures((own, own)))
    assert found["ceiling"].short == name
    assert ("best" in found["ceiling"].title) == (name == "ceiling")
    assert found["ceiling"].values == (89.0, 91.0)
    assert only_if_highest({}, Figures((own,))) == {}


def test_sparse_rows_have_length_one_and_empty_ones_stay_empty() -> None:
    rows = scaled_rows(sp.csr_array(np.array([[3.0, 0, 0, 0, 0, 4.0], [0] * 6, [0, 0, 2.0, 0, 0, 0]])))
    np.testing.assert_allclose(np.linalg.norm(rows.toarray(), axis=1), [1, 0, 1], atol=1e-6)


def test_dense_columns_have_one_deviation() -> None:
    rng = np.random.default_rng(0)
    rows = scaled_rows(rng.normal(size=(500, 4)) * [1, 10, 100, 1e-3] + 3)
    np.testing.assert_allclose(rows.toarray().std(axis=0), 0.5, rtol=1e-3)
    assert np.abs(rows.toarray().mean(axis=0)).max() < 2  # none is lost behind its mean


def test_leading_columns_span_what_the_features_differ_in() -> None:
    """Features of rank 3 in 200 columns: three columns tell them all."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(300, 3))
    features = sp.csr_array((hidden @ rng.normal(size=(3, 200))).astype(np.float32))
    found = leading_columns(features, 8, seed=0)
    assert found.shape == (300, 8)
    design = np.column_stack([found[:, :3], np.ones(300)])
    rest = hidden - design @ np.linalg.lstsq(design, hidden, rcond=None)[0]
    assert np.abs(rest).max() < 1e-2


def test_neighbours_are_one_and_two_hops_away() -> None:
    path = np.diag(np.ones(4), 1)
    mean = (path + path.T) / (path + path.T).sum(axis=1, keepdims=True)
    columns = np.array([[1.0], [0], [0], [0], [0]], dtype=np.float32)
    found = with_neighbours(columns, mean)
    assert found.shape == (5, 3)
    assert found[1, 1] == found[:, 1].max()
    assert found[0, 2] == found[:, 2].max()
    assert found[2, 2] > found[1, 2]
