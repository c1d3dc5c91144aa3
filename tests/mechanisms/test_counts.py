from __future__ import annotations

import math

import numpy as np
import pytest

from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.mechanisms import Counts, Reports, SeededBits, counts
from privet.privacy import Unit


@pytest.mark.parametrize(("epsilon", "cap"), [(0.01, 1), (0.3, 8), (1.0, 32), (4.0, 32), (20.0, 8)])
def test_the_estimate_is_unbiased_for_every_count(epsilon: float, cap: int) -> None:
    """By the whole distribution, not by draws: the sum over v of P[t, v] f(v) is t."""
    mechanism = Counts(epsilon=epsilon, classes=1, cap=cap)
    table = mechanism.likelihood_table()
    every = Reports(1, np.arange(cap + 1, dtype=np.int8)[:, None])
    readings = mechanism.estimate(every).dense()[:, 0]
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(table @ readings, np.arange(cap + 1), atol=1e-5 * max(1.0, 1 / epsilon))
    errors = (readings - np.arange(cap + 1)[:, None]) ** 2
    stated = mechanism.variance(np.arange(cap + 1)[:, None])[:, 0]
    np.testing.assert_allclose(stated, (table * errors).sum(axis=1), rtol=1e-5)
    assert mechanism.variance(mechanism.worst_values()).max() == stated.max()


def test_far_from_the_ends_the_noise_is_two_sided_geometric() -> None:
    mechanism = Counts(epsilon=1.0, classes=2, cap=32)
    g = math.exp(-1)
    assert mechanism.variance(np.full((1, 2), 16))[0] == pytest.approx(2 * g / (1 - g) ** 2, rel=1e-4)
    assert mechanism.likelihood_table()[16, 15:18] == pytest.approx(np.array([g, 1, g]) * (1 - g) / (1 + g))


def test_the_likelihood_of_a_report_is_the_product_over_classes() -> None:
    mechanism = Counts(epsilon=0.7, classes=3, cap=8)
    values = np.array([[0, 8, 3], [1, 1, 1]])
    reports = mechanism.perturb(values, SeededBits(4))
    table = mechanism.likelihood_table()
    expected = [
        sum(math.log(table[t, v]) for t, v in zip(counted, reported, strict=True))
        for counted, reported in zip(values, reports.symbols, strict=True)
    ]
    np.testing.assert_allclose(mechanism.log_likelihood(reports, values), expected)


def test_blocks_of_users_make_the_same_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are drawn in the same order; none is refused here."""
    mechanism = Counts(epsilon=0.5, classes=3, cap=8)
    values = np.random.default_rng(0).integers(9, size=(100, 3))
    whole = mechanism.perturb(values, SeededBits(1))
    monkeypatch.setattr(counts, "_BLOCK", 10)
    assert mechanism.perturb(values, SeededBits(1)) == whole


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint64])
def test_counts_of_any_integer_type_are_read_alike(kind: type) -> None:
    mechanism = Counts(epsilon=0.5, classes=2, cap=100)
    values = np.array([[100, 0], [3, 99]])
    assert mechanism.perturb(values.astype(kind), SeededBits(2)) == mechanism.perturb(values, SeededBits(2))


def test_a_population_decides_the_number_of_classes() -> None:
    mechanism = Counts.declare(Schema.numeric(2, low=0.0, high=1.0, classes=7), epsilon=1.0)
    assert mechanism == Counts(epsilon=1.0, classes=7, cap=32)
    assert mechanism.parameters() == {"epsilon": 1.0, "cap": 32}
    assert "from 0 to 32, plus noise of about 1.36" in mechanism.sends()


@pytest.mark.parametrize(("cap", "size"), [(1, 1), (127, 1), (128, 2), (1023, 2)])
def test_a_report_is_as_short_as_its_cap_allows(cap: int, size: int) -> None:
    mechanism = Counts(epsilon=5.0, classes=2, cap=cap)
    reports = mechanism.perturb(np.array([[0, cap]] * 30), SeededBits(0))
    assert reports.symbols.dtype.itemsize == size
    assert (reports.symbols.min(), reports.symbols.max()) == (0, cap)


def test_the_guarantee_is_of_one_bit_that_both_ends_may_count() -> None:
    promise = Counts(epsilon=0.5, classes=4).guarantee()
    assert (promise.unit, promise.epsilon, promise.relationship_epsilon) == (Unit.NEIGHBOUR_BIT, 0.5, 1.0)


def test_bad_counts_are_named_without_telling_them() -> None:
    mechanism = Counts(epsilon=1.0, classes=2, cap=8)
    for wrong in (57, -57):
        with pytest.raises(InvalidData, match=r"counts from 0 to 8; row 1 has one outside") as refusal:
            mechanism.perturb(np.array([[0, 8], [0, wrong]]), SeededBits(0))
        assert "57" not in str(refusal.value)
    for wrong in (np.zeros((3, 3), dtype=int), np.zeros(2, dtype=int), np.zeros((3, 2)), np.zeros((3, 2), dtype=bool)):
        with pytest.raises(InvalidData, match="must be integers, 2 in a row"):
            mechanism.perturb(wrong, SeededBits(0))


def test_bad_reports_and_parameters_are_named() -> None:
    with pytest.raises(InvalidReports, match="report in row 1"):
        Counts(epsilon=1.0, classes=2, cap=8).estimate(Reports(2, np.array([[0, 8], [9, 0]], dtype=np.int8)))
    with pytest.raises(InvalidReports, match="2 of 2 coordinates"):
        Counts(epsilon=1.0, classes=2).estimate(Reports(1, np.array([[0]], dtype=np.int8)))
    with pytest.raises(InvalidParameter, match="cap must be an integer from 1 to 1023"):
        Counts(epsilon=1.0, classes=2, cap=0)
    with pytest.raises(InvalidParameter, match="classes"):
        Counts(epsilon=1.0, classes=0)
    for epsilon in (0.0, 1e-9, 30.0, math.nan):
        with pytest.raises(InvalidParameter, match="epsilon"):
            Counts(epsilon=epsilon, classes=2)
