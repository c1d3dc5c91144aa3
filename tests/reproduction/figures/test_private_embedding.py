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
from privet.reproduction.figures.precision import EMBEDDING, embedding_bound
from privet.reproduction.figures.private_embedding import embeddings
from privet.systems import GAP, HeterPoisson

SYSTEM = GAP(target_epsilon=2.0, delta="paper", hidden_channels=8, max_degree=3)


def test_noise_is_that_of_two_sums_of_unit_vectors(graph: Graph) -> None:
    """14,400 draws: the deviation is known to 0.6 %, so a correct program fails with probability below 1e-9."""
    many = replace(graph, features=sp.csr_array(graph.features.shape, dtype=np.float32), split=None)
    drawn = np.concatenate([embeddings(SYSTEM, many, SeededBits(seed)).ravel() for seed in range(5)])
    expected = 2 * 4 * analytic_sigma(2.0, graph.num_nodes**-1.1)
    assert drawn.std() == pytest.approx(expected, rel=0.04)


def test_without_noise_the_aggregation_is_bounded(graph: Graph) -> None:
    exact = embeddings(replace(SYSTEM, target_epsilon=1e6), graph, SeededBits(0))
    assert np.linalg.norm(exact, axis=1).max() <= 4 + 1e-2  # at most 3 neighbours and the node itself


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_theorem_3_holds_of_an_easy_graph(epsilon: float) -> None:
    easy = social_graph(600, classes=4, homophily=0.95, features=40, feature_signal=1.0, seed=0)
    system = HeterPoisson(target_epsilon=epsilon, delta="paper", hidden_channels=16)
    found = EMBEDDING.measure(EMBEDDING.subject(system), easy, 0)
    bound = embedding_bound(epsilon, 600**-1.1, 4)
    assert found < bound + 3 * math.sqrt(0.25 / 120)  # 120 test nodes: three standard errors of a share


def test_bad_input(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="target epsilon"):
        embeddings(GAP(noise_multiplier=1.0), graph, SeededBits(0))
    with pytest.raises(InvalidData, match="features"):
        embeddings(SYSTEM, graph.replace(features=None), SeededBits(0))
