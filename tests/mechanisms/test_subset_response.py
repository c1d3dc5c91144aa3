from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from privet.errors import InvalidParameter
from privet.mechanisms import OfferedResponse, Reports, SeededBits, SubsetResponse
from privet.privacy import Unit


def test_subsets_of_one_are_randomised_response_symbol_by_symbol() -> None:
    single = OfferedResponse(epsilon=0.8, most=6)
    subsets = SubsetResponse(epsilon=0.8, most=6, sizes=(1,) * 5)
    options = np.arange(600) % 5 + 2
    values = np.stack([np.arange(600) % options, options], axis=1)
    reports = single.perturb(values, SeededBits(1))
    assert subsets.perturb(values, SeededBits(1)) == reports
    assert (subsets.decode(reports)[0] == single.decode(reports)[0]).all()
    assert np.array_equal(subsets.keep, single.keep)
    assert np.array_equal(subsets.flip, single.flip)
    assert np.array_equal(subsets.log_likelihoods(reports), single.log_likelihoods(reports))
    np.testing.assert_allclose(subsets.estimate(reports).dense(), single.estimate(reports).dense(), rtol=1e-6)
    for options in range(2, 7):
        assert np.array_equal(subsets.channel(options), single.channel(options))


def test_symbols_are_the_subsets_in_lexicographic_order() -> None:
    mechanism = SubsetResponse(epsilon=1.0, most=5, sizes=(1, 2, 2, 3))
    listed = [s for g, k in ((2, 1), (3, 2), (4, 2), (5, 3)) for s in itertools.combinations(range(g), k)]
    codes = Reports(1, np.arange(len(listed))[:, None].astype(mechanism.symbol_dtype))
    assert mechanism.num_reports == len(listed)
    held = mechanism.estimate(codes).dense() > 0
    assert [tuple(np.flatnonzero(row)) for row in held] == listed
    assert mechanism.decode(codes)[1].tolist() == [2] * 2 + [3] * 3 + [4] * 6 + [5] * 10
    likely = mechanism.log_likelihoods(codes)
    for row, subset in enumerate(listed):
        options = mechanism.decode(codes.take(np.array([row])))[1][0]
        inside = [likely[row, j] for j in subset]
        outside = [likely[row, j] for j in range(options) if j not in subset]
        assert len(set(inside)) == len(set(outside)) == 1
        assert 0.999 < inside[0] - outside[0] <= 1.0
        assert (likely[row, options:] == -np.inf).all()


def information(mechanism: OfferedResponse, options: int) -> float:
    """What a report tells about a uniform answer, in bits."""
    channel = mechanism.channel(options)
    return float((channel * np.log2(channel / channel.mean(axis=0))).sum() / options)


@pytest.mark.parametrize(("epsilon", "options"), [(0.5, 9), (1.0, 7), (1.0, 4), (2.0, 9), (2.0, 6), (4.0, 8)])
def test_the_default_size_tells_most(epsilon: float, options: int) -> None:
    told = {}
    for size in range(1, options):
        sizes = (*(1,) * (options - 2), size)
        told[size] = information(SubsetResponse(epsilon=epsilon, most=options, sizes=sizes), options)
    chosen = SubsetResponse(epsilon=epsilon, most=options)
    assert told[chosen.sizes[-1]] == pytest.approx(max(told.values()), rel=1e-9)


def test_known_amounts_of_information() -> None:
    seven = [information(SubsetResponse(epsilon=1.0, most=7, sizes=(1, 1, 1, 1, 1, k)), 7) for k in (1, 2)]
    assert seven == pytest.approx([0.1331, 0.1753], abs=1e-4)
    nine = [information(SubsetResponse(epsilon=2.0, most=9, sizes=(1, 1, 1, 1, 1, 1, 1, k)), 9) for k in (1, 2)]
    assert [round(each, 2) for each in nine] == [0.61, 0.68]


def test_sums_of_reports_stay_integers_of_a_device() -> None:
    wide = SubsetResponse(epsilon=0.1, most=70)
    assert max(math.comb(g, k) for g, k in enumerate(wide.sizes, 2)) <= 1 << 14
    assert all(each.total <= 1 << 53 for each in wide._subset_odds)
    assert wide.symbol_dtype == np.int32


def test_the_strongest_lie_is_the_best_subset() -> None:
    mechanism = SubsetResponse(epsilon=1.0, most=5, sizes=(1, 2, 2, 3))
    honest = mechanism.perturb(np.array([[0, 4], [2, 5]]), SeededBits(0))
    lies = mechanism.strongest(np.array([[3.0, -1.0, 2.0, 9.0, 99.0], [5.0, 1.0, 2.0, -4.0, 3.0]]), honest)
    held = mechanism.estimate(lies).dense() > 0
    assert [np.flatnonzero(row).tolist() for row in held] == [[0, 3], [0, 2, 4]]


def test_what_a_device_says() -> None:
    mechanism = SubsetResponse(epsilon=1.0, most=4, sizes=(1, 1, 2))
    assert mechanism.guarantee().unit is Unit.FEATURES
    assert mechanism.sends().startswith("1 to 2 of the options that you were offered, the true one among them with")
    same = SubsetResponse(epsilon=1.0, most=2)
    assert same.sends() == ("1 of the options that you were offered, the true one among them with 73% probability")


@pytest.mark.parametrize("sizes", [(1,), (1, 1, 4), (0, 1, 1), (1, 1, 1.0), (1, 1, 1, 1), "123"])
def test_sizes_that_say_nothing_are_refused(sizes: object) -> None:
    with pytest.raises(InvalidParameter, match="one for each of 2 to 4 options"):
        SubsetResponse(epsilon=1.0, most=4, sizes=sizes)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="16,384 subsets"):
        SubsetResponse(epsilon=1.0, most=40, sizes=(1,) * 38 + (20,))
