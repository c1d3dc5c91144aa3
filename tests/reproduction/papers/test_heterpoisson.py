from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Graph, social_graph
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.mechanisms.analytic_gaussian import analytic_sigma
from privet.reproduction.papers.heterpoisson import CANARIES, KEPT, PRECISION, TABLES
from privet.reproduction.papers.heterpoisson.measures import (
    BOUND,
    EMBEDDING,
    OverlappingHeterPoisson,
    embedding_bound,
    embeddings,
    macro_precision,
    measure_canaries,
    measure_impact,
)
from privet.systems import GAP, HeterPoisson, PrivateMLP
from privet.systems.central._training_view import TrainingView


def made(name: str) -> Graph:
    return next(table for table in TABLES if table.name == name).made()


def figure(measure, column, system, graph: Graph, seed: int, **protocol) -> float:
    return measure.figure(column, system, measure.view(system, graph, seed, protocol), seed, protocol).test


@pytest.mark.parametrize("backbone", ["gcn", "gin", "sage"])
def test_more_listeners_mean_more_impact(backbone: str) -> None:
    system, graph = HeterPoisson(noise_multiplier=0.0, backbone=backbone), made("heterpoisson-fig1")
    means = [
        np.mean([measure_impact("private", system, graph, seed, share=share) for seed in range(8)])
        for share in (0.1, 0.5, 1.0)
    ]
    assert means[0] < means[1] < means[2]


def test_a_node_to_whom_nobody_listens_still_has_its_own_loss() -> None:
    system, graph = HeterPoisson(noise_multiplier=0.0), made("heterpoisson-fig1")
    alone = measure_impact("private", system, graph, 0, share=0.0)
    assert 0 < alone == measure_impact("private", system, graph, 0, share=0.0)


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="heterpoisson"):
        measure_impact("private", PrivateMLP(noise_multiplier=1.0), made("heterpoisson-fig1"), 0)
    with pytest.raises(InvalidData, match="schema"):
        measure_impact("private", HeterPoisson(noise_multiplier=0.0), Graph.from_edges([[0], [1]], num_nodes=2), 0)


SYSTEM = HeterPoisson(target_epsilon=4.0, batch_size=4096, epochs=1.0)


@pytest.mark.parametrize("kind", [each.key for each in CANARIES.columns(None)])
def test_audit_and_attack(kind: str) -> None:
    graph = made("heterpoisson-fig8")
    audited = measure_canaries(kind, SYSTEM, graph, 0, what="audit", runs=600)
    assert 0 <= audited <= 4.0 or kind == "sml"  # 95 % confidence each; the seed is fixed
    guessed = measure_canaries(kind, SYSTEM, graph, 0, what="attack", runs=600)
    assert 50 <= guessed <= 100
    if kind == "claim":
        assert audited == 4.0
        assert guessed == pytest.approx(100 / (1 + math.exp(-4)), abs=0.01)
    assert guessed == measure_canaries(kind, SYSTEM, graph, 0, what="attack", runs=600)


def test_a_target_is_needed() -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        measure_canaries("private", HeterPoisson(noise_multiplier=1.0), made("heterpoisson-fig8"), 0)


def test_noise_is_calibrated_for_its_own_accountant(graph: Graph) -> None:
    plain = {"target_epsilon": 2.0, "batch_size": 60, "epochs": 2.0, "hidden_channels": 8, "multiplier": 1.0}
    kept, removed = OverlappingHeterPoisson(**plain), HeterPoisson(**plain)
    nodes = graph.num_nodes
    assert kept.noise_multiplier_for(nodes) > removed.noise_multiplier_for(nodes)
    assert kept.guarantee(graph).epsilon <= 2.0
    view = TrainingView.of(graph, "test")
    assert kept.sampler(view).keep_central
    assert not removed.sampler(view).keep_central
    column = next(each for each in KEPT.columns(removed) if each.key == "overlap")
    assert 0.1 < figure(KEPT, column, removed, graph, 0) <= 1


QUICK = HeterPoisson(target_epsilon=4.0, batch_size=40, epochs=1.0, hidden_channels=8, multiplier=0.0)


def test_precision_is_the_mean_over_classes() -> None:
    predicted, labels = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 1, 2])
    assert macro_precision(predicted, labels, 3) == pytest.approx((2 / 4 + 1 + 1) / 3)
    assert macro_precision(predicted, labels, 4) == pytest.approx((2 / 4 + 1 + 1) / 4)  # class 3 is never predicted


def test_theorem_3_gives_the_papers_printed_bounds() -> None:
    assert round(100 * embedding_bound(2.0, 13_752**-1.1, 10), 1) == 45.1  # amazon
    assert round(100 * embedding_bound(2.0, 19_717**-1.1, 3), 1) == 78.7  # pubmed
    assert embedding_bound(0.0, 0.0, 4) == 0.25


@pytest.mark.parametrize("column", PRECISION.columns(QUICK), ids=lambda column: column.key)
def test_every_column_has_a_precision(column, graph: Graph) -> None:
    found = figure(PRECISION, column, QUICK, graph.replace(split=None), 1)
    assert 0 < found <= 1
    if column is BOUND:
        assert found == pytest.approx(math.exp(4) / (2 + math.exp(4)), abs=1e-2)


def test_the_bound_needs_an_epsilon(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        BOUND.fit(HeterPoisson(noise_multiplier=1.0), graph, 0)


EMBEDDED = GAP(target_epsilon=2.0, delta="paper", hidden_channels=8, max_degree=3)


def test_noise_is_that_of_two_sums_of_unit_vectors(graph: Graph) -> None:
    """14,400 draws: the deviation is known to 0.6 %, so a correct program fails with probability below 1e-9."""
    many = replace(graph, features=sp.csr_array(graph.features.shape, dtype=np.float32), split=None)
    drawn = np.concatenate([embeddings(EMBEDDED, many, SeededBits(seed)).ravel() for seed in range(5)])
    expected = 2 * 4 * analytic_sigma(2.0, graph.num_nodes**-1.1)
    assert drawn.std() == pytest.approx(expected, rel=0.04)


def test_without_noise_the_aggregation_is_bounded(graph: Graph) -> None:
    exact = embeddings(replace(EMBEDDED, target_epsilon=1e6), graph, SeededBits(0))
    assert np.linalg.norm(exact, axis=1).max() <= 4 + 1e-2  # at most 3 neighbours and the node itself


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_theorem_3_holds_of_an_easy_graph(epsilon: float) -> None:
    easy = social_graph(600, classes=4, homophily=0.95, features=40, feature_signal=1.0, seed=0)
    system = HeterPoisson(target_epsilon=epsilon, delta="paper", hidden_channels=16)
    found = figure(PRECISION, EMBEDDING, system, easy, 0)
    bound = embedding_bound(epsilon, 600**-1.1, 4)
    assert found < bound + 3 * math.sqrt(0.25 / 120)  # 120 test nodes: three standard errors of a share


def test_embeddings_need_an_epsilon_and_features(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        embeddings(GAP(noise_multiplier=1.0), graph, SeededBits(0))
    with pytest.raises(InvalidData, match="features"):
        embeddings(EMBEDDED, graph.replace(features=None), SeededBits(0))
