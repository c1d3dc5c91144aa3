from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import privet.advice.candidates as candidates_module
from privet.advice import advise as module
from privet.advice.advise import advise, figures_needed
from privet.advice.candidates import Candidate, candidates
from privet.advice.plan import Advice, Gain, StudyPlan
from privet.advice.topology import Topology, stated_topology
from privet.advice.worlds import World
from privet.cli import app
from privet.cli.render.advice import next_commands
from privet.data import Graph, Schema
from privet.errors import InvalidData
from privet.evaluation.cache import Store
from privet.systems.controls import majority

SMALL = Schema.categorical([2, 2, 3], classes=2)


@pytest.fixture(scope="module")
def topology() -> Topology:
    return stated_topology(200, 6.0)


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worlds instead of nine, and hardly any training."""
    real = candidates_module.advised
    monkeypatch.setattr(
        candidates_module,
        "advised",
        lambda name: tuple({**each, **({"max_epochs": 5} if each else {})} for each in real(name)),
    )
    monkeypatch.setattr(module, "worlds", lambda: [World("high", "weak"), World("low", "strong")])


def test_what_decides_is_measured_on_draws_that_chose_nothing(
    topology: Topology, quickly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []
    real = Candidate.trained

    def recorded(self: Candidate, people: Any, seed: int) -> Any:
        seeds.append(seed)
        return real(self, people, seed)

    monkeypatch.setattr(Candidate, "trained", recorded)
    advise(StudyPlan(topology, _numbers(), 1.0, "features", seeds=3))
    deciding = 2 * 2 * 3
    assert not set(seeds[:-deciding]) & set(seeds[-deciding:])
    assert len(set(seeds[-deciding:])) == 3


def test_a_second_advice_reads_what_the_first_measured(
    topology: Topology, quickly: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, done = StudyPlan(topology, _numbers(), 1.0, "features", seeds=2), []
    first = advise(plan, store=Store(tmp_path))
    monkeypatch.setattr(Candidate, "trained", lambda *_: pytest.fail("trained again"))
    again = advise(plan, lambda: done.append(1), store=Store(tmp_path))
    assert replace(again, seconds=0.0) == replace(first, seconds=0.0)
    assert len(done) == figures_needed(plan)


@pytest.mark.parametrize("protect", ["features,labels", "features,edges"])
def test_advice_is_complete_and_counts_its_work(protect: str, topology: Topology, quickly: None) -> None:
    plan = StudyPlan(topology, SMALL, 6.0, protect, seeds=2)
    trained: list[int] = []
    found = advise(plan, lambda: trained.append(1))
    assert len(trained) == figures_needed(plan)
    assert found.candidates[0].mean == max(way.mean for way in found.candidates)
    assert found.collect["features"] in ("yes", "no", "depends", "unclear")
    assert [row.signal for row in found.comparison["features"]] == ["weak", "strong"]
    assert ("edges" in found.comparison) == (protect == "features,edges")
    assert Advice.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found
    for command in next_commands(found):
        name, *arguments = shlex.split(command)
        assert name == "privet"
        if arguments[0] == "account":
            assert CliRunner().invoke(app, arguments).exit_code == 0
        else:
            assert arguments[0] in ("run", "study")


def test_the_choice_is_for_the_worlds_in_which_it_helps() -> None:
    first, strong = (module._Tried(each, [1.0]) for each in candidates("features", 1.0, SMALL)[:2])
    champions = {"weak": first, "strong": strong}
    rows = [
        Gain("low", signal, 0.0, 0.0, 0.0, 0.0, helps, False) for signal, helps in (("weak", False), ("strong", True))
    ]
    assert module._recommended(first, champions, rows) is strong
    assert module._recommended(first, champions, rows[:1]) is first


def test_where_the_structure_suffices_nothing_is_collected(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates_module, "advised", lambda name: ({},) if name in ("inquiry", "structure") else ())
    monkeypatch.setattr(module, "worlds", lambda: [World("high", "weak")])
    monkeypatch.setattr(module, "without", lambda ranked, *_: {"features": []})
    found = advise(StudyPlan(topology, _numbers(), 0.1, "features", seeds=6, worth=3.0))
    assert found.collect == {"features": "no"}
    assert (found.chosen.system, found.recommended.system) == ("structure", "inquiry")
    assert found.advice.startswith("Collect nothing.")
    assert next_commands(found)[-1].startswith("privet run structure --dataset DIRECTORY")


def test_a_way_that_a_world_does_not_allow_counts_as_guessing(topology: Topology) -> None:
    class Refusing(Candidate):
        def trained(self, people: Graph, seed: int) -> Any:
            raise InvalidData("A panel needs people of every class.")

    world, (some, *_) = World("high", "weak"), candidates("features", 1.0, SMALL)
    trial = module._Trial(topology.graph, SMALL, [world], lambda: None, Store(None))
    (row,) = trial.once([Refusing(some.system, some.mechanism, some.share)])
    people = world.people(topology.graph, SMALL, 0)
    assert people.labels is not None
    assert people.split is not None
    assert row.scores == [100 * majority(people).score(people.labels, people.split.test)]


def _numbers() -> Schema:
    return Schema.numeric(3, 0.0, 1.0, classes=2)
