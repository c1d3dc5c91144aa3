"""The option --cluster of run, train, predict and export, on one cluster of this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import dask
import numpy as np
import pyarrow.parquet as pq
import pytest
from simulated_studies import make_study

from privet.cli import main
from privet.collection.operator.export.answer_files import write_answers
from privet.collection.operator.export.partitions import PartitionedAnswers
from privet.collection.operator.folder import StudyFolder
from privet.collection.study.manifest import Study
from privet.data import Graph, social_graph, write_directory, write_edges
from privet.graph.distributed import connect
from privet.mechanisms import SeededBits
from privet.release import PrivateData
from privet.systems import Fitted
from privet.systems.local._projected import WIDTH

NODES = 240  # so few that coordinates need one hop, not hundreds
FEATURES = {"ask": "features", "mechanism": "multi-bit", "epsilon": 8.0}
LABEL = {"ask": "label", "mechanism": "randomized-response", "epsilon": 4.0}


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with connect("local:1:2GiB") as client:
        keys = client.security
        paths = {"ca-file": keys.tls_ca_file, "client.cert": keys.tls_client_cert, "client.key": keys.tls_client_key}
        with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in paths.items()}):
            yield client.scheduler.address


@pytest.fixture(scope="module")
def graph() -> Graph:
    return social_graph(NODES, classes=3, average_degree=10, homophily=0.85, features=6, seed=0)


def privet(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["privet", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    return int(end.value.code or 0), printed.out + printed.err


@pytest.fixture
def run(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    def command(*arguments: object, status: int = 0) -> str:
        code, printed = privet(capsys, monkeypatch, *arguments)
        assert code == status, printed
        return printed

    return command


def test_a_run_has_the_figures_and_the_statement_of_memory(cluster: str, graph: Graph, tmp_path: Path, run) -> None:
    write_directory(graph, tmp_path / "village")
    command = ["run", "structure", "--dataset", tmp_path / "village", "--seeds", 1]
    predictions = ["--predictions", tmp_path / "p.parquet"]
    run(*command, "--out", tmp_path / "memory.json")
    run(*command, "--out", tmp_path / "cluster.json", *predictions, "--cluster", cluster)
    memory, elsewhere = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("memory", "cluster"))
    assert abs(memory["mean"] - elsewhere["mean"]) <= 2.0
    assert memory["controls"].keys() == elsewhere["controls"].keys()
    assert memory["guarantee"] == elsewhere["guarantee"]
    statements = [(tmp_path / f"{name}.privacy.yaml").read_text() for name in ("memory", "cluster")]
    assert statements[0] == statements[1]
    assert pq.read_table(tmp_path / "p.parquet").num_rows == NODES


def a_study(graph: Graph) -> Study:
    return make_study(nodes=NODES, schema=graph.schema, release=[LABEL])


def test_training_on_a_store_and_predicting_in_files(cluster: str, graph: Graph, tmp_path: Path, run) -> None:
    study = a_study(graph)
    people = np.arange(0, NODES, 2)
    write_answers(
        tmp_path / "reports.parquet", study, study.release.perturb(PrivateData.of(graph, people), SeededBits(0))
    )
    write_edges(tmp_path / "edges.parquet", graph.edges)
    build = ["graph", "build", tmp_path / "edges.parquet", "--nodes", NODES, "--partitions", 3]
    run(*build, "--out", tmp_path / "store", "--cluster", cluster)
    train = ["train", "--study", tmp_path / "reports.parquet", "--system", "structure", "--seed", 0]
    run(*train, "--graph", tmp_path / "edges.parquet", "--out", tmp_path / "memory")
    run(*train, "--graph", tmp_path / "edges.parquet", "--out", tmp_path / "moved", "--cluster", cluster)
    run(*train, "--graph", tmp_path / "store", "--out", tmp_path / "stored", "--cluster", cluster)
    run(*train, "--graph", tmp_path / "store", "--out", tmp_path / "alone")
    models = {name: Fitted.load(tmp_path / name) for name in ("memory", "moved", "stored", "alone")}
    for name, model in models.items():
        assert model.guarantee == models["memory"].guarantee, name
        assert (model.predict() == models["memory"].predict()).mean() > 0.95, name
        assert (tmp_path / name / "privacy.yaml").read_text() == (tmp_path / "memory" / "privacy.yaml").read_text()
    said = run("predict", tmp_path / "memory", "--out", tmp_path / "files", "--cluster", cluster)
    assert "1 file" in said
    run("predict", tmp_path / "memory", "--out", tmp_path / "one.parquet")
    assert pq.read_table(tmp_path / "files" / "part-00000.parquet").equals(pq.read_table(tmp_path / "one.parquet"))


def test_an_export_in_parts_is_trained_on(cluster: str, graph: Graph, tmp_path: Path, run) -> None:
    study = a_study(graph)
    folder = StudyFolder.create(tmp_path / "study", study)
    answers = study.release.perturb(PrivateData.of(graph, np.arange(0, NODES, 2)), SeededBits(0))
    store = folder.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.dispose()
    said = run("study", "export", folder.path, "--partitions", 4, "--out", tmp_path / "parts", "--cluster", cluster)
    assert f"Wrote {NODES // 2} reports of {NODES} people to 4 files" in said
    assert PartitionedAnswers.open(tmp_path / "parts").num_reports == NODES // 2
    write_edges(tmp_path / "edges.parquet", graph.edges)
    for source, model in ((folder.path, "a"), (tmp_path / "parts", "b")):
        run("train", "--study", source, "--system", "structure", "--graph", tmp_path / "edges.parquet",
            "--out", tmp_path / model)  # fmt: skip
    assert np.array_equal(*(Fitted.load(tmp_path / name).probabilities for name in "ab"))


def test_a_run_of_a_system_of_features(cluster: str, graph: Graph, tmp_path: Path, run) -> None:
    write_directory(graph, tmp_path / "village")
    command = ["run", "lpgnn", "--dataset", tmp_path / "village", "--seeds", 1, "--no-controls"]
    quick = ["--set", "max_epochs=30", "--epsilon-features", 8, "--set", "projection=4"]
    run(*command, *quick, "--out", tmp_path / "memory.json")
    kept = ["--store", tmp_path / "figures"]
    run(*command, *quick, *kept, "--out", tmp_path / "cluster.json", "--cluster", cluster)
    run(*command, "--set", "max_epochs=2", "--out", tmp_path / "usual.json", "--cluster", cluster)
    results = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("memory", "cluster", "usual")]
    memory, moved, usual = results
    assert abs(memory["mean"] - moved["mean"]) <= 2.0
    assert memory["settings"] == moved["settings"]
    assert memory["guarantee"] == moved["guarantee"]
    assert memory["facts"] == moved["facts"] == {"projected_columns": 4.0, "projection_seed": 0.0}
    assert (usual["settings"]["projection"], usual["facts"]["projected_columns"]) == (WIDTH, 6.0)
    statements = [(tmp_path / f"{name}.privacy.yaml").read_text() for name in ("memory", "cluster")]
    assert statements[0] == statements[1]


@pytest.mark.parametrize("system", ["lpgnn", "structure"])
def test_an_export_in_parts_is_read_part_by_part(
    cluster: str, system: str, graph: Graph, tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [LABEL] if system == "structure" else [FEATURES, LABEL]
    study = make_study(nodes=NODES, schema=graph.schema, release=asked)
    folder = StudyFolder.create(tmp_path / "study", study)
    answers = study.release.perturb(PrivateData.of(graph, np.arange(0, NODES, 2)), SeededBits(0))
    store = folder.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.dispose()
    run("study", "export", folder.path, "--partitions", 5, "--out", tmp_path / "parts")
    write_edges(tmp_path / "edges.parquet", graph.edges)
    run("graph", "build", tmp_path / "edges.parquet", "--nodes", NODES, "--partitions", 3, "--by", "hash",
        "--out", tmp_path / "store")  # fmt: skip
    monkeypatch.setattr(
        "privet.collection.operator.training.label_propagation", lambda *_: None
    )  # 128 hops, tested elsewhere
    train = ["train", "--system", system, "--seed", 0, "--graph", tmp_path / "store"]
    train += ["--set", "max_epochs=30"] if system == "lpgnn" else []
    run(*train, "--study", folder.path, "--out", tmp_path / "at-once")
    monkeypatch.setattr(PartitionedAnswers, "answers", lambda _: pytest.fail("all parts were read at once"))
    held: list[int] = []
    read = PartitionedAnswers.read
    monkeypatch.setattr(PartitionedAnswers, "read", lambda self, part: held.append(part) or read(self, part))
    names = ["at-once", "by-parts"]
    if system == "lpgnn":
        names.append("by-workers")
        run(*train, "--study", tmp_path / "parts", "--out", tmp_path / "by-workers", "--cluster", cluster)
        assert not held  # this process read none
    run(*train, "--study", tmp_path / "parts", "--out", tmp_path / "by-parts")
    assert held == [0, 1, 2, 3, 4] * (3 if system == "lpgnn" else 1)  # who answered, the model, its control
    models = {name: Fitted.load(tmp_path / name) for name in names}
    facts = {name: json.loads((tmp_path / name / "facts.json").read_text()) for name in names}
    for name in names:
        assert models[name].guarantee == models["at-once"].guarantee
        assert (models[name].predict() == models["at-once"].predict()).mean() > 0.97
        for fact in ("respondents", "features_from_neighbours", "features_unknown", "training_nodes"):
            assert facts[name][fact] == facts["at-once"][fact]
