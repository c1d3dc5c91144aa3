"""RGNN end to end on synthetic graphs: the trust boundary, what it learns, its options and its errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from privet.data import Graph, Schema, group_columns, social_graph, split_nodes
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.systems import RGNN, Fitted
from privet.systems.local.rgnn import _Labels, _standardised
from privet.systems.presets import prepared, preset

QUICK = RGNN(epsilon_features=10.0, epsilon_labels=2.0, max_epochs=8, hops=4, clusters=4, seed=0)
EXTENDED = replace(QUICK, input_label_hops=4, soft_labels=True, validation_reports=True)


def community_graph(nodes: int = 300, seed: int = 0) -> Graph:
    graph = social_graph(nodes, classes=3, average_degree=12.0, homophily=0.95, features=60, seed=seed)
    return group_columns(graph, 3).replace(split=split_nodes(graph, 0.5, 0.25, seed=seed))


def fit(system: RGNN, graph: Graph, seed: int = 0) -> Fitted:
    return system.fit(system.collect(graph, SeededBits(seed)))


def same(a: Fitted, b: Fitted) -> bool:
    return np.array_equal(a.probabilities, b.probabilities)


@pytest.mark.parametrize("system", [QUICK, EXTENDED, replace(EXTENDED, epsilon_labels=None)])
def test_fit_does_not_reach_private_fields(system: RGNN) -> None:
    graph = community_graph()
    expected = fit(system, graph)
    collected = system.collect(graph, SeededBits(0))
    graph.features.data[:] = np.nan
    private = ~(graph.split.train | graph.split.validation) if system.epsilon_labels is None else slice(None)
    graph.labels.flags.writeable = True
    graph.labels[private] = 77
    assert same(system.fit(collected), expected)


@pytest.mark.parametrize("system", [QUICK, EXTENDED, replace(EXTENDED, epsilon_labels=None)])
def test_fit_does_not_reach_test_labels(system: RGNN) -> None:
    graph = community_graph()
    labels = np.where(graph.split.test, (graph.labels + 1) % 3, graph.labels)
    assert same(fit(system, graph.replace(labels=labels)), fit(system, graph))


def test_validation_reports_train_only_if_asked() -> None:
    graph = community_graph()
    collected = QUICK.collect(graph, SeededBits(0))
    held = np.flatnonzero(collected.validation)
    labels = _Labels.of(collected, train_on_validation=False)
    assert not np.isin(labels.fitted, held).any()
    assert (labels.visible[held] == -1).all()
    both = _Labels.of(collected, train_on_validation=True)
    assert np.isin(held, both.fitted).all()
    assert torch.equal(both.visible, both.seen)


@pytest.mark.parametrize("options", [{}, {"input_label_hops": 4, "soft_labels": True, "validation_reports": True}])
@pytest.mark.parametrize("epsilon_labels", [None, 2.0])
def test_learns_a_homophilous_graph(options: dict[str, object], epsilon_labels: float | None) -> None:
    graph = community_graph(600)
    system = replace(QUICK, epsilon_labels=epsilon_labels, clusters=8, max_epochs=60, **options)
    assert fit(system, graph).score(graph.labels, graph.split.test) > 0.75  # chance is 1/3


@pytest.mark.parametrize("backbone", ["gat", "gcn", "gin", "sage"])
@pytest.mark.parametrize("fill", ["none", "uniform"])
def test_every_backbone_and_fill_runs(backbone: str, fill: str) -> None:
    result = fit(replace(QUICK, backbone=backbone, fill=fill), community_graph())
    assert result.probabilities.shape == (300, 3)
    assert result.embedding.shape == (300, 16)
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("system", [replace(QUICK, keep_best=True), EXTENDED])
def test_a_seed_repeats_bit_for_bit(system: RGNN) -> None:
    graph = community_graph()
    first = fit(system, graph)
    torch.rand(3)  # the global generator does not matter
    assert same(first, fit(system, graph))
    assert not same(first, fit(replace(system, seed=1), graph))


def test_without_a_seed_runs_differ() -> None:
    graph, system = community_graph(), replace(EXTENDED, seed=None)
    assert not same(fit(system, graph), fit(system, graph))


def test_the_guarantee_is_the_true_one_beside_the_published_one() -> None:
    result = fit(QUICK, community_graph())
    assert result.guarantee.epsilon == 12.0
    published = np.log1p(10 / 20 * np.expm1(10.0)) + 2.0
    assert result.guarantee.published_epsilon == pytest.approx(published)
    assert QUICK.epsilon_per_feature == 1.0


def test_fewer_features_than_the_sample_are_all_answered() -> None:
    mechanism = QUICK.feature_mechanism(Population.of(group_columns(community_graph(), 5)))
    assert mechanism.dimension == mechanism.sample == 4
    assert mechanism.epsilon == 10.0


def test_propagated_labels_are_inputs_that_a_fold_is_fitted_without() -> None:
    system = replace(QUICK, input_label_hops=3)
    collected = system.collect(community_graph(), SeededBits(0))
    whole, folds = system._inputs(torch.zeros(300, 2), _Labels.of(collected, train_on_validation=False), collected)
    assert sorted(torch.cat([nodes for _, nodes in folds]).tolist()) == np.flatnonzero(collected.train).tolist()
    for seen, _ in folds:
        assert whole.shape == seen.shape == (300, 5)
        assert not torch.equal(whole, seen)


def test_the_epoch_is_chosen_by_validation_reports_or_is_the_last() -> None:
    graph = community_graph()
    assert fit(QUICK, graph).best_epoch == 8
    # At this rate the second epoch is far off already; its likelihood is what says so.
    wild = replace(QUICK, keep_best=True, learning_rate=30.0)
    assert fit(wild, graph).best_epoch < 8
    collected = QUICK.collect(graph, SeededBits(0))
    labels = _Labels.of(collected, train_on_validation=False)
    chances = torch.full((300, 3), 1 / 3)
    assert float(labels.validation_loss(chances.log())) == pytest.approx(np.log(3), rel=1e-5)
    certain = torch.nn.functional.one_hot(labels.seen.clamp(min=0), 3) * 100.0
    keep = collected.label_response.keep
    assert float(labels.validation_loss(certain)) == pytest.approx(-np.log(keep), rel=1e-4)


def test_validation_reports_cannot_both_train_and_choose() -> None:
    with pytest.raises(InvalidParameter, match="keep_best must be False where"):
        RGNN(keep_best=True, validation_reports=True)
    graph = community_graph()
    split = replace(graph.split, train=graph.split.train | graph.split.validation, validation=graph.split.test & False)
    with pytest.raises(InvalidData, match="no validation node"):
        fit(replace(QUICK, keep_best=True), graph.replace(split=split))
    assert fit(QUICK, graph.replace(split=split)).validation_score is None


def test_standardised_columns() -> None:
    x = torch.tensor([[1.0, 5.0], [3.0, 5.0]])
    assert torch.equal(_standardised(x, x), torch.tensor([[-1.0, 0.0], [1.0, 0.0]]))


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("fill", "zeros", "one of uniform, none"),
        ("backbone", "mlp", "one of gat, gcn, gin, sage"),
        ("sample", 0, "an integer of at least 1"),
        ("hops", -1, "an integer of at least 0"),
        ("label_hops", -1, "an integer of at least 0"),
        ("input_label_hops", -1, "an integer of at least 0"),
        ("clusters", 0, "an integer of at least 1"),
        ("hidden_channels", 0, "an integer of at least 1"),
        ("dropout", 1.0, "at least 0 and below 1"),
        ("alpha", float("nan"), "a finite number of at least 0"),
        ("epsilon_features", 0.0, "a finite number above 0"),
        ("epsilon_labels", -1.0, "a finite number above 0"),
        ("max_grad_norm", 0.0, "a number above 0"),
        ("max_epochs", 0, "an integer of at least 1"),
    ],
)
def test_bad_settings_are_one_sentence(field: str, value: object, expected: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"{field} must be {expected}"):
        RGNN(**{field: value})


def test_features_must_be_categorical_and_training_nodes_labelled() -> None:
    graph = social_graph(50, classes=3, features=12, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    with pytest.raises(InvalidData, match=r"RGNN needs categorical features.*group_columns"):
        QUICK.collect(graph, SeededBits(0))
    grouped = group_columns(graph, 1)
    with pytest.raises(InvalidData, match="no training node whose class is known"):
        fit(QUICK, grouped.replace(labels=np.where(graph.split.train, -1, graph.labels)))


@pytest.mark.parametrize("condition", [None, "noisy_labels"])
@pytest.mark.parametrize("dataset", ["cora", "citeseer", "dblp", "facebook", "german", "student"])
def test_published_settings_are_settings(dataset: str, condition: str | None) -> None:
    assert RGNN(**preset("rgnn", dataset, condition)).sample == 10
    zeros = sp.csr_array((4, 140), dtype=np.float32)
    graph = Graph.from_edges([[0], [1]], 4).replace(features=zeros, schema=Schema.numeric(140, 0.0, 1.0))
    assert all(count >= 2 for count in prepared(graph, "rgnn", dataset).schema.categories)  # columns become categories
