"""The shared vectors: Python makes them (here), and so do Chromium and node (test_web.py and below)."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from node import node_differences

from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers, Refusal, Reply
from privet.collection.device.preparation import prepare
from privet.collection.study.manifest import Study
from privet.errors import PrivetError
from privet.release.asks.resemblance import linear_scores

HERE = Path(__file__).parent
MAKER = runpy.run_path(str(HERE / "make_vectors.py"))
MECHANISM_MAKER = runpy.run_path(str(HERE / "make_mechanism_vectors.py"))
ROUND_MAKER = runpy.run_path(str(HERE / "make_round_vectors.py"))
VECTORS: list[dict[str, Any]] = json.loads((HERE / "vectors.json").read_text())
MECHANISM_VECTORS: list[dict[str, Any]] = json.loads((HERE / "mechanism_vectors.json").read_text())
ROUND_VECTORS: dict[str, Any] = json.loads((HERE / "round_vectors.json").read_text())


def test_python_makes_the_vectors() -> None:
    for vector in VECTORS:
        bits = MAKER["ReplayedBits"](words_of(vector))
        study = Study.from_bytes(vector["manifest"].encode())
        body = MAKER["report"](study, vector["raw"], bits)
        assert (study.id, body.hex(), bits.used) == (vector["id"], vector["body"], vector["used"])


def test_a_collector_accepts_the_vectors() -> None:
    for vector in VECTORS:
        study = Study.from_bytes(vector["manifest"].encode())
        answers = study.release.wire.unpack([vector["raw"]["node"]], [bytes.fromhex(vector["body"])])
        assert answers.users.tolist() == [vector["raw"]["node"]]


def test_the_vectors_are_those_of_their_maker() -> None:
    assert MAKER["vectors"]() == VECTORS


def test_the_vectors_force_rejections_and_refinements() -> None:
    """Somewhere words are refused, and somewhere a gap needs more than its 53 bits."""
    single = [v for v in VECTORS if "label" not in v["raw"] and len(v["raw"]["features"]) == 1]
    assert any(v["used"] > 1 for v in single if '"multi-bit"' in v["manifest"])
    lists = [v for v in VECTORS if v["raw"].get("neighbours") == []]
    assert any(v["used"] > 2 + 16 for v in lists if json.loads(v["manifest"])["nodes"] == 2)


def test_python_draws_the_symbols_of_mechanisms() -> None:
    assert {vector["mechanism"]["mechanism"] for vector in MECHANISM_VECTORS} == {
        "counts",
        "offered-response",
        "subset-response",
    }
    for vector in MECHANISM_VECTORS:
        drawn = MECHANISM_MAKER["draw"](vector["mechanism"], vector["value"], words_of(vector))
        assert drawn == (vector["symbols"], vector["used"])


def test_the_mechanism_vectors_are_those_of_their_maker() -> None:
    assert MECHANISM_MAKER["vectors"]() == MECHANISM_VECTORS
    assert any(vector["used"] > len(vector["symbols"]) for vector in MECHANISM_VECTORS)  # somewhere words are refused


@pytest.mark.journey
def test_node_makes_the_vectors(tmp_path: Path) -> None:
    assert node_differences(HERE / "check_vectors.js", MAKER["with_plain_values"](VECTORS), tmp_path) == []


@pytest.mark.journey
def test_node_draws_the_symbols_of_mechanisms(tmp_path: Path) -> None:
    assert node_differences(HERE / "check_mechanism_vectors.js", MECHANISM_VECTORS, tmp_path) == []


@pytest.mark.journey
def test_node_finds_a_symbol_that_differs(tmp_path: Path) -> None:
    first, last = MECHANISM_VECTORS[0], MECHANISM_VECTORS[-1]
    changed = [{**first, "symbols": [7, *first["symbols"][1:]]}, {**last, "used": last["used"] + 1}]
    assert len(node_differences(HERE / "check_mechanism_vectors.js", changed, tmp_path)) == 2


def test_python_makes_the_reports_of_rounds() -> None:
    for vector in ROUND_VECTORS["reports"]:
        bits = MAKER["ReplayedBits"](words_of(vector))
        body = ROUND_MAKER["report"](vector, bits)
        assert (body.hex(), bits.used) == (vector["body"], vector["used"])


def test_python_refuses_what_a_dishonest_server_tries() -> None:
    honest = 0
    for vector in ROUND_VECTORS["refusals"]:
        public = ROUND_VECTORS["served"] | vector["replaced"]
        server = ROUND_MAKER["Server"](public, vector["rows"], vector["node"], vector["changes"])

        def check(vector: dict[str, Any] = vector, server: Any = server) -> None:
            study = Participant(Ledger(":memory:")).check(server.blob(vector["id"]), vector["id"])
            ready = prepare(study, vector["node"], server)
            answers = PrivateAnswers([1.0, 0, 0.5], neighbours=[0, 1])
            answers.checked(ready)
            if study.directory is not None and not server.blob(study.directory).startswith(b"0,Name 0\n1,"):
                raise Refusal("a list of participants that the owner does not have")

        if vector["key"] == "":
            check()
            honest += 1
        else:
            with pytest.raises(PrivetError):
                check()
    assert honest == 2


def test_python_refuses_rounds_with_a_free_question_or_misread_answers() -> None:
    for vector in ROUND_VECTORS["unreadable"]:
        with pytest.raises(PrivetError, match=r"in one round|would read them as something else"):
            Study.from_bytes(vector["manifest"].encode())


def test_the_round_vectors_are_those_of_their_maker() -> None:
    assert json.loads(json.dumps(ROUND_MAKER["vectors"]())) == ROUND_VECTORS


def test_the_vectors_of_scores_depend_on_the_order_of_sums() -> None:
    """Adding from the end gives other scores, and somewhere classes tie."""
    scores_differ = 0
    for vector in ROUND_VECTORS["scores"]:
        weights = np.array(vector["scorer"]).reshape(-1, vector["classes"])
        flipped = np.vstack([weights[-2::-1], weights[-1:]])
        scores = linear_scores(np.array([vector["features"][::-1]]), flipped, vector["unitLength"])[0]
        scores_differ += scores.tolist() != vector["scores"]
    assert scores_differ > 20
    assert sum(len(set(vector["scores"])) < vector["classes"] for vector in ROUND_VECTORS["scores"]) > 10  # ties


@pytest.mark.journey
def test_node_finds_what_the_round_vectors_say(tmp_path: Path) -> None:
    plain = [{**vector, "json": plain_values(vector)} for vector in ROUND_VECTORS["reports"]]
    assert node_differences(HERE / "check_round_vectors.js", {**ROUND_VECTORS, "reports": plain}, tmp_path) == []


@pytest.mark.journey
def test_node_finds_a_round_vector_that_differs(tmp_path: Path) -> None:
    first = {name: made[:1] for name, made in ROUND_VECTORS.items() if name != "served"}
    wrong = {
        "trees": [{**first["trees"][0], "count": 2}],
        "arrays": [{**first["arrays"][0], "values": [1]}],
        "scores": [{**first["scores"][0], "position": 9}],
        "counts": [{**first["counts"][0], "counts": [9]}],
        "pointed": [{**first["pointed"][0], "position": 9}],
        "logs": [{**first["logs"][0], "logs": [9]}],
        "shown": [{**first["shown"][0], "body": "00"}],
        "reports": [{**first["reports"][0], "shows": False, "json": plain_values(first["reports"][0])}],
        "prices": [{**first["prices"][0], "cost": 0.25}],
        "refusals": [{**first["refusals"][0], "key": "pairs"}],
        "unreadable": [dict(zip(("id", "manifest"), first["prices"][0]["rounds"][0], strict=True))],
    }
    served = {"served": ROUND_VECTORS["served"]}
    assert len(node_differences(HERE / "check_round_vectors.js", wrong | served, tmp_path)) == len(wrong)


def plain_values(vector: dict[str, Any]) -> Any:
    """The JSON form of a report, as Python shows it."""
    study = Study.from_bytes(bytes.fromhex(vector["public"][vector["id"]]))
    return Reply(study, bytes.fromhex(vector["body"]), vector["shows"]).symbols()


def words_of(vector: dict[str, Any]) -> list[int]:
    return [int(vector["words"][i : i + 16], 16) for i in range(0, len(vector["words"]), 16)]
