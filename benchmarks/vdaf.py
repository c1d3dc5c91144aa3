"""Prio3 beside the draft's own reference implementation, on the same measurements, nonces and random bytes.

``PRIVET_VDAF_REFERENCE`` is the folder ``poc`` of a copy of github.com/cfrg/draft-irtf-cfrg-vdaf; without it only our
own times are measured. A browser and node are measured where there are some.
"""

from __future__ import annotations

import functools
import http.server
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import privet.collection
from benchmarks._common import Target, judged
from privet.vdaf import Prio3, variant
from privet.vdaf.circuits import best_chunk_length

LENGTH, ONES, WEIGHT = 1433, 18, 30  # cora's words, of which a paper has 18 on average
WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
CONTEXT, KEY = b"benchmark", bytes(range(32))
VARIANTS = {
    "Prio3SumVec": {"length": LENGTH, "max_measurement": 1, "chunk_length": best_chunk_length(LENGTH)},
    "Prio3MultihotCountVec": {
        "length": LENGTH,
        "max_weight": WEIGHT,
        "chunk_length": best_chunk_length(LENGTH + WEIGHT.bit_length()),
    },
}
TARGETS = {"ratio_shard": Target(50, 50), "ratio_verify": Target(50, 50)}
IN_JAVASCRIPT = """async (module, cases) => {
  const { Prio3 } = await import(module);
  const found = {};
  for (const [name, parameters, measurement] of cases) {
    const prio3 = new Prio3(name, parameters);
    const times = [];
    for (let i = 0; i < 7; i++) {
      const start = performance.now();
      prio3.shard(new Uint8Array(9), measurement);
      times.push(performance.now() - start);
    }
    found[name] = { first: times[0], later: Math.min(...times.slice(1)) };
  }
  return found;
}"""


def run(quick: bool = False) -> dict[str, Any]:
    """Times of a report in seconds, and the reference's times over ours."""
    count = 200 if quick else 1000
    rng = np.random.default_rng(0)
    measurements = np.zeros((count, LENGTH), np.int64)
    for row in measurements:
        row[rng.choice(LENGTH, ONES, replace=False)] = 1
    cases = [[name, parameters, measurements[0].tolist()] for name, parameters in VARIANTS.items()]
    found: dict[str, Any] = {"benchmark": "vdaf", "reports": count, "quick": quick}
    with tempfile.TemporaryDirectory() as folder:
        place = reference_in(Path(folder))
        for name, parameters in VARIANTS.items():
            prio3 = variant(name, **parameters)
            found[name] = ours(prio3, measurements)
            if place:
                found[name] |= compared(found[name], *theirs(place, name, parameters, prio3, measurements))
    if place:
        figures = {key: min(found[name][key] for name in VARIANTS) for key in TARGETS}
        found |= figures | judged(figures, TARGETS, quick)
    return found | {"milliseconds_node": in_node(cases), "milliseconds_chromium": in_chromium(cases)}


def seconds(work: Callable[[], object]) -> float:
    """The least processor time of three runs, of one core: other processes share the machine."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def ours(prio3: Prio3, measurements: np.ndarray) -> dict[str, float]:
    """Times of a report in a batch, and its bytes."""
    count = len(measurements)
    reports = prio3.shard(CONTEXT, measurements)
    nonces, public = [r.nonce for r in reports], [r.public_share for r in reports]
    inputs = [[r.input_shares[server] for r in reports] for server in range(2)]

    def begin(server: int) -> Any:
        return prio3.verify_init(KEY, CONTEXT, server, nonces, public, inputs[server])

    begun = [begin(0), begin(1)]
    shares = [sent for _, sent in begun]
    messages, refused = prio3.verifier_messages(CONTEXT, shares)
    assert not refused

    def end(server: int) -> bytes:
        return prio3.aggregate(prio3.verify_next(begun[server][0], messages))

    assert prio3.unshard([end(0), end(1)]) == measurements.sum(axis=0).tolist()
    alone = measurements[:1]
    times = {
        "shard": seconds(lambda: prio3.shard(CONTEXT, measurements)) / count,
        "shard_alone": seconds(lambda: prio3.shard(CONTEXT, alone)),
        "leader": seconds(lambda: begin(0)) / count,
        "helper": seconds(lambda: begin(1)) / count,
        "decide": seconds(lambda: prio3.verifier_messages(CONTEXT, shares)) / count,
        "end": seconds(lambda: end(0)) / count,
    }
    slower = max(times["leader"], times["helper"]) + times["decide"] + times["end"]
    return {
        **times,
        "reports_a_second_and_server": 1 / slower,
        "bytes_to_leader": len(inputs[0][0]) + len(public[0]),
        "bytes_to_helper": len(inputs[1][0]) + len(public[0]),
        "bytes_between_servers": len(shares[0][0]) + len(messages[0]),
    }


def reference_in(folder: Path) -> Path | None:
    """A copy of the reference that Python 3.11 can read, with the name that pycryptodome has here."""
    given = os.environ.get("PRIVET_VDAF_REFERENCE")
    if not given:
        return None
    if not hasattr(typing, "override"):
        vars(typing)["override"] = lambda method: method  # a word of Python 3.12
    for source in sorted((Path(given) / "vdaf_poc").glob("*.py")):
        text = re.sub(r"^(class \w+)\[[^\]]*\]\(\)", r"\1", source.read_text(), flags=re.MULTILINE)
        target = folder / "vdaf_poc" / source.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text.replace("from Cryptodome.", "from Crypto."))
    return folder


def theirs(
    place: Path, name: str, parameters: dict[str, int], prio3: Prio3, measurements: np.ndarray
) -> tuple[float, float]:
    """Times of the reference for one report, which must be the same bytes as ours: sharding, and verifying by both."""
    sys.path.insert(0, str(place))
    kind = getattr(importlib.import_module("vdaf_poc.vdaf_prio3"), name)
    sys.path.remove(str(place))
    reference, nonce, random = kind(shares=2, **parameters), bytes(16), bytes(prio3.random_size)
    measurement = measurements[0].tolist()
    public, inputs = reference.shard(CONTEXT, measurement, nonce, random)

    def verify() -> list[Any]:
        begun = [reference.verify_init(KEY, CONTEXT, i, None, nonce, public, inputs[i]) for i in range(2)]
        message = reference.verifier_shares_to_message(CONTEXT, None, [sent for _, sent in begun])
        return [reference.verify_next(CONTEXT, state, message) for state, _ in begun]

    (report,) = prio3.shard(CONTEXT, [measurement], [nonce], [random])
    assert report.input_shares == tuple(reference.encode_input_share(share) for share in inputs)
    assert reference.unshard(None, verify(), 1) == measurement
    return seconds(lambda: reference.shard(CONTEXT, measurement, nonce, random)), seconds(verify)


def compared(own: dict[str, float], shard: float, verify: float) -> dict[str, float]:
    """The reference's times over ours, for both servers' whole work on a report."""
    both = own["leader"] + own["helper"] + own["decide"] + 2 * own["end"]
    return {
        "reference_shard": shard,
        "reference_verify": verify,
        "ratio_shard": shard / own["shard"],
        "ratio_verify": verify / both,
    }


def in_node(cases: list[Any]) -> Any:
    """Times of sharding one report in node."""
    node = shutil.which("node")
    if node is None:
        return None
    module = (WEB / "vdaf" / "prio3.js").as_uri()
    program = f"console.log(JSON.stringify(await ({IN_JAVASCRIPT})({json.dumps(module)}, {json.dumps(cases)})))"
    command = [node, "--experimental-default-type=module", "--input-type=module", "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else None


def in_chromium(cases: list[Any]) -> Any:
    """Times of sharding one report in Chromium."""
    chromium = os.environ.get("PRIVET_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with served(WEB) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{address}/icon.svg")
        work = f"(cases) => ({IN_JAVASCRIPT})('{address}/vdaf/prio3.js', cases)"
        found = page.evaluate(work, cases)
        browser.close()
    return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    print(json.dumps(run()))
