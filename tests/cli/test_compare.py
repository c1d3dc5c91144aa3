from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from privet.cli import app
from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation import evaluate
from privet.systems import LPGNN


def test_two_files_are_compared(graph: Graph, tmp_path: Path) -> None:
    for hops in (0, 2):
        evaluate(LPGNN(hops=hops, max_epochs=3), graph, 2, controls=False).save(tmp_path / f"{hops}.json")
    files = [str(tmp_path / "0.json"), str(tmp_path / "2.json")]
    shown = CliRunner().invoke(app, ["compare", *files]).output
    assert "points" in shown
    assert "hops 0" in shown
    found = CliRunner().invoke(app, ["compare", *files, "--json", "--out", str(tmp_path / "c.json")])
    document = json.loads(found.output)
    assert document == json.loads((tmp_path / "c.json").read_text())
    assert {"difference", "interval", "p_value"} <= document.keys()


def test_other_test_nodes_are_refused(graph: Graph, tmp_path: Path) -> None:
    system = LPGNN(hops=1, max_epochs=2)
    for name, view in (("a", graph), ("b", graph.replace(split=None))):
        evaluate(system, view, [5], controls=False).save(tmp_path / f"{name}.json")
    found = CliRunner().invoke(app, ["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    assert isinstance(found.exception, InvalidData)
    assert "same test nodes" in str(found.exception)
