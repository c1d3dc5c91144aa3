"""A fresh environment with the base dependencies alone takes part in a study, without what a server needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytest.importorskip("starlette", reason="the collector in this test needs the extra 'collection'")

from simulated_studies import make_study

from privet import __version__
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector

ROOT = Path(__file__).parents[2]


def install(python: Path, *requirements: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    arguments = [*command, "--constraint", ROOT / "constraints.txt", *requirements]
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=600, check=False)


def link(requirements: list[str], home: Path) -> None:
    """Link what some requirements bring into an environment, from this one: pip would spend a minute on copies."""
    (site,) = home.glob("lib/python*/site-packages")
    waiting, known = [Requirement(each) for each in requirements], set()
    while waiting:
        wanted = waiting.pop()
        if wanted.name in known or not (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            continue
        known.add(wanted.name)
        found = distribution(wanted.name)
        waiting += map(Requirement, found.requires or [])
        for name in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(found.locate_file(name))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the programs of an environment with privet and its base dependencies."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home / "venv", with_pip=False)
    programs = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    link([*project["project"]["dependencies"], *project["build-system"]["requires"]], home / "venv")
    source = home / "source"  # a build leaves files beside what it builds
    shutil.copytree(ROOT / "privet", source / "privet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    done = install(programs / "python", "--no-deps", "--no-build-isolation", source)
    assert done.returncode == 0, done.stderr
    return programs


def privet(base: Path, *arguments: object, home: Path, status: int = 0) -> str:
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "COLUMNS": "200"}
    environment.pop("PYTHONPATH", None)
    command = [str(base / "privet"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=environment, timeout=120, check=False)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stderr if status else done.stdout


def test_taking_part_needs_the_base_installation_only(base: Path, tmp_path: Path) -> None:
    listed = subprocess.run(
        [str(base / "python"), "-c", "import importlib.metadata as m; print([d.name for d in m.distributions()])"],
        capture_output=True, text=True, check=True,
    ).stdout.lower()  # fmt: skip
    assert "numpy" in listed
    assert not any(name in listed for name in ("torch", "starlette", "sqlalchemy", "pyarrow", "matplotlib"))

    assert "participate" in privet(base, "--help", home=tmp_path)
    assert f"privet {__version__}" in privet(base, "--version", home=tmp_path)
    study = make_study()
    folder = StudyFolder.create(tmp_path / "study", study)
    answers = tmp_path / "me.json"
    answers.write_text(json.dumps({"features": [0.5] * study.declared.dimension, "label": 1}))
    with live_collector(folder) as address:
        link = f"{address}/#study={study.id}&token={folder.tokens.issue(3)}"
        assert "The collector has it." in privet(
            base, "participate", link, "--answers", answers, "--limit", 100, "--yes", home=tmp_path
        )
    assert study.title in privet(base, "ledger", home=tmp_path)


def test_a_command_that_needs_more_says_which_extra_brings_it(base: Path, tmp_path: Path) -> None:
    told = privet(base, "run", "lpgnn", "--dataset", "x.npz", home=tmp_path, status=2)
    assert told == "privet: privet run needs the extra 'learning': pip install 'privet[learning]'.\n"
    told = privet(base, "study", "serve", tmp_path, home=tmp_path, status=2)
    assert told == "privet: privet study serve needs the extra 'collection': pip install 'privet[collection]'.\n"
