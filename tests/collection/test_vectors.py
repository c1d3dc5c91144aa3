"""The shared vectors: Python makes them (here), and so do Chromium and node (test_web.py and below)."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import privet.collection
from privet.collection.study import Study

HERE = Path(__file__).parent
WEB = Path(privet.collection.__file__).parent / "server" / "web"
MAKER = runpy.run_path(str(HERE / "make_vectors.py"))
MECHANISM_MAKER = runpy.run_path(str(HERE / "make_mechanism_vectors.py"))
VECTORS: list[dict[str, Any]] = json.loads((HERE / "vectors.json").read_text())
MECHANISM_VECTORS: list[dict[str, Any]] = json.loads((HERE / "mechanism_vectors.json").read_text())

NODE_PROGRAM = """
import { readFileSync } from "node:fs";
const [checker, vectors, folder] = process.argv.slice(-3);
const { differences } = await import(checker);
console.log(JSON.stringify(await differences(JSON.parse(readFileSync(vectors)), folder)));
"""


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
    assert {vector["mechanism"]["mechanism"] for vector in MECHANISM_VECTORS} == {"counts", "offered-response"}
    for vector in MECHANISM_VECTORS:
        drawn = MECHANISM_MAKER["draw"](vector["mechanism"], vector["value"], words_of(vector))
        assert drawn == (vector["symbols"], vector["used"])


def test_the_mechanism_vectors_are_those_of_their_maker() -> None:
    assert MECHANISM_MAKER["vectors"]() == MECHANISM_VECTORS
    assert any(vector["used"] > len(vector["symbols"]) for vector in MECHANISM_VECTORS)  # somewhere words are refused


def test_node_makes_the_vectors(tmp_path: Path) -> None:
    assert node_differences("check_vectors.js", MAKER["with_plain_values"](VECTORS), tmp_path) == []


def test_node_draws_the_symbols_of_mechanisms(tmp_path: Path) -> None:
    assert node_differences("check_mechanism_vectors.js", MECHANISM_VECTORS, tmp_path) == []


def test_node_finds_a_symbol_that_differs(tmp_path: Path) -> None:
    first, last = MECHANISM_VECTORS[0], MECHANISM_VECTORS[-1]
    changed = [{**first, "symbols": [7, *first["symbols"][1:]]}, {**last, "used": last["used"] + 1}]
    assert len(node_differences("check_mechanism_vectors.js", changed, tmp_path)) == 2


def words_of(vector: dict[str, Any]) -> list[int]:
    return [int(vector["words"][i : i + 16], 16) for i in range(0, len(vector["words"]), 16)]


def node_differences(checker: str, vectors: list[dict[str, Any]], folder: Path) -> Any:
    """Return the sentences of a checker that runs in node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    (folder / "vectors.json").write_text(json.dumps(vectors))
    arguments = [(HERE / checker).as_uri(), str(folder / "vectors.json"), WEB.as_uri()]
    command = [node, "--experimental-default-type=module", "--input-type=module", "-", *arguments]
    done = subprocess.run(command, input=NODE_PROGRAM, capture_output=True, text=True, timeout=60)
    if "bad option" in done.stderr:
        pytest.skip("this node cannot load the modules as they are")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
