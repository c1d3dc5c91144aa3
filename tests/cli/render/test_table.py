from __future__ import annotations

from dataclasses import replace

import pytest

from privet.cli.render.measurements import print_table
from privet.evaluation import Figures
from privet.privacy import Guarantee, Unit
from privet.reproduction.measured import Table, TableCell

CELL = TableCell(
    "cora", "eps 1", 84.0, 0.5, "cora", "", 1.0, "", {"raw": 90.0}, Figures((84.3, 84.5)),
    {"structure_only": Figures((80.0, 81.0), "no info", "structure only")}, Guarantee.local(Unit.FEATURES, 1.0),
)  # fmt: skip
TABLE = Table(
    name="t-1", title="A table", statement="Better.", remark="A remark.", task="nodes", metric="accuracy (%)",
    axis="epsilon", seeds=2, quick=False, percent=True, version="0.1.0",
    cells=(CELL, TableCell("lastfm", "eps 1", 86.1, None, "lastfm", "", 1.0, "")),
)  # fmt: skip


def printed(table: Table, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    print_table(table)
    return " ".join(capsys.readouterr().out.split())


def test_a_table_shows_paper_ours_and_controls(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = printed(TABLE, capsys, monkeypatch)
    for words in (
        "84.0",
        "84.4 +- 0.1",
        "80.5",
        "no info: structure only",
        "90.0",
        "not measured",
        "A remark.",
        "Better.",
    ):
        assert words in shown


def test_columns_of_different_systems_stay_apart(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(CELL, condition="eps 2", controls={"panel_only": Figures((70.0,), "panel", "panel only")})
    shown = printed(replace(TABLE, cells=(CELL, other), printed="prototype"), capsys, monkeypatch)
    assert "prototype ours no info panel raw" in shown
    assert "84.4 +- 0.1 80.5 90.0" in shown
    assert "84.4 +- 0.1 70.0 90.0" in shown


def test_a_quick_table_says_that_it_is_no_measurement(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = replace(TABLE, quick=True, seeds=1, cells=(replace(CELL, measured=Figures((84.3,))),))
    shown = printed(quick, capsys, monkeypatch)
    assert "no measurements" in shown
    assert "one seed" in shown
    assert "+-" not in shown
