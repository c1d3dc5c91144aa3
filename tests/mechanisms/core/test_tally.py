from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.mechanisms import AdjacencyResponse, Counts, NeighbourReports, Reports, SeededBits
from privet.mechanisms.core.tally import Channel, share_p_values, tally_columns, within


@given(st.integers(0, 1000), st.integers(1, 8), st.integers(0, 3))
def test_neighbouring_symbols_are_added_up(seed: int, width: int, reach: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 9, (3, width))
    slow = [[row[max(0, j - reach) : j + reach + 1].sum() for j in range(width)] for row in counts]
    assert (within(counts, reach) == slow).all()


@thorough
@given(st.integers(0, 1000))
def test_a_mixture_of_rows_stays_within_the_bounds(seed: int) -> None:
    channel = Channel(Counts(epsilon=1.0, classes=1, cap=6).likelihood_table(), ordered=True)
    mixed = np.random.default_rng(seed).dirichlet(np.full(7, 0.3)) @ channel.rows
    assert (channel.lower <= mixed + 1e-12).all()
    assert (mixed <= channel.upper + 1e-12).all()
    low, high = channel.among(1)
    share = mixed / within(mixed[None], 1)[0]
    assert (low <= share + 1e-12).all()
    assert (share <= high + 1e-12).all()


def test_response_has_its_two_probabilities_for_few_and_many_options() -> None:
    for options in (3, 600):
        channel = Channel.response(0.9, 0.05, options)
        assert channel.lower.tolist() == [0.05] * options
        assert np.allclose(channel.upper, 0.9)


@pytest.mark.parametrize("inputs", [(0, 0, 0), (0, 1, 1), (1, 1, 1)])
def test_p_values_of_shares_hold_for_every_input(inputs: tuple[int, ...]) -> None:
    channel = Channel.response(0.8, 0.2, 2)
    rows = np.array(list(product(range(2), repeat=3)))
    values = share_p_values(channel, rows)
    chances = np.prod([channel.rows[x][rows[:, i]] for i, x in enumerate(inputs)], axis=0)
    for level in np.unique(values):
        assert chances[values <= level].sum() <= level + 1e-12


def test_columns_are_counted_by_channel() -> None:
    two, three = Channel.response(0.7, 0.3, 2), Channel.response(0.6, 0.2, 3)
    columns, symbols = np.array([[0, 1], [1, 2], [0, 2]]), np.array([[1, 2], [0, 1], [0, 1]])
    first, second = tally_columns((two, three), np.array([0, 1, 0]), columns, symbols)
    assert first.counts.tolist() == [[1, 1], [0, 2]]
    assert second.counts.tolist() == [[1, 0, 1]]


def test_too_many_friends_are_surprising_only_if_their_number_is_bounded() -> None:
    mechanism = Counts(epsilon=2.0, classes=4, cap=8)
    reports = Reports(4, np.array([[8, 7, 8, 6], [1, 0, 2, 0]], dtype=np.int8))
    assert (mechanism.p_values(reports) > 0.1).all()
    alone = mechanism.p_values(reports, most=10)
    assert alone[0] < 1e-6
    assert alone[1] == 1


def test_the_bound_on_friends_holds_for_people_with_most_friends() -> None:
    mechanism = Counts(epsilon=1.0, classes=3, cap=5)
    rng = np.random.default_rng(0)
    values = rng.multinomial(6, [0.8, 0.1, 0.1], 20_000)
    values = values[(values <= 5).all(axis=1)]
    alone = mechanism.p_values(mechanism.perturb(values, SeededBits(0)), most=6)
    for level in (0.1, 0.01):  # fails once in 10^7
        assert (alone <= level).mean() <= level + 5.2 * np.sqrt(level / len(values))


def test_lists_without_noise_are_surprising() -> None:
    mechanism = AdjacencyResponse(epsilon=2.0, num_nodes=200)
    indptr, indices = np.array([0, 1, 30, 150]), np.concatenate([[5], np.arange(30, 59), np.arange(60, 180)])
    reports = NeighbourReports(200, indptr, indices.astype(np.int32), np.array([0, 1, 2]))
    alone = mechanism.p_values(reports)
    assert alone[0] < 1e-8
    assert (alone[1:] > 0.1).all()
    assert mechanism.p_values(reports, most=10)[2] < 1e-8


def test_lists_within_the_bound_are_seldom_surprising() -> None:
    for one_sided in (False, True):
        mechanism = AdjacencyResponse(epsilon=3.0, num_nodes=300, one_sided=one_sided)
        lists = np.zeros((300, 300))
        for person in range(300):
            lists[person, (person + np.arange(1, 9)) % 300] = 1
        for seed in range(5):
            alone = mechanism.p_values(mechanism.perturb(lists, SeededBits(seed)), most=8)
            assert np.isfinite(alone).all()
            assert (alone <= 0.01).sum() <= 15  # fails once in 10^6
