from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import AdjacencyResponse, SeededBits


def ring(nodes: int) -> sp.csr_array:
    here = np.arange(nodes)
    there = (here + 1) % nodes
    ones = np.ones(2 * nodes)
    return sp.csr_array((ones, (np.append(here, there), np.append(there, here))), shape=(nodes, nodes))


@pytest.mark.parametrize("one_sided", [False, True])
def test_flips_have_the_stated_rate_among_edges_and_others(one_sided: bool) -> None:
    """Five standard deviations with a fixed seed; another seed would fail with a chance of 1e-6."""
    nodes = 400
    mechanism = AdjacencyResponse(epsilon=2.0, num_nodes=nodes, one_sided=one_sided)
    true = ring(nodes).toarray() == 1
    reported = mechanism.perturb(ring(nodes), SeededBits(0)).to_sparse().toarray() == 1
    asked = np.triu(np.ones((nodes, nodes), dtype=bool), 1) if one_sided else ~np.eye(nodes, dtype=bool)
    assert not reported[~asked].any()
    q = 1 / (1 + math.exp(2.0))
    for bits in (true & asked, ~true & asked):
        flipped = (reported != true)[bits].mean()
        assert abs(flipped - q) < 5 * math.sqrt(q * (1 - q) / bits.sum())


def test_both_ends_report_independently_and_the_relationship_costs_twice() -> None:
    two = AdjacencyResponse(epsilon=1.0, num_nodes=100)
    assert two.guarantee().relationship_epsilon == 2.0
    assert any("costs an epsilon of 2;" in text for text in two.guarantee().unprotected)
    one = AdjacencyResponse(epsilon=1.0, num_nodes=100, one_sided=True)
    assert one.guarantee().relationship_epsilon == 2.0  # no device can check what the other end is asked
    reported = two.perturb(ring(100), SeededBits(0)).to_sparse().toarray()
    assert (reported != reported.T).any()


def test_some_users_alone_report_like_the_same_rows() -> None:
    mechanism = AdjacencyResponse(epsilon=25.0, num_nodes=30)
    users = np.array([7, 3])
    reports = mechanism.perturb(ring(30)[users], SeededBits(0), users=users)
    assert mechanism.report_key(reports, 0) == (6, 8)
    assert mechanism.report_key(reports, 1) == (2, 4)
    assert mechanism.log_likelihood(reports, ring(30)[users]) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_cost_is_that_of_edges_and_flips() -> None:
    """100,000 nodes have 10^10 bits; nothing of that size is ever made."""
    nodes = 100_000
    mechanism = AdjacencyResponse(epsilon=14.0, num_nodes=nodes)
    reports = mechanism.perturb(ring(nodes), SeededBits(0))
    expected = mechanism.expected_entries(nodes * (nodes - 1), 2 * nodes)
    assert abs(len(reports.indices) - expected) < 6 * math.sqrt(expected)
    assert mechanism.estimate(reports).symbols.nnz == len(reports.indices)
    assert mechanism.variance(ring(nodes)).strides == (0, 0)


def test_a_noisy_graph_that_would_not_fit_is_refused_before_it_is_made() -> None:
    mechanism = AdjacencyResponse(epsilon=1.0, num_nodes=1_000_000)
    with pytest.raises(InvalidParameter, match=r"at least 7\.\d\d for 1000000 nodes .* flips about 268,94\d"):
        mechanism.perturb(sp.csr_array((1_000_000, 1_000_000)), SeededBits(0))
    with pytest.raises(InvalidParameter, match="at most 10 flipped bits"):
        AdjacencyResponse(epsilon=1.0, num_nodes=30).perturb(ring(30), SeededBits(0), max_entries=10)


def test_a_refusal_does_not_depend_on_anybodys_degree() -> None:
    mechanism = AdjacencyResponse(epsilon=6.0, num_nodes=2000)
    row = np.zeros((1, 2000))
    for degree in (0, 5, 6, 1999):
        row[0, 1 : degree + 1] = 1
        mechanism.perturb(row, SeededBits(0), users=[0], max_entries=10)
        with pytest.raises(InvalidParameter, match=r"which flips about 5\.$"):
            mechanism.perturb(row, SeededBits(0), users=[0], max_entries=4)


def test_the_callers_matrix_is_not_touched() -> None:
    unsorted = sp.csr_array((np.ones(2), np.array([2, 1]), np.array([0, 2, 2, 2])), shape=(3, 3))
    AdjacencyResponse(epsilon=1.0, num_nodes=3).perturb(unsorted, SeededBits(0))
    assert unsorted.indices.tolist() == [2, 1]


@pytest.mark.parametrize("values", [np.zeros((3, 4)), np.eye(4), np.full((4, 4), 0.5)])
def test_bad_lists_are_refused(values: np.ndarray) -> None:
    with pytest.raises(InvalidData, match="AdjacencyResponse"):
        AdjacencyResponse(epsilon=1.0, num_nodes=4).perturb(values, SeededBits(0))


def test_bad_parameters_and_reports() -> None:
    with pytest.raises(InvalidParameter, match=r"^num_nodes must be"):
        AdjacencyResponse(epsilon=1.0, num_nodes=1)
    with pytest.raises(InvalidParameter, match="epsilon"):
        AdjacencyResponse(epsilon=0.0, num_nodes=4)
    for users in (np.array([4]), [0.7], [[0]]):
        with pytest.raises(InvalidParameter, match=r"^users must be"):
            AdjacencyResponse(epsilon=1.0, num_nodes=4).perturb(np.zeros((1, 4)), SeededBits(0), users=users)
    both = AdjacencyResponse(epsilon=0.1, num_nodes=9).perturb(np.zeros((9, 9)), SeededBits(0))
    with pytest.raises(InvalidReports, match=r"cannot have sent the report in row 1"):
        AdjacencyResponse(epsilon=0.1, num_nodes=9, one_sided=True).estimate(both)
    with pytest.raises(InvalidReports, match="about 8 nodes"):
        AdjacencyResponse(epsilon=0.1, num_nodes=8).estimate(both)
