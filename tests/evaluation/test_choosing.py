from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.evaluation.choosing import system_for
from privet.systems import SYSTEMS


def test_unknown_systems_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="lpgnn, privge, rgnn, solitude"):
        system_for("gcn", "cora", {})


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("lpgnn", {"hops": "abc"}, "of type int"),
        ("lpgnn", {"hidden_channels": 2.5}, "of type int"),
        ("lpgnn", {"hops": True}, "of type int"),
        ("lpgnn", {"batch_norm": "maybe"}, "of type bool"),
        ("lpgnn", {"epsilon_labels": "abc"}, "of type none or float"),
        ("lpgnn", {"backbone": 3}, "a word"),
        ("privge", {"alpha": "x"}, "of type float"),
        ("heterpoisson", {"target_epsilon": "x"}, "of type none or float"),
        ("heterpoisson", {"epsilon_features": 1.0}, "a setting of heterpoisson"),
    ],
)
def test_settings_have_the_type_of_their_field(name: str, options: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        system_for(name, "none", options)


def test_whole_numbers_are_numbers_and_none_is_nothing() -> None:
    assert system_for("privge", "none", {"weight_decay": 0}).settings()["weight_decay"] == 0
    assert system_for("solitude", "none", {"epsilon_edges": "none"}).settings()["epsilon_edges"] is None


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
