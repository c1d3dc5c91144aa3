"""The collector under load: durable batched ingest beside the raw insert rate of the same store, and single requests.

``PRIVET_POSTGRES`` (a postgresql:// URL of a database for tests) adds the second store.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.server.http.intake import pack_batch
from privet.collection.server.store.store import engine_for
from privet.collection.study.manifest import Study
from privet.data import Schema
from privet.mechanisms import SeededBits
from privet.release import PrivateData

BATCH = 1000


def run(quick: bool = False) -> dict[str, Any]:
    """Rates in reports a second; the ratio that matters is ingest / raw."""
    nodes, singles = (20_000, 5_000) if quick else (200_000, 30_000)
    stores = {"sqlite": None, "postgresql": os.environ.get("PRIVET_POSTGRES")}
    result: dict[str, Any] = {"benchmark": "collection", "batch": BATCH, "reports": nodes}
    for name, url in stores.items():
        if name == "sqlite" or url:
            result[name] = _measure(nodes, singles, url)
    return result


def _measure(nodes: int, singles: int, url: str | None) -> dict[str, float]:
    study = _study(nodes + singles)
    bodies = _bodies(study)
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study, url)
        packed = [base64.urlsafe_b64decode(folder.tokens.issue(node)) for node in range(study.nodes)]
        starts = range(0, nodes, BATCH)
        batches = [pack_batch(study.id, packed[i : i + BATCH], bodies[i : i + BATCH]) for i in starts]
        raw = max(_raw_rate(url, Path(directory) / "raw.sqlite", bodies[:nodes]) for _ in range(2))
        port = free_port()
        server = start_collector(folder, port)
        try:
            requests = [_request("/reports/batch", "application/vnd.privet.batch", body) for body in batches]
            ingest, _ = asyncio.run(_drive(port, requests, connections=4))
            stored = _stored(folder)
            assert stored == nodes, f"{stored} of {nodes} reports are stored"
            requests = [
                _request("/reports", "application/vnd.privet.report", bytes.fromhex(study.id) + bodies[node], token)
                for node in range(nodes, nodes + singles)
                for token in [base64.urlsafe_b64encode(packed[node]).decode()]
            ]
            single, times = asyncio.run(_drive(port, requests, connections=64))
            assert _stored(folder) == nodes + singles
        finally:
            server.terminate()
            server.communicate(timeout=20)
    return {
        "raw_inserts_per_second": round(raw),
        "batched_ingest_per_second": round(ingest * BATCH),
        "ingest_over_raw": round(ingest * BATCH / raw, 3),
        "single_requests_per_second": round(single),
        "single_p50_ms": round(1000 * float(np.quantile(times, 0.5)), 2),
        "single_p99_ms": round(1000 * float(np.quantile(times, 0.99)), 2),
    }


def _study(nodes: int) -> Study:
    return Study(
        title=f"Load {secrets.token_hex(4)}",
        purpose="A load test.",
        operator="privet developers",
        eligible="Simulated people.",
        nodes=nodes,
        schema=Schema.numeric(500, low=0.0, high=1.0, classes=4),
        release=[
            {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0},
            {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0},
        ],
        opens="2020-01-01T00:00:00Z",
        closes="2029-12-31T00:00:00Z",
    )


def _bodies(study: Study) -> list[bytes]:
    ids = np.arange(study.nodes)
    everybody = PrivateData(ids, np.zeros((study.nodes, 500), dtype=np.float32), ids % 4)
    return study.release.wire.pack(study.release.perturb(everybody, SeededBits(0)))


def _raw_rate(url: str | None, path: Path, bodies: list[bytes]) -> float:
    """The same rows into a table of the same shape, a durable transaction a batch, with the driver alone."""
    engine = engine_for(url or path)
    connection: Any = engine.raw_connection().driver_connection
    cursor = connection.cursor()
    cursor.execute("DROP TABLE IF EXISTS raw_reports")
    without = "" if url else " WITHOUT ROWID"
    kind = "bytea" if url else "BLOB"
    cursor.execute(
        f"CREATE TABLE raw_reports (study INTEGER, node INTEGER, minute BIGINT, body {kind}, "
        f"PRIMARY KEY (study, node)){without}"
    )
    connection.commit()
    mark = "%s" if url else "?"
    insert = f"INSERT INTO raw_reports VALUES ({mark}, {mark}, {mark}, {mark})"
    begin = time.perf_counter()
    for start in range(0, len(bodies), BATCH):
        if not url:
            cursor.execute("BEGIN")
        cursor.executemany(insert, [(1, start + i, 0, body) for i, body in enumerate(bodies[start : start + BATCH])])
        cursor.execute("COMMIT")
    seconds = time.perf_counter() - begin
    cursor.execute("DROP TABLE raw_reports")
    connection.commit()
    engine.dispose()
    return len(bodies) / seconds


def _stored(folder: StudyFolder) -> int:
    store = folder.store()
    count = store.count()
    store.dispose()
    return count


def _request(path: str, kind: str, body: bytes, token: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{head}{authorization}\r\n".encode() + body


async def _drive(port: int, requests: list[bytes], connections: int) -> tuple[float, list[float]]:
    """Requests a second over keep-alive connections, and the seconds that each took."""
    waiting, times = iter(requests), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in waiting:
            begin = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            times.append(time.perf_counter() - begin)
            assert head[9:12] in (b"200", b"201"), body[:200]
            assert b'"refused":[{' not in body, body[:200]
        writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(connections)))
    return len(requests) / (time.perf_counter() - begin), times


if __name__ == "__main__":
    print(json.dumps(run("--quick" in sys.argv)))
