from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from some_advice import advice
from typer.testing import CliRunner

from privet.advice.plan import Way
from privet.cli import app
from privet.cli.render.advice import next_commands, print_advice
from privet.collection.study.study_file import template
from privet.systems import LPGNN, RGNN


def test_next_commands_spell_out_the_settings() -> None:
    assert next_commands(advice([2.0, 3.0, 4.0])) == [
        "privet account lpgnn --epsilon-features 1 --dimension 16 --classes 4",
        "privet run lpgnn --dataset DIRECTORY --epsilon-features 1 --hops 4 --set dropout=0.5",
        "privet study new study.toml --set people.nodes=9000 --set mechanism.name=multi-bit --set budgets.features=1",
    ]


def test_the_study_can_be_declared_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    filled = template().replace('"..."', '"Sleep"').replace("low = 0\nhigh = 12", "answers = 2")
    Path("study.toml").write_text(filled)
    sampled = RGNN(sample=2, epsilon_labels=1.0)
    budgets = {"features": 1.0, "labels": 1.0}
    best = Way("rgnn", "sampled-response", 2, budgets, "4", 80.0, 0.0, 0.0, sampled.settings())
    *_, study = next_commands(advice([2.0, 3.0, 4.0], recommended=best, nodes=100))
    found = CliRunner().invoke(app, shlex.split(study)[1:])
    assert found.exit_code == 0, found.exception


def test_without_features_the_guarantee_of_the_rest_is_looked_up() -> None:
    settings = LPGNN(epsilon_labels=2.0).settings()
    best = Way("lpgnn", "multi-bit", None, {"features": 1.0, "labels": 1.0}, "8", 80.0, 0.0, 0.0, settings)
    first, _ = next_commands(advice([-9.0, -9.0, -9.0], recommended=best, budget=2.0))
    assert first == "privet account randomized-response --epsilon 2 --classes 4"
    assert CliRunner().invoke(app, shlex.split(first)[1:]).exit_code == 0


def test_what_is_shown(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    print_advice(advice([0.0, 0.0, 0.0], advice="Do not collect."))
    shown = " ".join(capsys.readouterr().out.split())
    assert "a region of it with 2,000 people and 9.0 contacts each" in shown
    assert "nothing private was read" in shown
    assert "lpgnn" in shown
    assert "Do not collect." in shown
