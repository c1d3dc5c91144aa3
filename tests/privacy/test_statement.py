from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from privet.data import Graph
from privet.errors import InvalidData
from privet.privacy import Guarantee, Unit
from privet.privacy.statement import check_statement, read_statement, statement, statement_schema, write_statement
from privet.systems import GAP, LPGNN, Solitude

LOCAL = Guarantee.local(Unit.FEATURES, 10.0, published_epsilon=8.3, unprotected=("a",))
CENTRAL = Guarantee("central", Unit.NODE, "add or remove a node", 2.0, 1e-5, unprotected=("the number of nodes",))
RESULT: dict[str, Any] = {
    "system": "rgnn",
    "dataset": "cora",
    "version": "0.1.0",
    "mechanisms": ["sampled-response"],
    "guarantee": LOCAL.to_dict(),
    "ledger": [
        {"part": "features", "unit": "feature vector", "mechanism": "sampled-response", "epsilon": 10.0, "delta": 0.0}
    ],
}
RESULTS = {
    "local": RESULT,
    "central": {**RESULT, "guarantee": CENTRAL.to_dict()},
    "without a ledger": {name: value for name, value in RESULT.items() if name != "ledger"},
    "real": {**RESULT, "collection": "real"},
    "tuned": {**RESULT, "tuning": [{"hops": 2}, {"hops": 4}]},
    "central and real": {
        **RESULT,
        "guarantee": replace(CENTRAL, published_epsilon=9.0).to_dict(),
        "collection": "real",
    },
}


def test_the_statement_carries_the_true_epsilon_with_its_unit() -> None:
    document = statement(RESULT)
    assert document["epsilon"] == 10.0
    assert document["published_epsilon"] == 8.3
    assert document["privacy_unit"] == "feature vector"
    assert document["flavour"] == "pure DP"
    assert document["mechanisms"] == ["sampled-response"]
    (line,) = document["budget"]
    assert RESULT["ledger"][0].items() <= line.items()
    assert document["collection"] == "simulation"


def test_every_budget_line_names_the_unit_of_its_epsilon(graph: Graph) -> None:
    found = {}
    for system in (
        Solitude(epsilon_features=2.0, epsilon_edges=7.0),
        LPGNN(epsilon_labels=1.0),
        GAP(noise_multiplier=4.0),
    ):
        lines = [line.to_dict() for line in system.lines(graph)]
        guarantee = system.guarantee(graph).to_dict()
        mechanisms = [line["mechanism"] for line in lines]
        document = statement({**RESULT, "guarantee": guarantee, "ledger": lines, "mechanisms": mechanisms})
        found[system.name] = [line["unit"] for line in document["budget"]]
        check_statement(document, "statement")
    assert found == {
        "solitude": ["feature vector", "relationship"],
        "lpgnn": ["feature vector", "label"],
        "gap": ["node"],
    }


def test_it_is_written_as_yaml(tmp_path: Path) -> None:
    write_statement(RESULT, tmp_path / "privacy.yaml")
    assert yaml.safe_load((tmp_path / "privacy.yaml").read_text()) == statement(RESULT)


def test_a_central_run_is_not_described_as_reports_of_devices() -> None:
    document = statement(RESULTS["central"] | {"ledger": []})
    assert "steps" in document["composition"]
    assert not any("device" in str(value) or "report" in str(value) for value in document.values())
    assert document.keys() == statement(RESULT).keys()


def test_tuning_is_counted() -> None:
    assert statement(RESULTS["tuned"])["hyperparameter_tuning"].startswith("2 settings were tried")


@pytest.mark.parametrize("name", RESULTS)
def test_every_statement_is_valid_against_the_schema(name: str) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the JSON Schema validator is not installed")
    validator = jsonschema_rs.validator_for(statement_schema())
    document = statement(RESULTS[name])
    validator.validate(document)
    assert check_statement(document, "statement") == document


BROKEN: list[dict[str, Any]] = [
    {"epsilon": "1"},
    {"epsilon": -1.0},
    {"epsilon": True},
    {"delta": 2},
    {"flavour": "DP"},
    {"unprotected": "nothing"},
    {"unprotected": [1]},
    {"budget": [{"part": "features"}]},
    {"budget": [{name: value for name, value in RESULT["ledger"][0].items() if name != "unit"}]},
    {"deployment_model": None},
]


@pytest.mark.parametrize("change", BROKEN, ids=str)
def test_the_schema_and_the_check_refuse_the_same(change: dict[str, Any]) -> None:
    broken = statement(RESULT) | change
    with pytest.raises(InvalidData, match=f"field {next(iter(change))}"):
        check_statement(broken, "statement")
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the JSON Schema validator is not installed")
    assert not jsonschema_rs.validator_for(statement_schema()).is_valid(broken)


@pytest.mark.parametrize("name", statement_schema()["required"])
def test_every_field_is_demanded(name: str) -> None:
    with pytest.raises(InvalidData, match=f"it lacks {name}"):
        check_statement({key: value for key, value in statement(RESULT).items() if key != name}, "statement")


def test_it_is_read_from_a_result_a_statement_and_a_directory(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(RESULT))
    write_statement(RESULT, tmp_path / "result.privacy.yaml")
    sources = [tmp_path / "result.json", tmp_path / "result.privacy.yaml", tmp_path]
    assert [read_statement(source) for source in sources] == [statement(RESULT)] * 3
    write_statement(RESULTS["central"], tmp_path / "privacy.yaml")
    assert read_statement(tmp_path)["deployment_model"] == "central"


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"points": []}', '{"guarantee": 3, "version": "1"}', "null"])
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_other_files_are_refused_in_one_sentence(text: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"file.{suffix}"
    path.write_text(text)
    with pytest.raises(InvalidData) as found:
        read_statement(path)
    assert "\n" not in str(found.value)


def test_a_directory_without_a_statement(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match=r"has no privacy\.yaml"):
        read_statement(tmp_path)


def test_a_panel_s_data_are_not_left_out_of_what_the_server_sees() -> None:
    shown = statement({**RESULT, "guarantee": replace(LOCAL, exempt=("the panel",)).to_dict()})
    assert "also sees the data of those whom the promise does not cover" in shown["post_processing"]
    assert "does not hold for the panel" in shown["in_words"]
    for document in (shown, statement(RESULT)):
        assert "nothing else" not in document["post_processing"]


def test_no_statement_speaks_of_liars_and_each_names_its_build() -> None:
    document = statement({**RESULT, "build": "sha256:" + "0" * 64})
    assert "liar" not in json.dumps(document)
    assert document["build"] == "sha256:" + "0" * 64
    check_statement(document, "statement")


def test_a_delta_above_a_tenth_of_a_person_is_warned_of(graph: Graph) -> None:
    for delta, warned in ((None, False), ("paper", True)):
        promise = GAP(noise_multiplier=4.0, delta=delta).guarantee(graph)
        document = statement({**RESULT, "guarantee": promise.to_dict()})
        assert any("some people altogether" in text for text in document["unprotected"]) == warned
