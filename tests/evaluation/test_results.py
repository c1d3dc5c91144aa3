from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from privet.errors import InvalidData, PrivetError
from privet.evaluation import Comparison, Figures, Result, Sweep
from privet.privacy import Guarantee, Unit

PROMISED = {
    "system", "dataset", "task", "settings", "seeds", "metric", "mean", "std", "values", "controls", "guarantee",
    "seconds", "peak_rss_mb", "version",
}  # fmt: skip


def result(epsilon: float = 1.0, **changes) -> Result:
    facts = {
        "system": "lpgnn",
        "dataset": "village",
        "task": "node classification",
        "metric": "accuracy (%)",
        "settings": {"hops": 4, "epsilon_features": epsilon},
        "seeds": (0, 1),
        "figures": Figures((80.0, 82.0)),
        "controls": {"structure_only": Figures((79.0, 80.0), "no info", "structure only", "the private features")},
        "guarantee": Guarantee.local(Unit.FEATURES, epsilon, unprotected=("the edges, which are public",)),
        "mechanisms": ("multi-bit",),
        "version": "0.1.0",
    }
    return Result(**facts | changes)


def test_the_document_has_the_promised_fields_and_reads_back() -> None:
    document = json.loads(json.dumps(result().to_dict()))
    assert set(document) >= PROMISED
    assert document["mean"] == 81.0
    assert document["controls"]["structure_only"]["mean"] == 79.5
    wanted = {"model", "unit", "adjacency", "epsilon", "delta", "published_epsilon", "unprotected"}
    assert set(document["guarantee"]) >= wanted
    assert Result.from_dict(document) == result()


def test_one_seed_has_no_standard_deviation() -> None:
    one = result(seeds=(0,), figures=Figures((80.0,)), controls={})
    assert one.to_dict()["std"] is None
    assert "one seed" in repr(one)
    assert "+-" not in repr(one)


def test_a_users_path_is_not_kept() -> None:
    assert result(dataset="/home/somebody/secret/village.npz").dataset == "village.npz"
    assert result(dataset="pyg:Planetoid/Cora").dataset == "pyg:Planetoid/Cora"


def test_it_is_written_with_a_privacy_statement_and_loaded(tmp_path: Path) -> None:
    result(dataset="/home/somebody/village").save(tmp_path / "result.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "result.privacy.yaml"]
    assert Result.load(tmp_path / "result.json") == result()
    text = (tmp_path / "result.privacy.yaml").read_text()
    assert yaml.safe_load(text)["mechanisms"] == ["multi-bit"]
    assert "somebody" not in text + (tmp_path / "result.json").read_text()


def test_older_files_are_read() -> None:
    document = result().to_dict()
    for name in ("seeds", "ledger", "per_class", "facts", "mechanisms", "version", "seconds", "peak_rss_mb"):
        del document[name]
    document["controls"]["structure_only"] = {"mean": 79.5, "std": 0.7, "values": [79.0, 80.0]}
    found = Result.from_dict(document)
    assert found.seeds == (0, 1)
    assert found.controls["structure_only"].short == "structure only"
    assert found.split is None


@pytest.mark.parametrize("change", [{"guarantee": {}}, {"values": []}, {"mean": "x"}, {"controls": 3}])
def test_what_is_no_result(change: dict) -> None:
    with pytest.raises(InvalidData, match=r"file 'r.json'.* cannot be read"):
        Result.from_dict(result().to_dict() | change, "file 'r.json'")
    with pytest.raises(InvalidData, match="a JSON list"):
        Result.from_dict([])


def test_rows_and_notebooks_and_frames() -> None:
    one = result(system="<b>")
    assert len(one.rows()) == 4
    shown = one._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>&lt;b&gt;</b>" in shown
    assert shown.count("<tr>") == 1 + 1 + len(one.controls)  # a row a figure, not a row a seed
    assert one.controls["structure_only"].title in shown
    assert "structure_only" not in shown
    assert "± 12.7" in shown
    assert "Protected: feature vector (local model)" in shown
    assert list(one.to_frame()["value"]) == [80.0, 82.0, 79.0, 80.0]


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PrivetError, match=r"^to_frame needs pandas: pip install 'privet\[learning\]'\.$"):
        result().to_frame()


def test_a_sweep_reads_back() -> None:
    sweep = Sweep("epsilon_features", (result(1.0), result(2.0)))
    assert sweep.epsilons == (1.0, 2.0)
    document = json.loads(json.dumps(sweep.to_dict()))
    assert document["half_widths"][0] == pytest.approx(12.706, abs=1e-3)
    assert Sweep.from_dict(document) == sweep
    assert len(sweep.rows()) == 8
    assert repr(sweep) == "Sweep(lpgnn on village: epsilon_features 1, 2)"
    shown = sweep._repr_html_()
    assert shown.count("<tr>") == 1 + 2
    assert "81.0 ± 12.7" in shown
    for wrong in ({}, {"swept": "x", "points": []}, {"swept": "x", "points": [{}]}):
        with pytest.raises(InvalidData):
            Sweep.from_dict(wrong)


def test_a_comparison_reads_back_and_speaks() -> None:
    found = Comparison("a", "b", "accuracy (%)", (0, 1, 2), (4.0, 4.2, 3.8), 0.001)
    assert Comparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert "a is better than b: +4.0 points" in found.sentence
    assert "b: -4.0" in replace(found, differences=(-4.0, -4.2, -3.8)).sentence
    assert "cannot be told apart" in replace(found, differences=(4.0, -4.2, 3.8)).sentence
    assert "one seed" in Comparison("a", "b", "m", (0,), (4.0,), None).sentence
