from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from privet.errors import InvalidParameter
from privet.evaluation import tasks
from privet.evaluation.cache import Store
from privet.reproduction.catalogue import Cell, PublishedTable
from privet.reproduction.runner import print_table, run_table


@pytest.fixture
def table(dataset: Path) -> PublishedTable:
    quick = {"hops": 1, "max_epochs": 3}
    cells = (
        Cell(str(dataset), "eps 1", {"epsilon_features": 1.0, **quick}, 30.0, 1.0),
        Cell(str(dataset), "eps 2", {"epsilon_features": 2.0, **quick}, 99.9),
        Cell("lastfm", "eps 1", {"epsilon_features": 1.0}, 86.1, available=False),
    )
    return PublishedTable("test-1", "A table of tests", "lpgnn", cells, remark="A remark.")


def test_a_table_is_measured_once_and_then_read(
    table: PublishedTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    first = run_table(table, None, 2, Store(tmp_path), show_progress=False)
    rows = first["cells"]
    assert rows[0]["guarantee"]["epsilon"] == 1.0
    assert rows[1]["measured"]["mean"] < 99.9
    assert rows[1]["difference"] < 0
    assert rows[2]["measured"] is None
    # Reports without information are measured once for both budgets.
    assert rows[0]["controls"]["structure_only"] == rows[1]["controls"]["structure_only"]
    monkeypatch.setattr(tasks, "measure", lambda *_: pytest.fail("a finished figure was computed again"))
    assert run_table(table, None, 2, Store(tmp_path), show_progress=False) == first
    monkeypatch.setenv("COLUMNS", "300")
    print_table(first)
    printed = " ".join(capsys.readouterr().out.split())
    assert "not measured" in printed
    assert "A remark." in printed


def test_an_interrupted_table_goes_on(table: PublishedTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], tasks.measure

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(tasks, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_table(table, None, 1, Store(tmp_path), show_progress=False)
    assert len(list(tmp_path.iterdir())) == 2
    run_table(table, None, 1, Store(tmp_path), show_progress=False)
    figures = 2 * 3 + 2  # private, label propagation and features only for each budget, two shared controls
    assert len(calls) == 1 + figures


def test_only_some_cells(table: PublishedTable, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="lastfm"):
        table.only(["cora", "lastfm"])
    with pytest.raises(InvalidParameter, match="eps 1; eps 2"):
        table.only(condition="eps 3")
    assert [cell.label for cell in table.only(condition="eps 2").cells] == ["eps 2"]
    assert len(table.only(condition="eps*").cells) == 3
    only = run_table(table.only(["lastfm"]), None, 1, Store(tmp_path), show_progress=False)
    assert [row["dataset"] for row in only["cells"]] == ["lastfm"]


def test_controls_that_do_not_depend_on_a_setting_are_measured_once(dataset: Path, tmp_path: Path) -> None:
    quick = {"noise_multiplier": 2.0, "batch_size": 40, "epochs": 1.0, "hidden_channels": 8}
    cells = tuple(Cell(str(dataset), b, {"backbone": b, **quick}, None) for b in ("gin", "sage"))
    result = run_table(
        PublishedTable("t", "T", "heterpoisson", cells, task="node-level"),
        None,
        1,
        Store(tmp_path),
        show_progress=False,
    )
    assert [row["guarantee"]["model"] for row in result["cells"]] == ["central", "central"]
    # The system itself with either noise and without depends on the backbone; the four others do not.
    assert len(list(tmp_path.iterdir())) == 2 * 3 + 4


def test_a_table_may_ask_for_few_kinds_and_cells_for_another_protocol(dataset: Path, tmp_path: Path) -> None:
    cells = tuple(
        Cell(str(dataset), f"{rate:.0%}", {"hops": 1, "max_epochs": 3}, None, at=rate, protocol={"label_rate": rate})
        for rate in (0.02, 0.4)
    )
    alone = replace(cells[0], label="alone", at=1.0, controls=False)
    cells = (*cells, alone)
    table = PublishedTable("t", "T", "lpgnn", cells, statement="As said.", kinds=("private", "label_propagation"))
    rows = run_table(table, None, 1, Store(tmp_path), show_progress=False)["cells"]
    assert [list(row["controls"]) for row in rows] == [["label_propagation"], ["label_propagation"], []]
    assert len(list(tmp_path.iterdir())) == 2 * 2
    few, many = (row["controls"]["label_propagation"]["mean"] for row in rows[:2])
    assert few < many
