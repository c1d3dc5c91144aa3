"""LPGNN: its steps against dense references, the trust boundary, and that it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from privet.data import Graph, Split, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.graph import LazyFeatures, gcn_operator, kprop
from privet.mechanisms import AnalyticGaussian, Laplace, MultiBit, SeededBits
from privet.models import seeded
from privet.systems import LPGNN, Fitted
from privet.systems.local.lpgnn import KPropNetwork

PRIVATE_LABELS = [None, 2.0]


def make_graph(num_nodes: int = 400, homophily: float = 0.9) -> Graph:
    graph = social_graph(
        num_nodes, classes=3, average_degree=8, homophily=homophily, features=12, feature_signal=0.9, seed=0
    )
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


@pytest.fixture
def graph() -> Graph:
    return make_graph()


def quick(**fields: Any) -> LPGNN:
    return LPGNN(**{"epsilon_features": 2.0, "hops": 4, "max_epochs": 15, "seed": 0, **fields})


def run(system: LPGNN, graph: Graph) -> Fitted:
    return system.fit(system.collect(graph, SeededBits(0)))


@pytest.mark.parametrize("epsilon_labels", PRIVATE_LABELS)
@pytest.mark.parametrize("denoising", ["majority", "posterior"])
def test_fit_is_the_same_without_the_private_fields(graph: Graph, epsilon_labels: float | None, denoising: str) -> None:
    system = quick(epsilon_labels=epsilon_labels, label_denoising=denoising)
    collected = system.collect(graph, SeededBits(0))
    before = system.fit(collected).predict_proba().copy()
    graph.features.data[:] = np.nan
    graph.labels[:] = 10**6
    assert np.array_equal(system.fit(collected).predict_proba(), before)


@pytest.mark.parametrize("epsilon_labels", PRIVATE_LABELS)
def test_fit_cannot_reach_test_labels(graph: Graph, epsilon_labels: float | None) -> None:
    system = quick(epsilon_labels=epsilon_labels)
    changed = np.where(graph.split.test, (graph.labels + 1) % 3, graph.labels)
    other = run(system, graph.replace(labels=changed))
    assert np.array_equal(run(system, graph).predict_proba(), other.predict_proba())


def test_without_validation_reports_training_does_not_depend_on_them(graph: Graph) -> None:
    """What is fitted comes from the training nodes' reports alone."""
    posteriors = []
    for shift in (0, 1):
        labels = np.where(graph.split.validation, (graph.labels + shift) % 3, graph.labels)
        system = quick(epsilon_labels=20.0, validation_reports=False)
        collected = system.collect(graph.replace(labels=labels), SeededBits(0))
        posteriors.append(system._supervision(collected).posterior)
        leaking = quick(epsilon_labels=20.0, validation_reports=True)._supervision(collected).posterior
        assert not torch.equal(posteriors[-1], leaking)
    assert torch.equal(*posteriors)


def test_with_validation_reports_the_last_network_within_the_guard_is_kept(graph: Graph) -> None:
    system = quick(epsilon_labels=2.0, validation_reports=True, max_epochs=7, patience=1)
    assert run(system, graph).best_epoch == 7
    public = quick(validation_reports=True, max_epochs=60, learning_rate=0.1, patience=None)
    assert run(public, make_graph(homophily=0.5)).best_epoch < 60  # public labels are held out all the same


def test_a_network_that_learns_the_noise_is_not_kept() -> None:
    """No edges and raw reports: more epochs only memorise, and the guard stops where the truth would be."""
    graph = make_graph(200, homophily=0.5)
    fields: dict[str, Any] = {"hops": 0, "label_hops": 0, "label_evidence": 1000.0, "hidden_channels": 256}
    system = quick(epsilon_labels=0.5, validation_reports=True, max_epochs=150, batch_norm=False, **fields)
    collected = system.collect(graph, SeededBits(0))
    fitted = system.fit(collected)
    seen, train = collected.seen_labels(), collected.train
    agreement = (fitted.predict()[train] == seen[train]).mean()
    keep = collected.label_response.keep
    assert agreement <= keep + 2 * np.sqrt(keep * (1 - keep) / train.sum())
    assert fitted.best_epoch < 150


def test_it_learns_from_features_and_structure(graph: Graph) -> None:
    fitted = run(quick(epsilon_features=4.0, max_epochs=100), graph)
    assert fitted.score(graph.labels, graph.split.test) > 0.75
    assert fitted.embedding.shape == (400, 16)
    assert fitted.guarantee.epsilon == 4.0


@pytest.mark.parametrize("denoising", ["majority", "posterior"])
def test_it_learns_from_private_labels(denoising: str) -> None:
    graph = make_graph(1000)
    system = quick(epsilon_features=4.0, epsilon_labels=1.0, max_epochs=100, label_denoising=denoising, label_hops=2)
    fitted = run(system, graph)
    assert fitted.score(graph.labels, graph.split.test) > 0.65
    assert fitted.guarantee.epsilon == 5.0


def test_seeds_repeat_and_matter(graph: Graph) -> None:
    system = quick(dropout=0.5)
    collected = system.collect(graph, SeededBits(0))
    first, second = system.fit(collected), system.fit(collected)
    assert np.array_equal(first.predict_proba(), second.predict_proba())
    assert not np.array_equal(first.predict_proba(), quick(dropout=0.5, seed=1).fit(collected).predict_proba())


def test_networks_are_averaged(graph: Graph) -> None:
    collected = quick().collect(graph, SeededBits(0))
    both = quick(networks=2).fit(collected)
    alone = [quick(seed=seed).fit(collected).predict_proba() for seed in quick(networks=2).seeds()]
    np.testing.assert_allclose(both.predict_proba(), np.mean(alone, axis=0), atol=1e-6)
    assert both.embedding.shape == (400, 32)


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gin", "gat"])
@pytest.mark.parametrize("num_layers", [2, 3])
def test_any_backbone_goes_behind_kprop(graph: Graph, backbone: str, num_layers: int) -> None:
    fitted = run(quick(backbone=backbone, num_layers=num_layers, max_epochs=2), graph)
    np.testing.assert_allclose(fitted.predict_proba().sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "kind", "sampled"),
    [
        ("multi-bit", MultiBit, 1),
        ("one-bit", MultiBit, 12),
        ("laplace", Laplace, 1),
        ("analytic-gaussian", AnalyticGaussian, 12),
    ],
)
def test_mechanisms_are_interchangeable(graph: Graph, name: str, kind: type, sampled: int) -> None:
    system = quick(mechanism=name, delta=1e-6, max_epochs=1)
    mechanism = system.feature_mechanism(graph.schema)
    assert type(mechanism) is kind
    assert mechanism.sampled == sampled
    guarantee = run(system, graph).guarantee
    assert guarantee.epsilon == 2.0
    assert guarantee.delta == (1e-6 if kind is AnalyticGaussian else 0.0)


@pytest.mark.parametrize("batch_norm", [True, False])
def test_the_network_is_the_papers_two_layers(graph: Graph, batch_norm: bool) -> None:
    """softmax input = A' SELU(norm(A^K X W + b)) W_2 + b_2, by dense matrices."""
    dense = torch.from_numpy(graph.features.toarray()).float()
    hop, second = (gcn_operator(graph, self_loops=loops).matrix.to_dense() for loops in (False, True))
    with seeded(0):
        network = KPropNetwork(12, 5, 3, batch_norm=batch_norm)
        torch.nn.init.normal_(network.bias)
    x = kprop(LazyFeatures.from_sparse(graph.features), gcn_operator(graph, self_loops=False), 3)
    found = network(x, network.operator(graph))
    hidden = torch.linalg.matrix_power(hop, 3) @ dense @ network.weight + network.bias
    if batch_norm:
        hidden = (hidden - hidden.mean(0)) / (hidden.var(0, correction=0) + 1e-5).sqrt()
    layer = network.layers.layers[0]
    expected = second @ torch.selu(hidden) @ layer.lin.weight.T + layer.bias
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fields", [{"aggregator": "mean"}, {"self_loops": True}, {"hops": 0}, {"batch_norm": False}])
def test_options_change_the_network(graph: Graph, fields: dict[str, Any]) -> None:
    assert not np.array_equal(run(quick(), graph).predict_proba(), run(quick(**fields), graph).predict_proba())


def test_the_network_of_least_validation_loss_is_kept(graph: Graph) -> None:
    """Against every shorter run: the same weights on the way, none with a smaller loss."""
    collected = quick().collect(graph, SeededBits(0))
    held = collected.validation
    losses = {}
    for epochs in (1, 5, 10, 40):
        fitted = quick(max_epochs=epochs, learning_rate=0.05, patience=None).fit(collected)
        chosen = fitted.predict_proba()[held, graph.labels[held]]
        losses[epochs] = -np.log(chosen).mean()
        assert fitted.best_epoch <= epochs
    assert losses[40] <= losses[10] <= losses[5] <= losses[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mechanism", "rappor"),
        ("aggregator", "max"),
        ("backbone", "cnn"),
        ("label_denoising", "none"),
        ("hops", -1),
        ("label_hops", -1),
        ("num_layers", 1),
        ("hidden_channels", 0),
        ("networks", 0),
        ("dropout", 1.0),
        ("label_evidence", 0.0),
        ("learning_rate", 0.0),
        ("weight_decay", -1.0),
        ("max_epochs", 0),
        ("patience", 0),
        ("epsilon_features", 0.0),
        ("epsilon_labels", -1.0),
    ],
)
def test_bad_parameters_are_named_in_one_sentence(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} must be .*, not .*\.$"):
        LPGNN(**{name: value})


def test_a_split_without_validation_nodes_is_refused(graph: Graph) -> None:
    nobody = np.zeros(graph.num_nodes, dtype=bool)
    split = Split(graph.split.train, nobody, ~graph.split.train)
    system = quick()
    collected = system.collect(graph.replace(split=split), SeededBits(0))
    with pytest.raises(InvalidData, match=r"some for training and some for validation; it has 200 and 0"):
        system.fit(collected)
