from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.app import BadOption
from privet.cli.table import all_tables, one_table, print_tables, refuse_for_all, table
from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.reproduction import papers
from privet.reproduction.papers import TABLES

QUICK = {"controls": False, "quick": True}


def test_the_list_has_one_line_a_table(capsys: pytest.CaptureFixture) -> None:
    print_tables()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TABLES)


def test_an_unknown_id_shows_the_list(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    options = {**QUICK, "plot": None, "out": None}
    with pytest.raises(InvalidParameter, match="one of lpgnn-3"):
        one_table("lpgnn-9", None, 1, None, None, Store(None), **options, as_json=False)
    assert len(capsys.readouterr().out.splitlines()) == len(TABLES)
    with pytest.raises(InvalidParameter, match="one of lpgnn-3"):
        one_table("lpgnn-9", None, 1, None, None, Store(None), **options, as_json=True)
    assert capsys.readouterr().out == ""


def test_a_table_without_data_is_written_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    files = {"plot": tmp_path / "t.svg", "out": tmp_path / "t.json"}
    one_table(
        "privge-fig1",
        None,
        1,
        None,
        "eps 1",
        Store(tmp_path / "store"),
        controls=True,
        quick=False,
        as_json=True,
        **files,
    )
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(files["out"].read_text())
    assert "considerably smaller" in document["statement"]
    assert "piecewise" in files["plot"].read_text()
    assert len(list((tmp_path / "store").iterdir())) == 5


def test_quick_figures_are_not_stored(tmp_path: Path) -> None:
    table("privge-fig1", **QUICK, store=tmp_path / "store", seeds=1, as_json=True)
    assert not (tmp_path / "store").exists()


def test_all_goes_on_after_a_failure_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {name: TABLES[name] for name in ("lpgnn-3", "privge-fig1")}
    monkeypatch.setattr(papers, "TABLES", chosen)
    options = {"controls": False, "quick": False, "out": tmp_path / "all.json", "as_json": False}
    assert not all_tables(tmp_path, 1, Store(tmp_path / "store"), **options)  # a directory without data
    seen = capsys.readouterr()
    assert "1 of 2 tables printed. Failed: lpgnn-3." in seen.out
    assert "cora.npz" in " ".join(seen.err.split())
    document = json.loads((tmp_path / "all.json").read_text())
    assert [table["table"] for table in document["tables"]] == ["privge-fig1"]
    assert list(document["failures"]) == ["lpgnn-3"]
    monkeypatch.setattr(papers, "TABLES", {"privge-fig1": TABLES["privge-fig1"]})
    assert all_tables(None, 1, Store(None), **options | {"quick": True, "as_json": True})
    assert json.loads(capsys.readouterr().out)["failures"] == {}


def test_options_for_one_table_are_refused_for_all() -> None:
    refuse_for_all(only=None, plot=None)
    with pytest.raises(BadOption, match="--plot"):
        refuse_for_all(only=None, plot="t.svg")


def test_the_list_needs_no_id() -> None:
    found = CliRunner().invoke(app, ["table", "--list"])
    assert found.exit_code == 0, found.output
    assert [line.split()[0] for line in found.output.splitlines()] == list(TABLES)
