from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.app import BadOption
from privet.errors import InvalidParameter
from privet.reproduction import papers
from privet.reproduction.papers import TABLES


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["table", *map(str, arguments)])


def test_an_unknown_id_shows_the_list() -> None:
    found = run("lpgnn-9", "--quick")
    assert isinstance(found.exception, InvalidParameter)
    assert "one of lpgnn-3" in str(found.exception)
    assert len(found.output.splitlines()) == len(TABLES)
    assert run("lpgnn-9", "--quick", "--json").output == ""


def test_a_table_without_data_is_written_and_drawn(tmp_path: Path) -> None:
    out, plot, store = tmp_path / "t.json", tmp_path / "t.svg", tmp_path / "store"
    options = ("--seeds", 1, "--condition", "eps 1", "--store", store, "--out", out, "--plot", plot, "--json")
    document = json.loads(run("privge-fig1", *options).stdout)
    assert document == json.loads(out.read_text())
    assert "considerably smaller" in document["statement"]
    assert "piecewise" in plot.read_text()
    assert len(list(store.iterdir())) == 5


def test_quick_figures_are_not_stored(tmp_path: Path) -> None:
    assert run("privge-fig1", "--no-controls", "--quick", "--store", tmp_path / "store").exit_code == 0
    assert not (tmp_path / "store").exists()


def test_all_goes_on_after_a_failure_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {name: TABLES[name] for name in ("lpgnn-3", "privge-fig1")}
    monkeypatch.setattr(papers, "TABLES", chosen)
    options = ("--no-controls", "--seeds", 1, "--store", tmp_path / "store", "--out", tmp_path / "all.json")
    seen = run("all", *options, "--data", tmp_path)  # a directory without data
    assert seen.exit_code == 1
    assert "1 of 2 tables printed. Failed: lpgnn-3." in seen.stdout
    assert "cora.npz" in " ".join(seen.stderr.split())
    document = json.loads((tmp_path / "all.json").read_text())
    assert [table["table"] for table in document["tables"]] == ["privge-fig1"]
    assert list(document["failures"]) == ["lpgnn-3"]
    monkeypatch.setattr(papers, "TABLES", {"privge-fig1": TABLES["privge-fig1"]})
    again = run("all", *options, "--quick", "--json")
    assert (again.exit_code, json.loads(again.stdout)["failures"]) == (0, {})


@pytest.mark.parametrize("option", ["--only", "--condition", "--plot"])
def test_options_for_one_table_are_refused_for_all(option: str, tmp_path: Path) -> None:
    found = run("all", "--quick", option, tmp_path / "t.svg")
    assert isinstance(found.exception, BadOption)
    assert str(found.exception).startswith(option)


def test_the_list_needs_no_id() -> None:
    found = CliRunner().invoke(app, ["table", "--list"])
    assert found.exit_code == 0, found.output
    assert [line.split()[0] for line in found.output.splitlines()] == list(TABLES)
