"""`privet run`, `sweep` and `table` as a user runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from unittest import mock

import pytest
from commands import Ran, run_privet
from typer.testing import CliRunner

from privet.cli import app
from privet.data import Graph, write_directory
from privet.systems import LPGNN, SYSTEMS


def privet(*arguments: str, **environment: str) -> Ran:
    with mock.patch.dict(os.environ):
        os.environ.pop("PRIVET_DATA", None)
        return run_privet(*arguments, environment=environment)


@pytest.mark.parametrize("system", ["lpgnn", "privge", "rgnn"])
def test_run_on_the_users_own_data(system: str, dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    group = ("--group-columns", "1") if system == "rgnn" else ()
    options = ("--dataset", str(dataset), "--seeds", "1", "--no-controls", "--out", str(out), "--json", *group)
    result = privet("run", system.upper(), *options)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document == json.loads(out.read_text())
    assert document["dataset"] == "tiny.npz"  # not the path on the user's machine
    assert document["std"] is None
    assert document["system"] == system
    assert (tmp_path / "result.privacy.yaml").exists()


def test_tuning_and_options(dataset: Path) -> None:
    result = privet(
        "run", "lpgnn", "--dataset", str(dataset), "--seeds", "1", "--no-controls", "--tune", "1",
        "--epsilon-features", "2", "--epsilon-labels", "1", "--backbone", "sage", "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["guarantee"]["epsilon"] == 6.0  # the search had a collection of its own
    assert document["settings"]["backbone"] == "sage"
    assert "validation accuracy" in result.stderr
    assert len(document["tuning"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "gcn", "--dataset", "cora"), "one of inquiry, lpgnn, privge, rgnn"),
        (("run", "lpgnn", "--dataset", "corra", "--data", "/tmp"), "cora"),
        (("run", "lpgnn", "--dataset", "cora"), "PRIVET_DATA"),
        (("run", "lpgnn", "--dataset", "nowhere.npz"), "nowhere.npz"),
        (("table", "lpgnn-9"), "lpgnn-3"),
        (("table", "lpgnn-3", "--only", "reddit"), "among cora"),
        (("run", "lpgnn", "--dataset", "cora", "--epsilon", "1"), "takes --epsilon-features, --epsilon-labels"),
        (("run", "gap", "--dataset", "cora"), "needs --epsilon"),
        (("run", "lpgnn", "--dataset", "cora", "--hops", "1", "--set", "hops=2"), "given twice"),
        (("sweep", "lpgnn", "--dataset", "cora", "--epsilon-features", "1"), "what the sweep changes"),
        (("sweep", "lpgnn", "--dataset", "cora", "--epsilon", "0,1"), "above 0"),
        (("table", "lpgnn-3", "--only", "cora", "--out", "/nowhere/t.json"), "existing directory"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: tuple[str, ...], sentence: str) -> None:
    result = privet(*arguments)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_stored_run_is_drawn_and_printed(dataset: Path, tmp_path: Path) -> None:
    options = ("--dataset", str(dataset), "--seeds", "1", "--set", "max_epochs=3", "--store", str(tmp_path / "store"))
    result = privet("run", "lpgnn", *options, "--plot", str(tmp_path / "figure.svg"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("one seed") == 8
    assert len(list((tmp_path / "store").iterdir())) == 8
    assert "no info" in (tmp_path / "figure.svg").read_text()


def test_a_directory_called_like_a_dataset_has_no_preset(graph: Graph, tmp_path: Path) -> None:
    write_directory(graph.replace(split=None), tmp_path / "cora")
    options = ("--dataset", str(tmp_path / "cora"), "--seeds", "1", "--no-controls", "--set", "max_epochs=2", "--json")
    result = privet("run", "lpgnn", *options)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["settings"]["hops"] == LPGNN().hops != 16


def test_a_sweep_on_the_users_own_data(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep.json"
    options = ("--epsilon", "1,4", "--seeds", "2", "--no-controls", "--set", "max_epochs=5", "--out", str(out))
    result = privet("sweep", "lpgnn", "--dataset", str(dataset), *options, "--store", str(tmp_path / "store"))
    assert result.returncode == 0, result.stderr
    document = json.loads(out.read_text())
    assert (document["system"], document["swept"], len(document["points"])) == ("lpgnn", "epsilon_features", 2)
    assert "95% confidence" in result.stdout


def test_an_option_of_another_system_is_refused(dataset: Path) -> None:
    result = privet("run", "privge", "--dataset", str(dataset), "--hops", "2")
    assert result.returncode == 2
    assert "hops" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_that_predictions_cannot_be_written_to_is_refused_before_the_work(tmp_path: Path) -> None:
    result = run_privet("run", "lpgnn", "--dataset", "nothing", "--predictions", tmp_path / "p.txt")
    assert result.returncode == 2
    assert result.stderr == "privet: The file of predictions must be a .csv or .parquet file, not p.txt.\n"


def test_the_list_names_systems_and_datasets_and_needs_no_argument() -> None:
    found = CliRunner().invoke(app, ["run", "--list"])
    assert found.exit_code == 0, found.output
    assert [line.split()[0] for line in found.output.splitlines()[:-1]] == list(SYSTEMS)
    assert "cora" in found.output.splitlines()[-1]
