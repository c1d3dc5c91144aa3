"""A package outside privet adds a mechanism, a system and a backbone; it is installed and used, unknown to privet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import Ran, run_privet

from privet.data import save, social_graph

ROOT = Path(__file__).parents[2]
HELPERS = ROOT / "tests" / "helpers"
COMMANDS = """
import json, sys
from dataclasses import astuple
from commands import run_privet
for line in sys.stdin:
    print(json.dumps(astuple(run_privet(*json.loads(line)))), flush=True)
"""
PLUGIN = ROOT / "examples" / "plugin"
NAMES = (
    "three-point",
    "three_point",
    "ThreePoint",
    "nearest-centre",
    "NearestCentre",
    "friend-majority",
    "FriendMajority",
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the plugin is installed; its source is copied, since a build writes beside it."""
    source, target = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    shutil.copytree(PLUGIN, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    paths = [str(target), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "COLUMNS": "120"}


@pytest.fixture(scope="module")
def privet(environment: dict[str, str]) -> Iterator[Callable[..., Ran]]:
    """Commands in one process that has the plugin: starting each of them would take most of their time."""
    helpers = {**environment, "PYTHONPATH": os.pathsep.join([environment["PYTHONPATH"], str(HELPERS)])}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", COMMANDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=helpers,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        given, found = process.stdin, process.stdout

        def run(*arguments: str) -> Ran:
            print(json.dumps(arguments), file=given, flush=True)
            return Ran(*json.loads(found.readline()))

        yield run
        given.close()


def test_nothing_in_privet_knows_the_plugin() -> None:
    for file in (*(ROOT / "privet").rglob("*.py"), *(ROOT / "privet").rglob("*.toml"), ROOT / "pyproject.toml"):
        assert not any(name in file.read_text() for name in NAMES), file


def test_without_it_the_names_are_unknown() -> None:
    result = run_privet("account", "three-point")
    assert result.returncode == 2
    assert "three-point" in result.stderr


def test_its_guarantee_is_accounted_for(privet: Callable[..., Ran]) -> None:
    result = privet("account", "three-point", "--epsilon", "0.5", "--dimension", "4", "--json")
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["mechanism"] == "three-point"
    assert summary["guarantee"]["epsilon"] == 0.5
    assert summary["guarantee"]["unit"] == "feature vector"


def test_its_guarantee_is_audited(privet: Callable[..., Ran]) -> None:
    own = privet("audit", "three-point", "--epsilon", "0.5", "--json")
    assert own.returncode == 0, own.stderr
    assert json.loads(own.stdout)["holds"]
    assert privet("audit", "three-point", "--epsilon", "0.5", "--claim", "0.49").returncode == 1


def test_its_system_runs(privet: Callable[..., Ran], tmp_path: Path) -> None:
    data, out = tmp_path / "people.npz", tmp_path / "result.json"
    save(social_graph(240, classes=3, features=12, homophily=0.9, feature_signal=0.9, seed=0), data)
    arguments = ["--dataset", str(data), "--epsilon-features", "4", "--seeds", "2", "--out", str(out)]
    result = privet("run", "nearest-centre", *arguments)
    assert result.returncode == 0, result.stderr
    found = json.loads(out.read_text())
    assert found["system"] == "nearest-centre"
    assert found["guarantee"]["epsilon"] == 4.0
    assert {"structure_only", "label_propagation"} <= set(found["controls"])


def test_its_backbone_runs_in_a_system_of_privet(privet: Callable[..., Ran], tmp_path: Path) -> None:
    data, out = tmp_path / "people.npz", tmp_path / "result.json"
    save(social_graph(240, classes=3, features=12, homophily=0.9, feature_signal=0.9, seed=0), data)
    arguments = ["--dataset", str(data), "--backbone", "mean", "--no-controls", "--seeds", "1", "--out", str(out)]
    result = privet("run", "lpgnn", *arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(out.read_text())["settings"]["backbone"] == "mean"
    refused = run_privet("run", "lpgnn", *arguments)
    assert refused.returncode == 2
    assert "mean" in refused.stderr


def test_its_systems_guarantee_is_accounted_for(privet: Callable[..., Ran]) -> None:
    result = privet("account", "nearest-centre", "--epsilon-features", "3", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["guarantee"]["epsilon"] == 3.0


ROUNDS = """
import json, sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from privet.collection.operator.declaration import declare
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.received import Received
from privet.collection.operator.rehearsal import live_collector, play_people
from privet.collection.operator.rounds import next_round, recompute
from privet.collection.operator.training import train
from privet.data import social_graph, split_nodes
from privet.evaluation import evaluate
from privet.systems import SYSTEMS

graph = social_graph(120, classes=3, average_degree=10, homophily=0.9, features=4, seed=0)
graph = graph.replace(schema=replace(graph.schema, private_edges=True))
system = SYSTEMS.find("friend-majority")(epsilon_labels=6.0, epsilon_edges=6.0, seed=0)
simulated = evaluate(system, graph.replace(split=split_nodes(graph, 0.4, 0.1, seed=0)), seeds=(0, 1))
now = datetime.now(UTC)
period = (now - timedelta(minutes=5), now + timedelta(days=1))
about = {"title": "Friends", "purpose": "To be tested.", "operator": "privet developers", "eligible": "Nobody real."}
about |= {"nodes": 120, "opens": period[0].isoformat(), "closes": period[1].isoformat()}
first = declare(about, graph.schema, system, people=np.arange(60))
folder = StudyFolder.create(Path(sys.argv[1]), first.study, public=first.public, asks=first.asks)
with live_collector(folder) as address:
    store, asked = folder.store(), []
    for study in (first.study, None):
        study = study or next_round(store, *period)
        people = store.at(study).form.everybody()
        outcomes = play_people(folder, address, graph, people, round_=study)
        asked.append([[each.name for each in study.release.questions], len(people), outcomes.count("stored")])
    model = train(Received.at(store))
    same = [each.differing for each in recompute(store)]
    announced = first.study.plan.questions
    store.dispose()
right = float((model.fitted.predict() == graph.labels)[60:].mean())
print(json.dumps({
    "simulated": simulated.mean, "asked": asked, "right": right, "same": same,
    "epsilon": model.fitted.guarantee.epsilon, "announced": [each["ask"] for each in announced],
}))
"""


def test_its_system_of_two_rounds_is_a_simulation_and_a_study_over_http(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Both rounds are announced in the first manifest; the second one's table comes from the first one's answers."""
    command = [sys.executable, "-W", "ignore", "-c", ROUNDS, str(tmp_path / "study")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["announced"] == ["label", "friends"]
    (one, first, stored), (two, second, counted) = found["asked"]
    assert (one, first, stored) == (["label"], 60, 60)
    assert (two, second) == (["friends"], counted)
    assert counted >= 60
    assert found["same"] == [[]]
    assert found["epsilon"] == 18.0  # the class, and a relationship at both its ends
    assert min(found["right"], found["simulated"]) > 0.5  # chance is about a third


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
