from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.app import BadOption
from privet.data import social_graph, write_directory
from privet.errors import InvalidParameter
from privet.evaluation.damage import DamageCurve


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("village") / "village"
    write_directory(social_graph(80, classes=2, average_degree=6, features=4, seed=0), place)
    return place


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["attack", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_attack_is_printed_kept_and_drawn(dataset: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "damage.json", tmp_path / "damage.svg"
    quick = ("--dataset", str(dataset), "--seeds", "1", "--set", "max_epochs=3", "--share", "0.1")
    printed = run("solitude", *quick, "--defence", "bound", "--out", str(out), "--plot", str(plot))
    for word in ("honest", "liars", "random", "def.", "One seed"):
        assert word in printed
    curve = DamageCurve.load(out)
    assert (curve.defence, curve.points[0].share) == (("bound",), 0.1)
    assert plot.read_text().startswith("<?xml")


def test_a_frequency_needs_no_training(dataset: Path) -> None:
    found = json.loads(
        run("lpgnn", "--dataset", str(dataset), "--goal", "frequency", "--share", "0.2", "--seeds", "2", "--json")
    )
    point = found["damage"][0]
    assert point["attacked"]["mean"] > point["honest"]["mean"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("--goal", "fame"), "--goal takes accuracy"),
        (("--kind", "random"), "--kind takes report"),
        (("--choice", "best"), "--choice takes random or hubs"),
        (("--share", "2"), "--share takes numbers"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...], match: str, dataset: Path) -> None:
    with pytest.raises(BadOption, match=match):
        run("lpgnn", "--dataset", str(dataset), *arguments)


def test_systems_and_defences_that_do_not_fit(dataset: Path) -> None:
    with pytest.raises(BadOption, match="asks no devices"):
        run("gap", "--dataset", str(dataset))
    with pytest.raises(InvalidParameter, match="one or more of screen and bound"):
        run("lpgnn", "--dataset", str(dataset), "--defence", "trim")
    with pytest.raises(InvalidParameter, match="without agree"):
        run("solitude", "--dataset", str(dataset), "--defence", "agree")
