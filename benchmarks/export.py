"""Export of stored reports in parts, against reading all of them at once, and training on the parts.

A study whose people report a class and one of 64 features at epsilon 1 is filled with reports straight into its table
(SQLite, or the PostgreSQL that ``PRIVET_POSTGRES`` names), then exported in parts of 100,000 people by two workers and
by one process, each measured in a fresh process. LPGNN then learns from the parts on a stored community graph with two
workers of 1 GiB: every part is read, projected to 16 columns and propagated by the workers, and a network is trained on
everybody's posterior by mini-batches. Ten million reports unless quick; ``measure(reports)`` takes any number.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks._big_graphs import COMMUNITY, write_edges
from privet.collection.operator.export.parted_answers import parted_answers
from privet.collection.operator.export.partitions import PartitionedAnswers, export_partitions
from privet.collection.operator.folder import StudyFolder, open_reports
from privet.collection.operator.keys import Keys
from privet.collection.operator.received import Received
from privet.collection.server.store.database import STUDIES, engine_for
from privet.collection.study.manifest import Study
from privet.data import Graph, Schema
from privet.data.store import GraphStore, build_store
from privet.graph.distributed import ClusterGraph, StoredTopology, connect
from privet.mechanisms import SeededBits
from privet.release import PrivateData
from privet.systems import LPGNN

REPORTS, PART, BATCH, FEATURES = 10_000_000, 100_000, 100_000, 64
DEGREE, PARTITION, COLUMNS, CLUSTER = 4, 500_000, 16, "local:2:1GiB"
LIMIT_MB = 1024


def run(quick: bool = False) -> dict[str, Any]:
    """Export ten million reports and train on them, or a hundred thousand if quick."""
    return measure(100_000 if quick else REPORTS) | {"quick": quick}


def measure(reports: int) -> dict[str, Any]:
    """Seconds, bytes and peaks of an export in parts, of reading all reports at once, and of training on the parts."""
    with tempfile.TemporaryDirectory(prefix="privet-benchmark-") as name:
        path, found = Path(name) / "study", {}
        parts = max(2, -(-reports // PART))
        cases = {
            "filled": (_fill, path, reports),
            "two_workers": (_export, path, Path(name) / "by-two", parts, CLUSTER),
            "one_process": (_export, path, Path(name) / "by-one", parts, None),
            "at_once": (_read, path),
            "built": (_build, Path(name), reports),
            "trained": (_train, Path(name) / "by-one", Path(name) / "store"),
        }
        for key, case in cases.items():
            found[key] = _alone(*case)
            print(key, json.dumps(found[key]), file=sys.stderr, flush=True)
        size = sum(part.file.bytes for part in PartitionedAnswers.open(Path(name) / "by-one").manifest.parts)
    one, two, trained = found["one_process"], found["two_workers"], found["trained"]
    return {
        "benchmark": "export",
        "reports": reports,
        "parts": parts,
        "database": "postgresql" if os.environ.get("PRIVET_POSTGRES") else "sqlite",
        "reports_per_second": round(reports / one["seconds"]),
        "trained_reports_per_second": round(reports / trained["seconds"]),
        "two_workers_against_one": round(one["seconds"] / two["seconds"], 3),
        "peak_against_at_once": round(one["peak_mb"] / found["at_once"]["peak_mb"], 3),
        "bytes_per_report": round(size / reports, 2),
        "met": {
            "every_report": bool(one["reports"] == two["reports"] == trained["reports"] == reports),
            "workers_below_their_limit": bool(max(two["worker_peak_mb"], trained["worker_peak_mb"]) < LIMIT_MB),
        },
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
    folder = StudyFolder(path, study, keys)
    folder.store().dispose()  # makes the tables
    engine = engine_for(folder.database)
    began, rng, bits = time.perf_counter(), np.random.default_rng(0), SeededBits(0)
    for start in range(0, reports, BATCH):
        users = np.arange(start, min(start + BATCH, reports))
        labels = _classes(users)
        private = PrivateData(users, _features(labels, rng), labels)
        _insert(engine, study.id, users.tolist(), study.release.wire.pack(study.release.perturb(private, bits)))
    engine.dispose()
    return {"seconds": round(time.perf_counter() - began, 2)}


def _classes(people: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """People of a community, a thousand neighbouring ids, have the same class."""
    return people // COMMUNITY % 4


def _features(labels: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Features whose columns, a quarter for each class, are larger for people of the class."""
    own = np.arange(FEATURES) * 4 // FEATURES == labels[:, None]
    return rng.random((len(labels), FEATURES), dtype=np.float32) * np.where(own, 1.0, 0.5)


def _insert(engine: sa.Engine, study_id: str, nodes: list[int], bodies: list[bytes]) -> None:
    """Write rows of a new study, as the only writer: by COPY, or by one statement for all of them."""
    minute = int(time.time()) // 60 * 60
    with engine.execution_options(write=True).begin() as connection:
        study = connection.execute(sa.select(STUDIES.c.number).where(STUDIES.c.id == study_id)).scalar()
        if connection.dialect.name == "sqlite":
            rows = [(study, node, minute, body) for node, body in zip(nodes, bodies, strict=True)]
            connection.exec_driver_sql("INSERT INTO reports (study, node, minute, body) VALUES (?, ?, ?, ?)", rows)
            return
        cursor = connection.connection.cursor()
        with cursor.copy("COPY reports (study, node, minute, body) FROM STDIN") as copy:
            for node, body in zip(nodes, bodies, strict=True):
                copy.write_row((study, node, minute, body))


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


def _build(folder: Path, people: int) -> dict[str, Any]:
    """Make a stored community graph of all people."""
    began, edges = time.perf_counter(), folder / "edges.parquet"
    write_edges(edges, "community", people, DEGREE, seed=0)
    with connect(CLUSTER) as client:
        store = build_store(
            edges, folder / "store", nodes=people, partitions=max(2, -(-people // PARTITION)), by="id",
            duplicates="merge", client=client,
        )  # fmt: skip
    edges.unlink()
    return {"seconds": round(time.perf_counter() - began, 2), "entries": store.manifest.entries}


def _train(export: Path, store: Path) -> dict[str, Any]:
    """Train on the parts; no process holds more than one of them."""
    with connect(CLUSTER) as client, ClusterGraph(GraphStore.open(store), client) as hosted:
        began = time.perf_counter()
        study, answers = parted_answers(PartitionedAnswers.open(export), client)
        read = time.perf_counter() - began
        system = LPGNN.from_release(
            study.release, projection=COLUMNS, hops=2, label_hops=2, label_evidence=20.0, max_epochs=2, seed=0
        )
        public = Graph.from_operator(StoredTopology(hosted))
        collected = Received.of(study, answers).collected(system, graph=public)
        fitted = system.fit(collected)
        figures = _figures(len(answers["features"].users), began)
        figures["accuracy"] = round(float((fitted.predict() == _classes(np.arange(study.nodes))).mean()), 4)
        figures["worker_peak_mb"] = max(client.run(_peak_mb).values())
        return {**figures, "reading_seconds": round(read, 2)}


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
