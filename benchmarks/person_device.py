"""What the person question costs one device: bytes to download and to send, and milliseconds, in Python and in node."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import privet.collection
from privet.mechanisms import OfferedResponse, SystemBits
from privet.release import PrivateData, Question
from privet.release.asks.person import Person, in_255ths

PEOPLE, CLASSES, FRIENDS, FEATURES, TIMES = 1_000_000, 8, 200, 500, 30
WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
PROGRAM = """
import { readFileSync } from "node:fs";
const [folder, web] = process.argv.slice(-2);
const { parseArray } = await import(`${web}/study/blobs.js`);
const { pointsTo } = await import(`${web}/answers/functions.js`);
const { OfferedResponse } = await import(`${web}/mechanisms/mechanisms.js`);
const { SystemBits } = await import(`${web}/mechanisms/bits.js`);
const { features, friends, times, classes } = JSON.parse(readFileSync(`${folder}/raw.json`));
const timed = (work) => {
  const found = Array.from({ length: times }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return found.sort((a, b) => a - b)[Math.floor(times / 2)];
};
const names = ["scorer", "table", "mixing", "shares"];
const bytes = Object.fromEntries(names.map((name) => [name, readFileSync(`${folder}/${name}`)]));
const read = (name) => parseArray(new Uint8Array(bytes[name]), name === "table" ? "|u1" : "<i4").values;
const question = { reads: "everything", unitLength: true, offers: [...Array(classes).keys()] };
for (const name of Object.keys(bytes)) question[name] = read(name);
const mechanism = new OfferedResponse({ epsilon: 2, most: classes });
const position = pointsTo(features, friends, question, classes);
console.log(JSON.stringify({
  position,
  read: timed(() => Object.keys(bytes).map(read)),
  answer: timed(() => mechanism.perturb([pointsTo(features, friends, question, classes), classes], new SystemBits())),
}));
"""


def run(quick: bool = False) -> dict[str, Any]:
    """Measure one device among a million people."""
    rng, people = np.random.default_rng(0), PEOPLE // 100 if quick else PEOPLE
    known = rng.random(people) < 0.5
    soft = rng.dirichlet(np.full(CLASSES, 0.3), people)
    arrays: dict[str, Any] = {
        "scorer": rng.integers(-(1 << 20), 1 << 20, (FEATURES + 1, CLASSES)).astype(np.int32),
        "table": in_255ths(np.where(known[:, None], np.eye(CLASSES)[soft.argmax(axis=1)], soft)),
        "mixing": (np.eye(CLASSES) * (1 << 18)).astype(np.int32),
        "shares": np.full(CLASSES, 1000, dtype=np.int32),
    }
    ask = Person(np.tile(np.arange(CLASSES, dtype=np.int16), (people, 1)), **arrays)
    friends = np.sort(rng.choice(np.arange(1, people), FRIENDS, replace=False))
    features = (rng.random(FEATURES) < 0.05).astype(float)
    private = PrivateData.one(0, people, features, None, friends)
    question = Question(ask, OfferedResponse(epsilon=2.0, most=CLASSES))
    blob = ask.blob("table")
    report = question.perturb(private, SystemBits())
    found = {
        "people": people,
        "table_bytes": len(blob),
        "table_bytes_gzip": len(gzip.compress(blob, 6)),
        "scorer_bytes": len(ask.blob("scorer")),
        "report_bytes": report.symbols.itemsize * report.symbols.size,
        "python_hash_ms": _median(lambda: hashlib.sha256(blob).digest()),
        "python_answer_ms": _median(lambda: question.perturb(private, SystemBits())),
    }
    node = shutil.which("node")
    if node is not None:
        raw = {"features": features.tolist(), "friends": friends.tolist(), "times": TIMES, "classes": CLASSES}
        told = _in_node(node, ask, raw)
        assert told["position"] == ask.apply(private, question.mechanism)[0, 0]
        found |= {"node_read_ms": told["read"], "node_answer_ms": told["answer"]}
    return {"benchmark": "person_device", **found}


def _median(work: Callable[[], Any]) -> float:
    """Return the median duration in milliseconds."""
    durations = []
    for _ in range(TIMES):
        start = time.perf_counter()
        work()
        durations.append(1000 * (time.perf_counter() - start))
    return statistics.median(durations)


def _in_node(node: str, ask: Person, raw: dict[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scorer", "table", "mixing", "shares"):
            (Path(folder) / name).write_bytes(ask.blob(name))
        (Path(folder) / "raw.json").write_text(json.dumps(raw))
        command = [node, "--experimental-default-type=module", "--input-type=module", "-", folder, WEB.as_uri()]
        done = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
