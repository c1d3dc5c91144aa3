"""Axes of unprotected features: they depend on nobody else, and one row's coordinates on no other row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from random_graphs import random_graph, without_node

from privet.data import Graph, public_projection, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.systems import SYSTEMS
from privet.systems.central._base import CentralSystem
from privet.systems.central._public_axes import PublicAxes
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.central.private_mlp import PrivateMLP

CENTRAL = {name: kind for name, kind in SYSTEMS.items() if kind.model == "central"}


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(300, classes=3, average_degree=6, homophily=0.8, features=20, seed=0)
    return made.replace(split=split_nodes(made, 0.6, 0.1, seed=0))


def small(kind: type[CentralSystem], **changes: Any) -> CentralSystem:
    settings = {"noise_multiplier": 0.0, "batch_size": 80, "epochs": 1, "hidden_channels": 8, "seed": 3, **changes}
    return kind(**settings)


@pytest.mark.parametrize("width", [3, 7, 30])
def test_they_are_the_principal_axes_of_standardised_rows(width: int) -> None:
    rows = np.random.default_rng(0).normal(size=(25, 7)).astype(np.float32) * np.arange(1, 8, dtype=np.float32)
    rows[:, 0] += 20
    scaled = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    centred = scaled - scaled.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    axes = PublicAxes.of(rows, width)
    found = axes.coordinates(rows)
    kept = min(width, 7)
    assert found.shape == (25, kept)
    np.testing.assert_allclose(np.abs(found), np.abs(left * sizes)[:, :kept], atol=2e-4)
    sparse = PublicAxes.of(sp.csr_array(rows), width).coordinates(sp.csr_array(rows))
    np.testing.assert_allclose(np.abs(sparse), np.abs(found), atol=2e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_no_bit_of_another_row_or_of_the_axes_depends_on_a_training_node(sparse: bool) -> None:
    """Node 0 leaves, or comes with other features: all else stays as it is, to the bit."""
    graph = random_graph(np.random.default_rng(3), 40)
    other = graph.features.copy()
    other[0] = 1e3 * np.arange(4)
    changed = graph.replace(features=other)
    views = []
    for each in (graph, without_node(graph, 0), changed):
        given = each.replace(features=sp.csr_array(each.features)) if sparse else each
        views.append(small(PrivateMLP, axes=2).view(given))
    for view in views[1:]:
        assert np.array_equal(view.axes.directions, views[0].axes.directions)
        assert np.array_equal(view.features[1:], views[0].features[1:])
    assert not np.array_equal(views[2].features[0], views[0].features[0])


def test_axes_do_not_read_labels_and_do_read_unprotected_features(graph: Graph) -> None:
    features = graph.features.toarray()
    system = small(PrivateMLP, axes=4)
    relabelled = graph.replace(labels=(graph.labels + 1) % 3)
    assert np.array_equal(system.view(graph).features, system.view(relabelled).features)
    features[graph.split.test] = 1 - features[graph.split.test]
    moved = system.view(graph.replace(features=features))
    assert not np.array_equal(system.view(graph).axes.directions, moved.axes.directions)


@pytest.mark.parametrize("kind", CENTRAL.values(), ids=CENTRAL)
def test_every_central_system_trains_on_axes_and_applies_to_another_graph(kind: Any, graph: Graph) -> None:
    system = small(kind, axes=4)
    fitted = system.fit(graph)
    assert fitted.weights["axes.directions"].shape == (20, 4)
    bare = graph.replace(split=None)
    assert np.isfinite(system.apply(fitted, bare)).all()
    with pytest.raises(InvalidData, match="as wide as the training graph"):
        system.apply(fitted, bare.replace(schema=None, features=np.ones((300, 5), np.float32)))
    wide = replace(system, axes=20)
    assert "axes.directions" not in wide.fit(graph).weights  # there is nothing to reduce


def test_an_inductive_training_does_not_read_them(graph: Graph) -> None:
    """The columns are then those of the public projection."""
    system = small(HeterPoisson, axes=4, setting="inductive")
    view = system.view(graph)
    assert view.axes is None
    assert np.array_equal(view.features, public_projection(graph, 4).features)
    assert system.apply(system.fit(graph), graph.replace(split=None)).shape == (300, 3)


def test_constant_rows_and_bad_widths() -> None:
    flat = np.ones((6, 4), np.float32)
    assert np.isfinite(PublicAxes.of(flat, 2).coordinates(flat)).all()
    with pytest.raises(InvalidParameter, match="axes must be"):
        small(PrivateMLP, axes=-1)
