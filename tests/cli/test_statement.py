from __future__ import annotations

from pathlib import Path

import pytest
from simulated_studies import make_study
from typer.testing import CliRunner

from privet.cli import app
from privet.evaluation import Figures, Result
from privet.privacy import Guarantee, Unit


@pytest.fixture
def result(tmp_path: Path) -> Path:
    Result(
        system="lpgnn", dataset="village", task="node classification", metric="accuracy (%)", settings={"hops": 4},
        seeds=(0, 1), figures=Figures((80.0, 82.0)), controls={}, mechanisms=("multi-bit",), version="0.1.0",
        guarantee=Guarantee.local(Unit.FEATURES, 1.0, unprotected=("the edges, which are public",)),
    ).save(tmp_path / "result.json")  # fmt: skip
    return tmp_path / "result.json"


def test_a_statement_is_printed_from_every_source(result: Path) -> None:
    sources = [result, result.with_name("result.privacy.yaml"), result.parent]
    printed = [CliRunner().invoke(app, ["statement", str(source)]).output for source in sources]
    assert printed[0].startswith("Privacy statement: lpgnn on village\n")
    assert printed[0] == printed[1] == printed[2]
    markdown = CliRunner().invoke(app, ["statement", str(result), "--markdown"]).output
    assert markdown.startswith("# Privacy statement: lpgnn on village\n")


def test_an_impact_assessment_is_written_from_a_study_or_its_manifest(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="the collection extra is not installed")
    from privet.collection.operator.folder import StudyFolder

    study = make_study(title="Sleep")
    StudyFolder.create(tmp_path / "study", study)
    command = ["statement", "--dpia", str(tmp_path / "study"), "--out", str(tmp_path / "dpia.md")]
    printed = CliRunner().invoke(app, command).output
    text = (tmp_path / "dpia.md").read_text()
    assert text.startswith("# Data-protection impact assessment: Sleep\n")
    assert f"{text.count('**OPEN') - 1} questions are left open" in printed
    assert CliRunner().invoke(app, ["statement", "--dpia", str(tmp_path / "study" / "study.json")]).output == text
    missing = CliRunner().invoke(app, ["statement", "--dpia", str(tmp_path / "nothing.json")])
    assert "is no study's directory and no study.json" in str(missing.exception)
