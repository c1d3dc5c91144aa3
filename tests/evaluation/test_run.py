from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from privet.evaluation.run import print_result, run_system, write_result

from privet.data import Graph
from privet.systems import LPGNN, Solitude


@pytest.fixture(scope="module")
def result(graph: Graph) -> dict:
    done: list[int] = []
    found = run_system(LPGNN(hops=1, max_epochs=5), graph, "tiny", 2, done=lambda: done.append(1))
    assert len(done) == 10
    return found


def test_the_document_has_the_promised_fields(result: dict) -> None:
    promised = {
        "system", "dataset", "task", "settings", "seeds", "metric", "mean", "std", "values", "controls", "guarantee",
        "seconds", "peak_rss_mb", "version",
    }  # fmt: skip
    assert promised <= set(result)
    assert set(result["controls"]) == {"structure_only", "label_propagation", "features_only", "non_private"}
    wanted = {"model", "unit", "adjacency", "epsilon", "delta", "published_epsilon", "unprotected"}
    assert set(result["guarantee"]) == wanted
    assert result["guarantee"]["epsilon"] == 1.0
    assert "the edges, which are public" in result["guarantee"]["unprotected"]
    assert result["peak_rss_mb"] > 50
    assert len(result["values"]) == 2
    assert [entry["epsilon"] for entry in result["ledger"]] == [1.0]
    assert result["facts"] == {}


def test_classes_add_up_to_the_accuracy(result: dict) -> None:
    rows = result["per_class"]
    assert [row["class"] for row in rows] == [0, 1, 2]
    assert sum(row["support"] for row in rows) == 60
    assert all(row["controls"].keys() == result["controls"].keys() for row in rows)
    spread = max(row["recall"] for row in rows), min(row["recall"] for row in rows)
    assert spread[0] >= result["mean"] >= spread[1]


def test_it_is_printed_with_controls_and_one_sentence(result: dict, capsys: pytest.CaptureFixture) -> None:
    print_result(result)
    printed = " ".join(capsys.readouterr().out.split())
    assert "label propagation" in printed
    assert "the private features" in printed.lower()
    assert "true epsilon 1" in printed


def test_it_is_written_with_a_privacy_statement(result: dict, tmp_path: Path) -> None:
    write_result(result, tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["mean"] == result["mean"]
    statement = yaml.safe_load((tmp_path / "result.privacy.yaml").read_text())
    assert statement["epsilon"] == 1.0
    assert statement["mechanisms"] == ["multi-bit"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.json", "result.privacy.yaml"]


def test_without_controls(graph: Graph) -> None:
    alone = run_system(LPGNN(hops=1, max_epochs=2), graph, "tiny", 1, controls=False)
    assert alone["controls"] == {}
    assert "verdict" not in alone


def test_a_private_topology_is_said_to_hold_noise(graph: Graph, capsys: pytest.CaptureFixture) -> None:
    found = run_system(Solitude(epsilon_edges=5.0, max_epochs=2), graph, "tiny", 1, controls=False)
    assert 0 < found["facts"]["expected_noise"] < found["facts"]["reported_pairs"]
    print_result(found)
    assert "reported edges about" in " ".join(capsys.readouterr().out.split())
