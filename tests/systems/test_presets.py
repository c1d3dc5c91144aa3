from __future__ import annotations

import pytest

from privet.systems import presets
from privet.systems.presets import condition_for, preset

DOCUMENT = {
    "default": {"hops": 2, "dropout": 0.5, "private_labels": {"hops": 3, "label_hops": 8}},
    "cora": {"hops": 16, "private_labels": {"hops": 4}},
}


def test_datasets_refine_defaults_and_conditions_refine_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "_document", lambda system: DOCUMENT)
    assert preset("x", "unknown") == {"hops": 2, "dropout": 0.5}
    assert preset("x", "cora") == {"hops": 16, "dropout": 0.5}
    assert preset("x", "cora", "private_labels") == {"hops": 4, "dropout": 0.5, "label_hops": 8}
    assert preset("x", "unknown", "private_labels") == {"hops": 3, "dropout": 0.5, "label_hops": 8}


def test_a_system_without_a_file_has_no_preset() -> None:
    assert preset("nothing", "cora") == {}


def test_conditions() -> None:
    assert condition_for("lpgnn", {}) is None
    assert condition_for("lpgnn", {"epsilon_labels": 3.0}) == "private_labels"
    assert condition_for("rgnn", {"epsilon_labels": 3.0}) is None
    assert condition_for("rgnn", {"epsilon_labels": 1.0}) == "noisy_labels"
    assert condition_for("privge", {"epsilon_labels": 1.0}) is None
