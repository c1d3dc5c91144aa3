"""Bad input and the parts that all numeric mechanisms share."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from privet.data import Schema
from privet.errors import InvalidData, InvalidParameter, InvalidReports, OutOfRangeWarning
from privet.mechanisms import HDS, AnalyticGaussian, Laplace, MultiBit, Piecewise, Reports, SeededBits

KINDS = [MultiBit, HDS, Piecewise, Laplace, AnalyticGaussian]
FIELDS = {"epsilon": 1.0, "dimension": 3, "low": 0.0, "high": 1.0}


def build(kind: type, **changes: object):
    extra = {"delta": 1e-4} if kind is AnalyticGaussian else {}
    return kind(**(FIELDS | extra | changes))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon must be a finite number above 0, not 0."),
        ({"epsilon": -1.0}, "epsilon must be a finite number above 0, not -1.0."),
        ({"epsilon": math.nan}, "epsilon must be a finite number above 0, not nan."),
        ({"epsilon": math.inf}, "epsilon must be a finite number above 0, not inf."),
        ({"epsilon": "1"}, "epsilon"),
        ({"low": 1.0}, "low, high must be finite with low < high, not low "),
        ({"high": -2.0}, "low, high must be finite with low < high, not low "),
        ({"low": -1e308, "high": 1e308}, "low, high must be finite with low < high, not low "),
        ({"low": [0, 0, 2]}, "in column 2."),
        ({"low": [0, 0]}, "low must be a number or 3 numbers, not 2 numbers."),
        ({"low": "zero"}, "low"),
        ({"dimension": 0}, "dimension must be an integer from 1 to 2147483647, not 0."),
        ({"sample": 4}, "sample must be an integer from 1 to 3, not 4."),
        ({"sample": 0}, "sample must be an integer from 1 to 3, not 0."),
        ({"sample": 1.5}, "sample must be an integer from 1 to 3, not 1.5."),
    ],
)
def test_bad_parameters_are_named(kind: type, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        build(kind, **changes)
    assert message.replace("KIND", kind.__name__) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [MultiBit, HDS, Piecewise, Laplace])
def test_a_budget_too_small_for_the_integers_is_refused(kind: type) -> None:
    with pytest.raises(InvalidParameter, match="finite precision"):
        build(kind, epsilon=1e-30)


@pytest.mark.parametrize("kind", [MultiBit, HDS, Piecewise])
def test_a_budget_too_large_for_the_integers_is_refused(kind: type) -> None:
    with pytest.raises(InvalidParameter, match="finite precision"):
        build(kind, epsilon=500.0, sample=1)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_values_are_refused(kind: type) -> None:
    mechanism = build(kind)
    with pytest.raises(InvalidData, match="matrix with 3 columns"):
        mechanism.perturb(np.zeros((2, 4)), SeededBits(0))
    with pytest.raises(InvalidData, match="NaN in row 1"):
        mechanism.perturb([[0, 0, 0], [0, math.nan, 0]], SeededBits(0))


@pytest.mark.parametrize("kind", KINDS)
def test_values_outside_the_range_are_clipped_and_not_revealed(kind: type) -> None:
    mechanism = build(kind)
    with pytest.warns(OutOfRangeWarning, match="2 of 3 values"):
        outside = mechanism.perturb([[7.0, -3.0, 0.5]], SeededBits(0))
    assert outside == mechanism.perturb([[1.0, 0.0, 0.5]], SeededBits(0))


@pytest.mark.parametrize("kind", KINDS)
def test_reports_that_no_device_sends_are_refused(kind: type) -> None:
    mechanism = build(kind, sample=2)
    reports = mechanism.perturb(np.zeros((4, 3)), SeededBits(0))
    symbols = reports.symbols.copy()
    extreme = np.iinfo(symbols.dtype)
    strangers = [mechanism.largest_symbol + 2, -mechanism.largest_symbol - 2, extreme.min, extreme.max]
    for stranger in [*strangers, reports.symbols[2, 1] + 1]:  # the last has the wrong parity
        if not extreme.min <= stranger <= extreme.max:
            continue
        symbols[2, 1] = stranger
        with pytest.raises(InvalidReports, match="row 2"):
            mechanism.estimate(Reports(3, symbols, reports.indices))
    for other in (np.int8, np.int64):
        if other != reports.symbols.dtype:
            with pytest.raises(InvalidReports, match="symbols with indices"):
                mechanism.estimate(Reports(3, reports.symbols.astype(other), reports.indices))
    everything = build(kind, sample=3).perturb(np.zeros((4, 3)), SeededBits(0))
    named = Reports(3, everything.symbols, np.tile(np.arange(3, dtype=np.int32), (4, 1)))
    with pytest.raises(InvalidReports, match="symbols without indices"):
        build(kind, sample=3).estimate(named)
    with pytest.raises(InvalidReports, match="2 of 3 coordinates"):
        mechanism.estimate(build(kind, sample=1).perturb(np.zeros((4, 3)), SeededBits(0)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_user_gives_no_report(kind: type) -> None:
    mechanism = build(kind)
    reports = mechanism.perturb(np.zeros((0, 3)), SeededBits(0))
    assert len(reports) == 0
    assert mechanism.estimate(reports).shape == (0, 3)
    assert Reports.from_bytes(reports.to_bytes()) == reports


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_integers_become_plain_ones(kind: type) -> None:
    import json

    steps = {} if kind is MultiBit else {"steps": np.int16(64)}
    mechanism = build(kind, dimension=np.int64(3), sample=np.int32(2), **steps)
    assert json.loads(json.dumps(mechanism.to_dict()))["dimension"] == 3
    plain = build(kind, dimension=3, sample=2, **{name: int(value) for name, value in steps.items()})
    assert mechanism == plain
    assert mechanism.perturb(np.zeros((2, 3)), SeededBits(0)) == plain.perturb(np.zeros((2, 3)), SeededBits(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [1e7, 1e308])
def test_absurd_budgets_end_in_one_sentence(kind: type, epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        build(kind, epsilon=epsilon, sample=1)


def test_the_middle_of_a_huge_range_is_finite() -> None:
    mechanism = MultiBit(epsilon=1.0, dimension=1, low=1.6e308, high=1.7e308)
    assert np.isfinite(mechanism.estimate(mechanism.perturb([[1.65e308]], SeededBits(0))).offset).all()


def test_for_schema_takes_the_declared_ranges() -> None:
    schema = Schema.numeric(2, low=[0.0, -4.0], high=[1.0, 4.0])
    mechanism = MultiBit.declare(schema, epsilon=1.0)
    assert mechanism.low == (0.0, -4.0)
    assert mechanism.high == (1.0, 4.0)


def test_memory_of_a_sparse_perturbation_does_not_grow_with_the_dimension() -> None:
    import tracemalloc

    peaks = []
    for dimension in (1_000, 1_000_000):
        values = sp.random_array((500, dimension), density=20 / dimension, rng=np.random.default_rng(0), format="csr")
        mechanism = MultiBit(epsilon=1.0, dimension=dimension, low=0.0, high=1.0)
        mechanism.perturb(values, SeededBits(0))
        tracemalloc.start()
        mechanism.perturb(values, SeededBits(0))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 1_000_000 * 8 * 2.5  # the ranges themselves are two vectors of length d
