from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privet.cli.advise_command import declared_schema, topology_for
from rich.console import Console
from typer.testing import CliRunner

from privet.advice import advise as module
from privet.advice import candidates as advise_candidates
from privet.advice import words as advise_words
from privet.advice.advise import Question, advise, figures_needed
from privet.advice.candidates import SPLITS, Candidate, candidates, without
from privet.advice.topology import Topology, stated_topology
from privet.advice.verdict import answer, compared, pooled
from privet.advice.worlds import World
from privet.cli import app
from privet.cli.render import advice as advise_print
from privet.data import Schema, social_graph, write_directory
from privet.errors import InvalidParameter
from privet.systems import LPGNN, RGNN

SMALL = Schema.categorical([2, 2, 3], classes=2)


@pytest.fixture(scope="module")
def topology() -> Topology:
    return stated_topology(200, 6.0)


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two worlds instead of nine, and hardly any training."""
    monkeypatch.setattr(advise_candidates, "_QUICK", {"max_epochs": 5, "patience": 5})
    monkeypatch.setitem(advise_candidates._RGNN, "max_epochs", 5)
    monkeypatch.setattr(module, "worlds", lambda: [World("high", "weak"), World("low", "strong")])


@pytest.mark.parametrize("protect", SPLITS)
@pytest.mark.parametrize("budget", [0.1, 1.0, 0.7])
def test_no_candidate_spends_more_than_the_budget(protect: str, budget: float) -> None:
    for each in candidates(protect, budget, SMALL):
        shares = [each.with_share(protect, budget, share) for share in SPLITS[protect]]
        ways = [way for options in without(each, protect, budget).values() for way in options]
        for candidate in (*shares, *ways):
            assert 0 <= sum(candidate.epsilons.values()) <= budget
        assert sum(each.epsilons.values()) == pytest.approx(budget)
        for candidate in shares:
            assert candidate.system.guarantee(SMALL).epsilon == pytest.approx(budget)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.05, 20.0), st.sampled_from(["features,labels", "features,edges"]))
def test_rounding_does_not_exceed_the_budget(budget: float, protect: str) -> None:
    first = candidates(protect, budget, SMALL)[0]
    for share in SPLITS[protect]:
        assert first.with_share(protect, budget, share).system.guarantee(SMALL).epsilon <= budget


def test_what_decides_is_measured_on_draws_that_chose_nothing(
    topology: Topology, quickly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []
    real = Candidate.trained

    def recorded(self: Candidate, people: Any, seed: int) -> Any:
        seeds.append(seed)
        return real(self, people, seed)

    monkeypatch.setattr(Candidate, "trained", recorded)
    advise(Question(topology, _numbers(), 1.0, "features", seeds=3))
    deciding = 2 * 2 * 3
    assert not set(seeds[:-deciding]) & set(seeds[-deciding:])
    assert len(set(seeds[-deciding:])) == 3


def test_a_control_gets_the_whole_budget() -> None:
    best = candidates("features,labels", 2.0, SMALL)[0]
    options = without(best, "features,labels", 2.0)
    assert [way.epsilons for way in options["features"]] == [{"labels": 2.0}] * 2
    assert [way.mechanism for way in options["features"]] == ["none"] * 2
    solitude = candidates("features,edges", 8.0, SMALL)[0]
    assert without(solitude, "features,edges", 8.0)["edges"][0].epsilons == {"features": 8.0}
    assert without(candidates("features", 1.0, SMALL)[0], "features", 1.0)["features"][0].epsilons == {}


def test_systems_of_categories_need_categories() -> None:
    kinds = [{type(each.system) for each in candidates("features", 1.0, schema)} for schema in (SMALL, _numbers())]
    assert RGNN in kinds[0]
    assert RGNN not in kinds[1]
    assert LPGNN in kinds[1]


@pytest.mark.parametrize(("protect", "budget"), [("edges", 1.0), ("features,labels,edges", 1.0), ("features", -1.0)])
def test_what_cannot_be_asked(protect: str, budget: float) -> None:
    with pytest.raises(InvalidParameter):
        candidates(protect, budget, SMALL)


def test_reports_without_information_do_not_depend_on_the_features(topology: Topology, quickly: None) -> None:
    people = World("high", "strong").people(topology.graph, SMALL, 0)
    other = people.replace(features=people.features[::-1].copy())
    for way in without(candidates("features,labels", 2.0, SMALL)[0], "features,labels", 2.0)["features"]:
        assert (way.trained(people, 0).probabilities == way.trained(other, 0).probabilities).all()


@pytest.mark.parametrize("protect", ["features,labels", "features,edges"])
def test_advice_is_complete_and_counts_its_work(protect: str, topology: Topology, quickly: None) -> None:
    question = Question(topology, SMALL, 6.0, protect, seeds=2)
    trained: list[int] = []
    found = advise(question, lambda: trained.append(1))
    assert len(trained) == figures_needed(question)
    assert found["candidates"][0]["mean"] == max(row["mean"] for row in found["candidates"])
    assert found["collect"]["features"] in ("yes", "no", "depends", "unclear")
    assert [row["signal"] for row in found["comparison"]["features"]] == ["weak", "strong"]
    assert ("edges" in found["comparison"]) == (protect == "features,edges")
    json.dumps(found, allow_nan=False)
    shown = _printed(found)
    assert found["recommended"]["system"] in shown
    assert "nothing private was read" in shown
    for command in found["next"]:
        name, *arguments = shlex.split(command)
        assert name == "privet"
        if arguments[0] == "account":
            assert CliRunner().invoke(app, arguments).exit_code == 0
        else:
            assert arguments[0] in ("run", "study")


def document(gains: list[float], noise: float = 0.1, **changes: Any) -> dict[str, Any]:
    row = {"system": "lpgnn", "mechanism": "multi-bit", "sample": None, "epsilons": {"features": 1.0}, "hops": "4"}
    row["mean"] = 80.0
    best = {**row, "behind": 0.0, "margin": 0.0, "settings": LPGNN(hops=4, dropout=0.5).settings()}
    places = [("weak", "high"), ("medium", "medium"), ("strong", "low")]
    ours = [[80.0, 80.0 + noise, 80.0 - noise] for _ in gains]
    theirs = [[80.0 - gain] * 3 for gain in gains]
    rows = compared([World(homophily, signal) for signal, homophily in places], ours, theirs, 1.0)
    together = pooled(ours, theirs)
    rival = {**row, "system": "label propagation", "epsilons": {}, "hops": "", "behind": 1.0, "margin": 2.0}
    return {
        "source": "edges.csv", "nodes": 9000, "edges": 100, "simulated_nodes": 2000, "simulated_degree": 9.0,
        "degree": 10.0, "features": 16, "classes": 4, "protect": "features", "budget": 1.0, "worth": 1.0, "seeds": 5,
        "homophily": {"low": {"follow": 0.5, "edges": 0.4}}, "signal": {"weak": 0.1},
        "candidates": [best, {**row, "behind": 0.2, "margin": 0.9}], "recommended": best,
        "without": {"features": rival}, "comparison": {"features": rows},
        "pooled": {"features": together}, "collect": {"features": answer(rows, together, 1.0)}, **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([0.0, 0.1, -3.0], "Do not collect the features. The structure alone does as well: in none of the 3 worlds"),
        ([0.0, 0.1, 4.0], "worth it in 1 of 3 worlds (strong signal with low homophily), where they gain 4.0 points"),
        ([2.0, 3.0, 4.0], "worth it in all 3 worlds: they gain 2.0 to 4.0 points"),
    ],
)
def test_it_says_plainly_whether_to_collect(gains: list[float], words: str) -> None:
    text = advise_words.advice_paragraph(document(gains))
    assert words in text
    assert ("They need not be collected at all." in text) == (max(gains) < 1)
    assert text.startswith("Do not collect") == (max(gains) < 1)
    assert "One other setting is within noise of the best" in text
    assert "in up to 8 of 100 simulations" in text


def test_many_worlds_are_named_by_the_few_that_are_not_among_them() -> None:
    text = advise_words.advice_paragraph(document([0.0, 3.0, 4.0]))
    assert "worth it in 2 of 3 worlds (all but weak signal with high homophily), where they gain 3.0 to 4.0" in text


def test_next_commands_spell_out_the_settings() -> None:
    assert advise_words.next_commands(document([2.0, 3.0, 4.0])) == [
        "privet account lpgnn --epsilon-features 1 --dimension 16 --classes 4",
        "privet run lpgnn --dataset DIRECTORY --epsilon-features 1 --hops 4 --set dropout=0.5",
        "privet study new STUDY --title TITLE --nodes 9000 --schema SCHEMA --mechanism multi-bit --epsilon-features 1",
    ]


def test_too_small_a_simulation_says_so() -> None:
    found = document([0.0, 0.1, 0.2], noise=3.0)
    assert found["collect"] == {"features": "unclear"}
    text = advise_words.advice_paragraph(found)
    assert "the simulation is too small to exclude it (over all worlds the gain is +0.1 ±" in text
    assert "more --seeds" in text
    assert "Do not collect" not in text


def test_single_worlds_that_stay_open_are_counted() -> None:
    text = advise_words.advice_paragraph(document([-9.0, -9.0, 0.0], noise=1.5))
    assert "in none of the 3 worlds (in 1 of them a gain of that size cannot be excluded)" in text


def test_the_study_can_be_declared_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("SCHEMA").write_text(SMALL.to_json())
    sampled = RGNN(sample=2, epsilon_labels=1.0)
    row = {"system": "rgnn", "mechanism": "sampled-response", "sample": 2, "epsilons": {"features": 1.0, "labels": 1.0}}
    best = {**row, "hops": "4", "mean": 80.0, "behind": 0.0, "margin": 0.0, "settings": sampled.settings()}
    *_, study = advise_words.next_commands(document([2.0, 3.0, 4.0], recommended=best, nodes=100))
    found = CliRunner().invoke(app, shlex.split(study)[1:])
    assert found.exit_code == 0, found.output


def test_who_collects_does_it_for_the_worlds_in_which_it_helps() -> None:
    first, strong = (module._Tried(each, [1.0]) for each in candidates("features", 1.0, SMALL)[:2])
    champions = {"weak": first, "strong": strong}
    rows = [{"signal": "weak", "helps": False}, {"signal": "strong", "helps": True}]
    assert module._recommended(first, champions, rows) is strong
    assert module._recommended(first, champions, rows[:1]) is first


def test_a_region_is_said_to_be_one() -> None:
    whole = document([0.0, 0.0, 0.0])
    paragraph = {"advice": advise_words.advice_paragraph(whole), "next": []}
    assert "a region of it with 2,000 people and 9.0 contacts each" in _printed({**whole, **paragraph})


def test_the_schema_may_be_counted_read_or_beside_the_graph(topology: Topology, tmp_path: Path) -> None:
    assert declared_schema(topology, None, 3, 4, None) == Schema.numeric(4, 0.0, 1.0, classes=3)
    assert declared_schema(topology, None, 3, 2, "5") == Schema.categorical([5, 5], classes=3)
    assert declared_schema(topology, None, 3, None, "2,5") == Schema.categorical([2, 5], classes=3)
    (tmp_path / "schema.json").write_text(SMALL.to_json())
    assert declared_schema(topology, tmp_path / "schema.json", None, None, None) == SMALL
    beside = Topology(topology.graph, "x", SMALL)
    assert declared_schema(beside, None, None, None, None) == SMALL
    assert declared_schema(beside, None, 5, None, None).classes == 5


@pytest.mark.parametrize(
    "arguments",
    [
        "--budget 1",
        "--budget 1 --nodes 100",
        "--budget 1 --nodes 100 --degree 5 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --features 4",
        "--budget 1 --nodes 100 --degree 5 --features 4 --categories 2,2 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --categories x --classes 3",
        "--budget 0 --nodes 100 --degree 5 --features 4 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --features 4 --classes 3 --protect labels",
        "--budget 1 --nodes 100 --degree 5 --features 4 --classes 3 --out nowhere/advice.json",
        "--budget 1 --graph nowhere --features 4 --classes 3",
    ],
)
def test_bad_questions(arguments: str) -> None:
    found = CliRunner().invoke(app, ["advise", *shlex.split(arguments)])
    assert isinstance(found.exception, InvalidParameter)
    assert "\n" not in str(found.exception)


def test_private_edges_are_not_read(tmp_path: Path) -> None:
    graph = social_graph(100, features=4, classes=2, average_degree=5, seed=0)
    closed = Schema(graph.schema.features, 2, private_edges=True)
    write_directory(graph.replace(schema=closed), tmp_path / "closed")
    with pytest.raises(InvalidParameter, match="state --nodes and --degree instead"):
        topology_for(str(tmp_path / "closed"), None, None, None)


def _numbers() -> Schema:
    return Schema.numeric(3, 0.0, 1.0, classes=2)


def _printed(found: dict[str, Any]) -> str:
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advise_print, "Console", lambda: Console(file=stream, width=100))
        advise_print.print_advice(found)
    return " ".join(stream.getvalue().split())
