"""A package outside privet adds a mechanism, a system and a backbone; it is installed and used, unknown to privet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from privet.data import save, social_graph

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"
NAMES = ("three-point", "three_point", "ThreePoint", "nearest-centre", "NearestCentre")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plugin is installed; its source is copied, since a build writes beside it."""
    source, target = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    shutil.copytree(PLUGIN, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    paths = [str(target), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "120"}


def privet(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "privet.cli", *arguments], capture_output=True, text=True, check=False, env=environment
    )


def test_nothing_in_privet_knows_the_plugin() -> None:
    for file in (*(ROOT / "privet").rglob("*.py"), *(ROOT / "privet").rglob("*.toml"), ROOT / "pyproject.toml"):
        assert not any(name in file.read_text() for name in NAMES), file


def test_without_it_the_names_are_unknown() -> None:
    result = privet(dict(os.environ), "account", "three-point")
    assert result.returncode == 2
    assert "three-point" in result.stderr


def test_its_guarantee_is_accounted_for(environment: dict[str, str]) -> None:
    result = privet(environment, "account", "three-point", "--epsilon", "0.5", "--dimension", "4", "--json")
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["mechanism"] == "three-point"
    assert summary["guarantee"]["epsilon"] == 0.5
    assert summary["guarantee"]["unit"] == "feature vector"


def test_its_guarantee_is_audited(environment: dict[str, str]) -> None:
    own = privet(environment, "audit", "three-point", "--epsilon", "0.5", "--json")
    assert own.returncode == 0, own.stderr
    assert json.loads(own.stdout)["holds"]
    assert privet(environment, "audit", "three-point", "--epsilon", "0.5", "--claim", "0.49").returncode == 1


def test_its_system_runs(environment: dict[str, str], tmp_path: Path) -> None:
    data, out = tmp_path / "people.npz", tmp_path / "result.json"
    save(social_graph(240, classes=3, features=12, homophily=0.9, feature_signal=0.9, seed=0), data)
    arguments = ["--dataset", str(data), "--epsilon-features", "4", "--seeds", "2", "--out", str(out)]
    result = privet(environment, "run", "nearest-centre", *arguments)
    assert result.returncode == 0, result.stderr
    found = json.loads(out.read_text())
    assert found["system"] == "nearest-centre"
    assert found["guarantee"]["epsilon"] == 4.0
    assert {"structure_only", "label_propagation"} <= set(found["controls"])


def test_its_backbone_runs_in_a_system_of_privet(environment: dict[str, str], tmp_path: Path) -> None:
    data, out = tmp_path / "people.npz", tmp_path / "result.json"
    save(social_graph(240, classes=3, features=12, homophily=0.9, feature_signal=0.9, seed=0), data)
    arguments = ["--dataset", str(data), "--backbone", "mean", "--no-controls", "--seeds", "1", "--out", str(out)]
    result = privet(environment, "run", "lpgnn", *arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(out.read_text())["settings"]["backbone"] == "mean"
    refused = privet(dict(os.environ), "run", "lpgnn", *arguments)
    assert refused.returncode == 2
    assert "mean" in refused.stderr


def test_its_systems_guarantee_is_accounted_for(environment: dict[str, str]) -> None:
    result = privet(environment, "account", "nearest-centre", "--epsilon-features", "3", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["guarantee"]["epsilon"] == 3.0


def test_its_own_tests_pass(environment: dict[str, str]) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "-c",
        os.devnull,
    ]
    result = subprocess.run(
        [*command, str(PLUGIN / "tests")], capture_output=True, text=True, check=False, env=environment, cwd=PLUGIN
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "skipped" not in result.stdout
