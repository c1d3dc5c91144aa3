from __future__ import annotations

import json

import pytest

from privet.errors import InvalidData
from privet.evaluation import Figures
from privet.privacy import Guarantee, Unit
from privet.reproduction.measured import Table, TableCell

CELL = TableCell(
    "cora", "eps 1", 84.0, 0.5, "cora", "", 1.0, "", {"raw": 90.0}, Figures((84.26, 84.46), "", ""),
    {"structure_only": Figures((80.0, 81.0), "no info", "structure only")}, Guarantee.local(Unit.FEATURES, 1.0),
)  # fmt: skip
TABLE = Table(
    name="t-1", title="T", statement="", remark="", task="nodes", metric="accuracy (%)", axis="epsilon", seeds=2,
    quick=False, percent=True, cells=(CELL, TableCell("lastfm", "eps 1", 86.1, None, "lastfm", "", 1.0, "")),
    version="0.1.0",
)  # fmt: skip


def test_a_table_reads_back() -> None:
    assert Table.from_dict(json.loads(json.dumps(TABLE.to_dict()))) == TABLE
    assert repr(TABLE) == "Table(t-1: 1 of 2 cells measured)"
    assert [row["figure"] for row in TABLE.rows()] == ["ours", "structure_only"]
    older = TABLE.to_dict()
    del older["printed"]
    for cell in older["cells"]:
        del cell["references"]
    assert Table.from_dict(older).cells[0].references == {}
    for wrong in ({}, TABLE.to_dict() | {"cells": [{}]}):
        with pytest.raises(InvalidData, match="table"):
            Table.from_dict(wrong)


def test_a_difference_is_of_rounded_figures() -> None:
    assert CELL.difference == pytest.approx(0.4)  # 84.36 is printed as 84.4
    assert TABLE.cells[1].difference is None


def test_figures_are_shown_as_papers_print_them() -> None:
    assert TABLE.shown(84.35123) == "84.4"
