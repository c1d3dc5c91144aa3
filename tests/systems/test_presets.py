from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from privet.data import KNOWN, Graph, Schema, social_graph
from privet.errors import InvalidParameter
from privet.systems import SYSTEMS, presets
from privet.systems.presets import advised, demonstrated, prepared, preset, system_for

DOCUMENT = {
    "conditions": {"private_labels": {"hops": 3, "label_hops": 8}},
    "cora": {"hops": 16, "dropout": 0.5, "group_columns": 2, "private_labels": {"hops": 4}},
}


def test_conditions_refine_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "_document", lambda system: DOCUMENT)
    assert preset("x", "cora") == {"hops": 16, "dropout": 0.5}
    assert preset("x", "cora", "private_labels") == {"hops": 4, "dropout": 0.5, "label_hops": 8}
    assert preset("x", "pubmed", "private_labels") == {"hops": 3, "label_hops": 8}


@pytest.mark.parametrize("dataset", ["unknown", "somewhere/cora", "/data/cora", "cora.npz", ""])
def test_only_a_known_name_has_a_preset(dataset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "_document", lambda system: DOCUMENT)
    assert preset("x", dataset, "private_labels") == {}
    graph = social_graph(60, classes=2, features=4, seed=0)
    assert prepared(graph, "x", dataset) is graph
    assert prepared(graph, "x", "cora").features.shape[1] == 2


def test_a_system_without_a_file_has_no_preset() -> None:
    assert preset("nothing", "cora") == {}
    assert advised("nothing") == ()


@pytest.mark.parametrize("name", SYSTEMS)
def test_files_name_known_datasets_and_fields(name: str) -> None:
    known = {field.name for field in fields(SYSTEMS[name])} | presets._TRANSFORMS.keys()
    document = presets._document(name)
    assert set(document) <= {*KNOWN, "conditions", "published", "leaderboard", "demo", "advice"}
    for dataset in KNOWN:
        section = document.get(dataset, {})
        assert {key for key, value in section.items() if not isinstance(value, dict)} <= known
    graph = social_graph(60, classes=2, features=4, seed=0)
    for settings, _ in demonstrated(name, graph):
        SYSTEMS[name](**settings)


def test_conditions_follow_from_settings() -> None:
    assert SYSTEMS["lpgnn"].preset_condition({}) is None
    assert SYSTEMS["lpgnn"].preset_condition({"epsilon_labels": 3.0}) == "private_labels"
    assert SYSTEMS["rgnn"].preset_condition({"epsilon_labels": 3.0}) is None
    assert SYSTEMS["rgnn"].preset_condition({"epsilon_labels": 1.0}) == "noisy_labels"
    assert SYSTEMS["privge"].preset_condition({"epsilon_labels": 1.0}) is None


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("dataset", KNOWN)
def test_who_takes_part_does_not_depend_on_the_edges(name: str, dataset: str) -> None:
    """Of a graph with two components a preset keeps everybody, whatever edges there are."""
    one, other = (
        Graph.from_edges(
            edges, 40, schema=Schema.numeric(200, 0, 1, classes=2), features=np.zeros((40, 200), np.float32)
        )
        for edges in ([[0, 1, 2], [1, 2, 3]], [[0, 1], [1, 2]])
    )
    assert prepared(one, name, dataset).num_nodes == prepared(other, name, dataset).num_nodes == 40


def test_unknown_systems_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="lpgnn, privge, rgnn, solitude"):
        system_for("gcn", "cora", {})


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("lpgnn", {"hops": "abc"}, "an integer"),
        ("lpgnn", {"hidden_channels": 2.5}, "an integer"),
        ("lpgnn", {"hops": True}, "an integer"),
        ("lpgnn", {"batch_norm": "maybe"}, "true or false"),
        ("lpgnn", {"epsilon_labels": "abc"}, "None or a number"),
        ("lpgnn", {"backbone": 3}, "a word"),
        ("privge", {"alpha": "x"}, "a number"),
        ("heterpoisson", {"target_epsilon": "x"}, "None or a number"),
        ("heterpoisson", {"noise_multiplier": 1.0, "delta": "most"}, "above 0 and below 1, or 'paper'"),
        ("heterpoisson", {"epsilon_features": 1.0}, "heterpoisson has no setting epsilon_features"),
    ],
)
def test_settings_have_the_type_of_their_field(name: str, options: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        system_for(name, "none", options)


def test_whole_numbers_are_numbers_and_none_is_nothing() -> None:
    assert system_for("privge", "none", {"weight_decay": 0}).settings()["weight_decay"] == 0
    assert system_for("solitude", "none", {"epsilon_edges": "none"}).settings()["epsilon_edges"] is None
    assert system_for("heterpoisson", "none", {"target_epsilon": 1.0, "delta": 1e-5}).settings()["delta"] == 1e-5


def test_capitals_are_understood() -> None:
    assert system_for("LPGNN", "none", {}) == system_for("lpgnn", "none", {})


@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if kind.model == "local"])
def test_a_system_without_a_preset_is_the_class(name: str) -> None:
    kind = SYSTEMS[name]
    for dataset in ("", "/somewhere/cora", "cora.npz"):
        assert system_for(name, dataset, {}) == kind()


def test_settings_choose_the_condition() -> None:
    assert system_for("lpgnn", "cora", {"epsilon_labels": 1.0}).validation_reports
    assert not system_for("lpgnn", "cora", {}).validation_reports
    assert system_for("solitude", "cora", {"one_sided": False}).calibration == "published"
    assert system_for("privge", "cora", {}, "links").folds == 5
