from __future__ import annotations

import numpy as np
import pytest

from privet.errors import InvalidReports
from privet.mechanisms import NeighbourReports, Reports
from privet.mechanisms.core.shapes import ListShape, SymbolShape

INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)
SAMPLED = Reports(5, np.array([[1, -1], [0, 1]], dtype=np.int8), np.array([[0, 3], [1, 4]], dtype=np.int32))


def test_columns_are_what_is_sent() -> None:
    def columns(shape: SymbolShape | ListShape) -> list[tuple[str, np.dtype, int | None]]:
        return [(each.name, each.dtype, each.count) for each in shape.columns]

    assert columns(SymbolShape(1, 1, INT8)) == [("", INT8, 1)]
    assert columns(SymbolShape(5, 5, INT8)) == [("symbols", INT8, 5)]
    assert columns(SymbolShape(5, 2, INT8)) == [("coordinates", INT32, 2), ("symbols", INT8, 2)]
    assert columns(ListShape(9)) == [("", INT32, None)]


def test_splitting_and_joining_give_the_same_reports() -> None:
    shape, users = SymbolShape(5, 2, INT8), np.array([7, 8])
    assert shape.join(shape.split(SAMPLED), users) == SAMPLED
    lists = NeighbourReports(9, np.array([0, 2, 2]), np.array([1, 3], dtype=np.int32), users)
    assert ListShape(9).join(ListShape(9).split(lists), users) == lists


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (SymbolShape(6, 2, INT8), "2 of 6 coordinates"),
        (SymbolShape(5, 3, INT8), "3 of 5 coordinates"),
        (SymbolShape(5, 2, np.dtype(np.int16)), "int16 symbols with indices"),
        (ListShape(5), "lists about 5 nodes"),
    ],
)
def test_reports_of_another_form_are_refused(shape: SymbolShape | ListShape, sentence: str) -> None:
    SymbolShape(5, 2, INT8).check(SAMPLED, "X")
    with pytest.raises(InvalidReports, match=f"reports for X must be {sentence}"):
        shape.check(SAMPLED, "X")


def test_indices_are_there_exactly_if_coordinates_are_sampled() -> None:
    whole = Reports(2, np.zeros((1, 2), dtype=np.int8), np.array([[0, 1]], dtype=np.int32))
    with pytest.raises(InvalidReports, match="without indices"):
        SymbolShape(2, 2, INT8).check(whole, "X")
    lists = NeighbourReports(9, np.array([0, 0]), np.zeros(0, dtype=np.int32), np.array([3]))
    for shape in (ListShape(8), SymbolShape(1, 1, INT8)):
        with pytest.raises(InvalidReports, match="reports for X"):
            shape.check(lists, "X")
