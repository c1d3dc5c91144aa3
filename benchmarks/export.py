"""Export of stored reports in parts, against reading all of them at once.

A study whose people report a class and one of 64 features at epsilon 1 is filled with reports straight through its
store (SQLite, or the PostgreSQL that ``PRIVET_POSTGRES`` names), then exported in parts of 100,000 people by two
workers and by one process, each measured in a fresh process. Ten million reports unless quick; ``measure(reports)``
takes any number.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from privet.collection.operator.folder import StudyFolder, open_reports
from privet.collection.operator.keys import Keys
from privet.collection.operator.partitioned_export import PartitionedAnswers, export_partitions
from privet.collection.study import Study
from privet.data import Schema
from privet.graph.distributed import connect
from privet.mechanisms import SeededBits
from privet.release import PrivateData

REPORTS, PART, BATCH, FEATURES = 10_000_000, 100_000, 20_000, 64


def run(quick: bool = False) -> dict[str, Any]:
    """Export ten million reports, or a hundred thousand if quick."""
    return measure(100_000 if quick else REPORTS)


def measure(reports: int) -> dict[str, Any]:
    """Seconds, bytes and peaks of an export in parts, and of reading all reports at once."""
    with tempfile.TemporaryDirectory(prefix="privet-benchmark-") as name:
        path = Path(name) / "study"
        filled = _alone(_fill, path, reports)
        parts = max(2, -(-reports // PART))
        found = {
            "two_workers": _alone(_export, path, Path(name) / "by-two", parts, "local:2:1GiB"),
            "one_process": _alone(_export, path, Path(name) / "by-one", parts, None),
            "at_once": _alone(_read, path),
        }
        size = sum(part.file.bytes for part in PartitionedAnswers.open(Path(name) / "by-one").manifest.parts)
    one, two = found["one_process"], found["two_workers"]
    return {
        "benchmark": "export",
        "reports": reports,
        "parts": parts,
        "database": "postgresql" if os.environ.get("PRIVET_POSTGRES") else "sqlite",
        "reports_per_second": round(reports / one["seconds"]),
        "two_workers_against_one": round(one["seconds"] / two["seconds"], 3),
        "peak_against_at_once": round(one["peak_mb"] / found["at_once"]["peak_mb"], 3),
        "bytes_per_report": round(size / reports, 2),
        "met": {"every_report": bool(one["reports"] == two["reports"] == reports)},
        "filled": filled,
        **found,
    }


def _fill(path: Path, reports: int) -> dict[str, Any]:
    """Make a study in which everybody has reported; the tokens of ten million people are not written."""
    study = Study.read(
        {
            "title": f"Benchmark {os.getpid()} {time.time_ns()}",
            "purpose": "To be measured.",
            "operator": "privet developers",
            "eligible": "Simulated people.",
            "nodes": reports,
            "schema": Schema.numeric(FEATURES, 0.0, 1.0, classes=4),
            "release": [
                {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0},
                {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0},
            ],
            "opens": "2020-01-01T00:00:00Z",
            "closes": "2029-12-31T00:00:00Z",
        }
    )
    path.mkdir()
    keys = Keys.make(os.environ.get("PRIVET_POSTGRES"))
    (path / "study.json").write_bytes(study.canonical())
    keys.write(path / "keys.json")
    store = StudyFolder(path, study, keys).store()
    began, rng, bits = time.perf_counter(), np.random.default_rng(0), SeededBits(0)
    for start in range(0, reports, BATCH):
        users = np.arange(start, min(start + BATCH, reports))
        private = PrivateData(users, rng.random((len(users), FEATURES)), rng.integers(0, 4, len(users)))
        store.insert(users.tolist(), study.release.wire.pack(study.release.perturb(private, bits)))
    store.dispose()
    return {"seconds": round(time.perf_counter() - began, 2)}


def _export(path: Path, out: Path, parts: int, cluster: str | None) -> dict[str, Any]:
    folder = StudyFolder.open(path)
    if cluster is None:
        began = time.perf_counter()
        found = export_partitions(folder, out, parts)
        return _figures(found.num_reports, began)
    with connect(cluster) as client:
        began = time.perf_counter()
        found = export_partitions(folder, out, parts, client=client)
        workers = max(client.run(_peak_mb).values())
        return {**_figures(found.num_reports, began), "worker_peak_mb": workers}


def _read(path: Path) -> dict[str, Any]:
    began = time.perf_counter()
    return _figures(len(open_reports(path)[1].users), began)


def _figures(reports: int, began: float) -> dict[str, Any]:
    return {"reports": reports, "seconds": round(time.perf_counter() - began, 2), "peak_mb": _peak_mb()}


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def _alone(function: Any, *arguments: Any) -> dict[str, Any]:
    """Call a function in a process of its own, so that its peak is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found: dict[str, Any] = pool.submit(function, *arguments).result()
    return found


if __name__ == "__main__":
    print(json.dumps(run()))
