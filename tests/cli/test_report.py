from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run_privet
from typer.testing import CliRunner

from privet.cli import app
from privet.evaluation import Result
from privet.privacy import Guarantee, Unit

RESULT: dict[str, Any] = {
    "system": "lpgnn",
    "dataset": "village",
    "task": "node classification",
    "metric": "accuracy (%)",
    "settings": {"hops": 4},
    "mechanisms": ["multi-bit"],
    "mean": 81.0,
    "std": 1.0,
    "values": [80.0, 82.0],
    "controls": {},
    "guarantee": Guarantee.local(Unit.FEATURES, 1.0, unprotected=("the edges, which are public",)).to_dict(),
    "version": "0.1.0",
}


@pytest.fixture
def result(tmp_path: Path) -> Path:
    Result.from_dict(RESULT).save(tmp_path / "result.json")
    return tmp_path / "result.json"


def test_a_report_is_written_with_its_figures(result: Path) -> None:
    out, figures = result.with_name("page.html"), result.with_name("figures")
    found = CliRunner().invoke(app, ["report", str(result), "--out", str(out), "--figures", str(figures)])
    assert found.exit_code == 0, found.output
    assert found.output == f"Wrote 1 result to {out}.\n"
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert sorted(path.suffix for path in figures.iterdir()) == [".pdf", ".svg"]


def test_a_latex_table_of_several_results_is_written_beside_the_page(result: Path) -> None:
    out, table = result.with_name("page.html"), result.with_name("table.tex")
    found = CliRunner().invoke(app, ["report", str(result), "--out", str(out), "--latex", str(table)])
    assert found.exit_code == 0, found.output
    assert found.output == f"Wrote 1 result to {out}, and a table to {table}.\n"
    assert r"lpgnn & 1 & feature vector & $81.0 \pm 1.4$ \\" in table.read_text()


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["report", "result.json", "--latex", "nowhere/table.tex"], "nowhere"),
        (["report", "missing.json"], "missing.json"),
        (["report", "other.json"], "other.json"),
        (["report", "result.json", "--out", "nowhere/page.html"], "nowhere"),
        (["statement", "missing.json"], "missing.json"),
        (["statement", "other.json"], "other.json"),
        (["advise", "--budget", "1", "--graph", "missing.csv", "--features", "3", "--classes", "2"], "missing.csv"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else "",
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    command: list[str],
    complaint: str,
    result: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result.with_name("other.json").write_text(json.dumps({"cells": []}))
    before = sorted(result.parent.iterdir())
    monkeypatch.chdir(result.parent)
    ended = run_privet(*command)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("privet: ")
    assert ended.stderr.count("\n") == 1
    assert complaint in ended.stderr
    assert sorted(result.parent.iterdir()) == before
