from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.data import Graph, Schema, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import HDS, AffineFeatures, SeededBits
from privet.systems import Fitted, PrivGE
from privet.systems.controls import non_private
from privet.systems.local.privge import standardised

FAST = {"hidden_channels": 16, "max_epochs": 30, "patience": 10, "seed": 0}


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(400, classes=3, average_degree=10, homophily=0.9, features=24, seed=1)
    return made.replace(split=split_nodes(made, 0.5, 0.25, seed=1))


def copied(graph: Graph) -> Graph:
    return graph.replace(features=graph.features.copy(), labels=graph.labels.copy())


def dense_embedding(x: np.ndarray, adjacency: np.ndarray, alpha: float, r: float, terms: int) -> np.ndarray:
    degrees = np.maximum(adjacency.sum(axis=1), 1)
    step = np.diag(degrees ** (r - 1)) @ adjacency @ np.diag(degrees ** (-r))
    return sum(alpha * (1 - alpha) ** hop * np.linalg.matrix_power(step, hop) @ x for hop in range(terms))


@pytest.mark.parametrize(
    ("mechanism", "epsilon_labels"),
    [("hds", None), ("hds", 4.0), ("laplace", None), ("multi-bit", None), ("piecewise", None)],
)
def test_learns_more_than_chance(graph: Graph, mechanism: str, epsilon_labels: float | None) -> None:
    system = PrivGE(mechanism=mechanism, epsilon_features=8.0, epsilon_labels=epsilon_labels, sample=8, **FAST)
    fitted = system.fit(system.collect(graph, SeededBits(0)))
    assert fitted.score(graph.labels, graph.split.test) > 0.6  # a third by chance
    assert fitted.guarantee.epsilon == 8.0 + (epsilon_labels or 0.0)
    assert fitted.embedding.shape == (400, 16)


def test_nothing_private_is_read_after_collection(graph: Graph) -> None:
    mine = copied(graph)
    system = PrivGE(**FAST)
    collected = system.collect(mine, SeededBits(0))
    first = system.fit(collected)
    mine.features.data[:] = np.nan
    mine.labels[:] = 0
    assert np.array_equal(first.probabilities, system.fit(collected).probabilities)


def test_labels_of_test_nodes_are_out_of_reach(graph: Graph) -> None:
    system = PrivGE(**FAST)
    other = np.where(graph.split.test, (graph.labels + 1) % 3, graph.labels)
    fits = [system.fit(system.collect(g, SeededBits(0))) for g in (graph, graph.replace(labels=other))]
    assert np.array_equal(fits[0].probabilities, fits[1].probabilities)
    assert np.array_equal(fits[0].embedding, fits[1].embedding)


@pytest.mark.parametrize("batch_size", [None, 32])
def test_a_seed_repeats_and_another_does_not(graph: Graph, batch_size: int | None) -> None:
    system = PrivGE(batch_size=batch_size, **{**FAST, "max_epochs": 5})
    collected = system.collect(graph, SeededBits(0))
    first, again, other = (each.fit(collected).probabilities for each in (system, system, replace(system, seed=1)))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_mini_batches_learn(graph: Graph) -> None:
    system = PrivGE(batch_size=50, **{**FAST, "max_epochs": 10})
    fitted = system.fit(system.collect(graph, SeededBits(0)))
    assert fitted.score(graph.labels, graph.split.test) > 0.6


@given(
    alpha=st.floats(0.1, 0.9),
    r=st.floats(0, 1),
    sample=st.integers(1, 6),
    centring=st.sampled_from(["mean", "middle"]),
    seed=st.integers(0, 99),
)
def test_the_embedding_is_equation_12_on_standardised_reports(
    alpha: float, r: float, sample: int, centring: str, seed: int
) -> None:
    graph = social_graph(30, classes=2, average_degree=4, features=6, seed=seed)
    system = PrivGE(alpha=alpha, r=r, sample=sample, centring=centring, tolerance=1e-6, scale=0.5)
    collected = system.collect(graph, SeededBits(seed))
    x = collected.estimate().dense()
    x = x - (x.mean(axis=0) if centring == "mean" else 0.5)
    x *= 0.5 / np.sqrt(np.mean(x**2))
    if centring == "mean":
        x = np.column_stack([x, np.full(30, 0.5)])  # the constant's column
    expected = dense_embedding(x, graph.adjacency.toarray(), alpha, r, 200)
    assert np.allclose(system.embed(collected).dense().numpy(), expected, atol=2e-4)


def test_standardised_reports_do_not_depend_on_the_estimate_being_unbiased() -> None:
    schema = Schema.numeric(4, low=[0.0, -1.0, 2.0, 0.0], high=[1.0, 1.0, 6.0, 10.0])
    mechanism = HDS.declare(schema, epsilon=1.0, sample=2)
    values = np.random.default_rng(0).uniform(schema.low, schema.high, size=(50, 4))
    reports = mechanism.perturb(values, SeededBits(0))
    raw, unbiased = (standardised(form(reports), schema) for form in (mechanism.raw_output, mechanism.estimate))
    assert torch.allclose(raw.dense(), unbiased.dense(), atol=1e-5)
    assert raw.dense()[:, :4].std().item() == pytest.approx(1.0, abs=0.01)


def test_constant_features_stay_finite() -> None:
    constant = AffineFeatures(sp.csr_array(np.ones((5, 2))), np.ones(2), np.zeros(2))
    assert torch.equal(standardised(constant, Schema.numeric(2, 0.0, 1.0)).dense(), torch.tensor([[0.0, 0.0, 1.0]] * 5))


def test_raw_features_are_an_upper_bound(graph: Graph) -> None:
    system = PrivGE(**FAST)
    bound = non_private(system, graph, SeededBits(0))
    assert bound.guarantee is None
    assert bound.score(graph.labels, graph.split.test) > 0.85


def test_the_embedding_is_saved_and_the_model_comes_back(graph: Graph, tmp_path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    system = PrivGE(**FAST)
    fitted = system.fit(system.collect(graph, SeededBits(0)))
    fitted.save(tmp_path / "model")
    fitted.save_embedding(tmp_path / "z.parquet")
    assert np.array_equal(Fitted.load(tmp_path / "model").probabilities, fitted.probabilities)
    assert np.array_equal(pq.read_table(tmp_path / "z.parquet")["z3"].to_numpy(), fitted.embedding[:, 3])


@pytest.mark.parametrize(
    "wrong",
    [
        {"mechanism": "gaussian"},
        {"centring": "median"},
        {"activation": "tanh"},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"tolerance": 0.0},
        {"r": 1.5},
        {"dropout": 1.0},
        {"sample": 0},
        {"hidden_channels": 0},
        {"num_layers": 0},
        {"batch_size": 0},
        {"folds": 0},
        {"scale": 0.0},
        {"epsilon_features": 0.0},
        {"epsilon_labels": -1.0},
        {"learning_rate": 0.0},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_wrong_parameters_are_refused_in_one_sentence(wrong: dict) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{next(iter(wrong))} must be"):
        PrivGE(**wrong)


def test_a_graph_without_labels_cannot_be_classified(graph: Graph) -> None:
    system = PrivGE(**FAST)
    collected = system.collect(graph.replace(labels=None, split=None), SeededBits(0))
    with pytest.raises(InvalidData, match="no split into training, validation and test nodes"):
        system.fit(collected)
