from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom, chisquare

from privet.auditing.central.graph_canaries import CanaryGraph, ManyCanaries
from privet.errors import InvalidData, InvalidParameter
from privet.graph.subgraphs import SubgraphSampler
from privet.mechanisms import SeededBits
from privet.privacy.accounting.processes.bounded_degree import BoundedDegree
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson


def process(rate: float = 0.3, multiplier: float = 1.0, steps: int = 1) -> HeterogeneousPoisson:
    return HeterogeneousPoisson(rate=rate, multiplier=multiplier, steps=steps, num_nodes=1000)


def test_canaries_are_planted_in_a_graph_without_touching_its_edges() -> None:
    ring = sp.csr_array(np.roll(np.eye(8, dtype=np.float32), 1, axis=1))
    graph = CanaryGraph.planted(3, 2, ring)
    assert (graph.adjacency[:8, :8] != ring).nnz == 0
    assert np.asarray(graph.listening.sum(axis=1)).ravel().tolist() == [2, 2, 2]
    assert graph.adjacency.shape == (11, 11)


@pytest.mark.parametrize(
    ("edges", "words"), [([(0, 3), (0, 4)], "node 0 listens to both"), ([(3, 4)], "listens to another canary")]
)
def test_canaries_that_could_meet_in_a_subgraph_are_refused(edges: list[tuple[int, int]], words: str) -> None:
    rows, columns = zip(*edges, strict=True)
    adjacency = sp.coo_array((np.ones(len(edges)), (rows, columns)), shape=(5, 5)).tocsr()
    with pytest.raises(InvalidData, match=words):
        CanaryGraph(adjacency, np.array([3, 4]))


@pytest.mark.parametrize(("degree", "multiplier"), [(1, 1.0), (3, 1.0), (2, 2.0), (0, 0.0)])
def test_shifts_follow_the_law_of_the_accountant(degree: int, multiplier: float) -> None:
    """Chi-square of (C, shift) of canaries that take part, with fixed seed; false alarms: 1e-6."""
    rate, count = 0.3, 40_000
    game = ManyCanaries(process(rate, multiplier), 2.0, canaries=count, degree=degree)
    graph = CanaryGraph.planted(count, degree)
    members = np.ones(graph.adjacency.shape[0], dtype=np.bool_)
    sampler = SubgraphSampler(graph.adjacency, members, rate, multiplier)
    central, shift = game._shifts(graph, sampler, SeededBits(5))
    pick = min(1.0, multiplier / degree) if degree else 0.0
    observed, expected = [], []
    for c in range(degree + 1):
        law = {0.5: rate} | {k: (1 - rate) * binom.pmf(k, c, pick) for k in range(c + 1)}
        for value, probability in law.items():
            if probability > 0:
                observed.append(int(((central == c) & (shift == value)).sum()))
                expected.append(count * binom.pmf(c, degree, rate) * probability)
    assert sum(observed) == count
    assert chisquare(observed, expected).pvalue > 1e-6


def test_a_canary_that_stays_out_moves_nothing() -> None:
    graph = CanaryGraph.planted(500, 1)
    members = np.ones(1000, dtype=np.bool_)
    members[graph.canaries[::2]] = False
    _, shift = ManyCanaries(process(), 2.0, canaries=500)._shifts(
        graph, SubgraphSampler(graph.adjacency, members, 0.3), SeededBits(1)
    )
    assert not shift[::2].any()
    assert shift[1::2].any()


@pytest.mark.parametrize("noise", ["gaussian", "sml"])
def test_scores_tell_members_apart_and_average_as_likelihood_ratios(noise: str) -> None:
    """E[ratio | out] = 1 for a ratio of densities (4.9 standard errors: false alarms 1e-6)."""
    played = ManyCanaries(process(steps=2), 4.0, noise, canaries=20_000).play(SeededBits(3))
    members, others = played.scores[played.coins], played.scores[~played.coins]
    assert members.mean() > others.mean() + 3 * members.std() / 100
    ratio = np.exp(others)
    assert abs(ratio.mean() - 1) < 4.9 * ratio.std() / 100 + (
        0.05 if noise == "sml" else 0.0
    )  # SML's scale is estimated


def test_a_game_needs_noise_canaries_and_a_process_that_it_can_play() -> None:
    with pytest.raises(InvalidParameter, match="canaries"):
        ManyCanaries(process(), 1.0, canaries=0)
    with pytest.raises(InvalidParameter, match="noise_multiplier"):
        ManyCanaries(process(), 0.0)
    with pytest.raises(InvalidParameter, match="bounded-degree"):
        ManyCanaries(BoundedDegree(rate=0.5, steps=1, num_nodes=100), 1.0)
    with pytest.raises(InvalidParameter, match="listeners each"):
        CanaryGraph.planted(3, 2, sp.csr_array((5, 5)))
