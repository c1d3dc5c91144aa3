from __future__ import annotations

from pathlib import Path

import yaml

from privet.privacy import Guarantee, Unit
from privet.privacy.statement import statement, write_statement

RESULT = {
    "system": "rgnn",
    "dataset": "cora",
    "version": "0.1.0",
    "mechanisms": ["sampled-response"],
    "guarantee": Guarantee.local(Unit.FEATURES, 10.0, published_epsilon=8.3, unprotected=("a",)).to_dict(),
}


def test_the_statement_carries_the_true_epsilon_with_its_unit() -> None:
    document = statement(RESULT)
    assert document["epsilon"] == 10.0
    assert document["published_epsilon"] == 8.3
    assert document["privacy_unit"] == "feature vector"
    assert document["flavour"] == "pure DP"
    assert document["mechanisms"] == ["sampled-response"]


def test_it_is_written_as_yaml(tmp_path: Path) -> None:
    write_statement(RESULT, tmp_path / "privacy.yaml")
    assert yaml.safe_load((tmp_path / "privacy.yaml").read_text()) == statement(RESULT)


def test_a_central_run_is_not_described_as_reports_of_devices() -> None:
    central = Guarantee("central", Unit.NODE, "add or remove a node", 2.0, 1e-5).to_dict()
    document = statement({**RESULT, "guarantee": central})
    assert "steps" in document["composition"]
    assert not any("device" in str(value) or "report" in str(value) for value in document.values())
    assert document.keys() == statement(RESULT).keys()
