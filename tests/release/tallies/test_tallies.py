"""What is summed: no two people's contributions are further apart than stated, whatever their fields hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from thorough import thorough

from privet.errors import InvalidData, InvalidParameter
from privet.release.private import PrivateData
from privet.release.tallies import Categories, Lengths, Several, Tally, UnitFeatures

WIDTH = 6
ANY = st.floats(allow_nan=False, allow_infinity=True, width=64)
TALLIES = [
    Several(WIDTH, 2),
    Several(WIDTH, 5),
    UnitFeatures(WIDTH, negative=False),
    UnitFeatures(WIDTH, negative=True),
    UnitFeatures(WIDTH, negative=True, bits=1),
    UnitFeatures(WIDTH, negative=False, bits=24),
    Categories(0, 3),
]


def people(rows: np.ndarray) -> PrivateData:
    return PrivateData(np.arange(rows.shape[0]), features=rows)


def apart(tally: Tally, private: PrivateData) -> int:
    """The square of the distance of two people's contributions, in integers."""
    one, other = tally.contributions(tally.measure(private)).astype(object)
    return sum((one - other) ** 2)


@thorough
@given(data=st.data())
@pytest.mark.parametrize("tally", TALLIES, ids=str)
def test_an_exchange_moves_the_sum_no_further_than_stated(tally: Tally, data: st.DataObject) -> None:
    rows = data.draw(arrays(np.float64, (2, WIDTH), elements=ANY))
    assert apart(tally, people(rows)) <= tally.change**2 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("tally", "rows"),
    [
        (Several(WIDTH, 2), [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]),
        (Several(WIDTH, 5), [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]),
        (UnitFeatures(WIDTH, negative=False), [[7, 0, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]]),
        (UnitFeatures(WIDTH, negative=True), [[7, 0, 0, 0, 0, 0], [-1, 0, 0, 0, 0, 0]]),
        (Categories(0, 3), [[0] * 6, [2] * 6]),
    ],
    ids=str,
)
def test_what_is_stated_is_nearly_reached(tally: Tally, rows: list[list[int]]) -> None:
    assert apart(tally, people(np.array(rows, dtype=float))) >= tally.change**2 * 0.98


def test_lists_are_counted_by_their_length() -> None:
    lists = sp.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]]))
    tally = Lengths(cap=2)
    private = PrivateData(np.arange(3), neighbours=lists)
    assert tally.measure(private).tolist() == [2, 1, 0]
    assert tally.contributions(tally.measure(private)).sum(axis=0).tolist() == [1, 1, 1]
    assert apart(tally, private.take(np.array([0, 1]))) == 2 == round(tally.change**2)


def test_sparse_features_are_those_of_the_same_dense_ones() -> None:
    rows = (np.random.default_rng(0).random((5, WIDTH)) < 0.5).astype(float)
    for tally in TALLIES:
        dense, sparse = tally.measure(people(rows)), tally.measure(people(sp.csr_array(rows)))  # type: ignore[arg-type]
        assert (dense == sparse).all()
        assert (tally.total(people(sp.csr_array(rows))) == tally.contributions(dense).sum(axis=0)).all()


def test_unit_vectors_come_back() -> None:
    rows = np.random.default_rng(0).normal(size=(50, WIDTH))
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    tally = UnitFeatures(WIDTH, negative=True, bits=16)
    sums = tally.contributions(tally.measure(people(rows))).sum(axis=0).astype(float)
    assert np.allclose(tally.estimate(sums, 50), units.sum(axis=0), atol=50 * 2.0**-15)


def test_fields_that_are_missing_are_told() -> None:
    nobody = PrivateData(np.arange(1))
    with pytest.raises(InvalidData, match="The private data have no features"):
        Several(3, 1).measure(nobody)
    with pytest.raises(InvalidData, match="The private data have no friend lists"):
        Lengths(3).measure(nobody)
    with pytest.raises(InvalidData, match="Somebody has not answered this question"):
        Categories(0, 2).measure(people(np.array([[np.nan]])))


@pytest.mark.parametrize(
    "make",
    [lambda: Categories(0, 1), lambda: Lengths(0), lambda: Several(3, 4), lambda: UnitFeatures(3, False, bits=25)],
)
def test_tallies_that_cannot_be_are_refused(make) -> None:
    with pytest.raises(InvalidParameter):
        make()
