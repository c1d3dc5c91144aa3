"""Vectors of Prio3: the draft's own, from the directory in PRIVET_VDAF, and ours; in Python here, in node below."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest
from node import node_differences
from prio3_vectors import Player

from privet.vdaf.fields import FIELD128
from privet.vdaf.xof import derive, expand

HERE = Path(__file__).parent
OWN: list[dict[str, Any]] = json.loads((HERE / "vectors.json").read_text())
OFFICIAL = Path(os.environ.get("PRIVET_VDAF", HERE / "nowhere"))
FILES = sorted(OFFICIAL.glob("vdaf/Prio3*.json"))
needs_official = pytest.mark.skipif(not FILES, reason="PRIVET_VDAF is not the directory of the draft's vectors")


def official(path: Path) -> tuple[str, dict[str, Any]]:
    return path.stem.partition("_")[0], json.loads(path.read_text())


@needs_official
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_draft_is_met_byte_for_byte(path: Path) -> None:
    assert Player(*official(path)).play() == []


@needs_official
def test_all_variants_and_all_broken_vectors_are_there() -> None:
    names = {path.stem.partition("_")[0] for path in FILES}
    assert len(names) == 7
    assert len([path for path in FILES if "_bad_" in path.stem]) == 8


@needs_official
def test_the_drafts_function_of_seeds_is_met() -> None:
    told = json.loads((OFFICIAL / "XofTurboShake128.json").read_text())
    seed, tag, binder = (bytes.fromhex(told[key]) for key in ("seed", "dst", "binder"))
    assert derive(seed, tag, binder).hex() == told["derived_seed"]
    (vector,) = expand(FIELD128, [seed], tag, [binder], told["length"])
    assert FIELD128.encode(vector[None]).tobytes().hex() == told["expanded_vec_field128"]


@pytest.mark.parametrize("vector", OWN, ids=[each["name"] for each in OWN])
def test_our_own_vectors_still_hold(vector: dict[str, Any]) -> None:
    assert Player(vector["name"], vector).play() == []


def test_our_own_vectors_are_those_of_their_maker() -> None:
    assert runpy.run_path(str(HERE / "make_vectors.py"))["vectors"]() == OWN


@pytest.mark.parametrize(
    ("key", "server", "failing"),
    [("verifier_shares", 0, "verifier share differs"), ("public_share", None, "verifier share differs")],
)
def test_a_changed_vector_is_noticed(key: str, server: int | None, failing: str) -> None:
    vector = json.loads(json.dumps(next(each for each in OWN if each["name"] == "Prio3Histogram")))
    report = vector["reports"][0]
    if server is None:
        report[key] = ("0" if report[key][0] != "0" else "1") + report[key][1:]
    else:
        share = report[key][0][server]
        report[key][0][server] = ("0" if share[0] != "0" else "1") + share[1:]
    assert failing in Player("Prio3Histogram", vector).play()


@pytest.mark.journey
@needs_official
def test_node_makes_the_drafts_shares(tmp_path: Path) -> None:
    made = [{"name": name, **vector} for name, vector in map(official, FILES) if vector["agg_shares"]]
    assert len(made) == 17
    assert node_differences(HERE / "check_vectors.js", made, tmp_path) == []


@pytest.mark.journey
def test_node_makes_our_own_shares_and_finds_one_that_differs(tmp_path: Path) -> None:
    assert node_differences(HERE / "check_vectors.js", OWN, tmp_path) == []
    changed = json.loads(json.dumps(OWN))
    changed[3]["reports"][0]["input_shares"][0] = changed[3]["reports"][0]["input_shares"][0][:-2] + "00"
    changed[4]["reports"][1]["public_share"] = ""
    assert len(node_differences(HERE / "check_vectors.js", changed, tmp_path)) == 2
