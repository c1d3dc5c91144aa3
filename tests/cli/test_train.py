"""``privet train`` as a user runs it, and predictions from its model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run_privet
from simulated_studies import asked

from privet.collection.operator.export.answer_files import write_answers
from privet.collection.study.manifest import Study
from privet.data import Schema, social_graph, write_edges
from privet.mechanisms import SeededBits
from privet.privacy.statement import read_statement
from privet.release import PrivateData

NODES = 120
GRAPH = social_graph(NODES, features=8, average_degree=6, seed=0)


def a_study(lists: bool = False) -> Study:
    return Study.read(
        {
            "title": "Commuting",
            "purpose": "B",
            "operator": "C",
            "eligible": "D",
            "nodes": NODES,
            "schema": Schema.numeric(8, 0.0, 1.0, classes=["bus", "bike", "car", "train"], private_edges=lists),
            "release": asked(
                {"mechanism": "multi-bit", "epsilon": 4.0}, neighbours={"epsilon": 7.0} if lists else None
            ),
            "opens": "2026-01-01T00:00:00Z",
            "closes": "2026-02-01T00:00:00Z",
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """What an operator has: exported reports, public edges, public labels of some."""
    for name, lists in (("reports", False), ("lists", True)):
        graph = GRAPH.replace(schema=a_study(lists).declared)
        answers = a_study(lists).release.perturb(PrivateData.of(graph, np.arange(0, NODES, 2)), SeededBits(0))
        write_answers(tmp_path / f"{name}.parquet", a_study(lists), answers)
    write_edges(tmp_path / "edges.parquet", GRAPH.edges)
    rows = "".join(f"{node},{label}\n" for node, label in enumerate(GRAPH.labels[:80]))
    (tmp_path / "labels.csv").write_text("node,label\n" + rows)
    return tmp_path


def privet(*arguments: object) -> tuple[int, str, str]:
    ended = run_privet(*arguments)
    return ended.returncode, ended.stdout, ended.stderr


def training(files: Path, reports: str = "reports.parquet", system: str = "lpgnn", *more: object) -> list[object]:
    return ["train", "--study", files / reports, "--system", system, "--labels", files / "labels.csv", *more]


def test_from_reports_to_predictions(files: Path) -> None:
    public = ["--graph", files / "edges.parquet", "--set", "max_epochs=20", "--out", files / "model"]
    code, out, err = privet(*training(files), *public)
    assert (code, err) == (0, "")
    for words in ("60 of 120 people answered", "classifies the 60 others", "respondents", "cannot be told", "odds"):
        assert words in out
    assert read_statement(files / "model")["collection"] == "real"
    code, out, _ = privet("predict", files / "model", "--nodes", "3, 1")
    assert code == 0
    assert out.splitlines()[0] == '"node","class","class_name","p0","p1","p2","p3"'
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["3", "1"]
    for name in ("predictions.csv", "predictions.parquet"):
        assert privet("predict", files / "model", "--out", files / name)[0] == 0
    table = pq.read_table(files / "predictions.parquet")
    chances = np.stack([table[f"p{number}"].to_numpy() for number in range(4)], axis=1)
    assert table["node"].to_pylist() == list(range(NODES))
    assert (chances.argmax(axis=1) == table["class"].to_numpy()).all()
    names = pa.array(a_study().class_names).take(table["class"].combine_chunks())
    assert table["class_name"].combine_chunks() == names
    assert len((files / "predictions.csv").read_text().splitlines()) == NODES + 1


def test_solitude_needs_no_graph_and_prints_json(files: Path) -> None:
    more = ["--set", "max_epochs=20", "--out", files / "model", "--json"]
    code, out, err = privet(*training(files, "lists.parquet", "solitude", *more))
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["study"] == a_study(lists=True).id
    assert facts["respondents"] == 60


def test_a_study_directory_is_read_and_told_of_the_model(files: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="the collection extra is not installed")
    from privet.collection.operator.folder import StudyFolder

    study = a_study()
    store = StudyFolder.create(files / "study", study).store()
    answers = study.release.perturb(PrivateData.of(GRAPH, np.arange(0, NODES, 2)), SeededBits(0))
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    public = ["--graph", files / "edges.parquet", "--set", "max_epochs=20", "--out", files / "model"]
    code, out, err = privet(*training(files, "study"), *public)
    assert (code, err) == (0, "")
    assert "60 of 120" in out
    (model,) = store.models()
    assert (model["name"], model["system"]) == ("model", "lpgnn")
    assert model["metrics"]["response_rate"] == 0.5
    assert store.forget(2, "participant")
    status = privet("study", "status", files / "study")[1]
    assert "Erased: 1." in status
    assert "trained before 1 erasure, train it again" in status
    public[-1] = files / "again"
    code, out, _ = privet(*training(files, "study"), *public)
    assert (code, "59 of 120" in out, "The reports of 1 people had been erased" in out) == (0, True, True)
    assert json.loads((files / "again" / "facts.json").read_text())["erasures"] == 1
    assert [model["erasures_since"] for model in store.models()] == [1, 0]
    reports = files / "later.parquet"
    privet("study", "export", files / "study", "--out", reports)
    public[-1] = files / "third"
    code, out, _ = privet(*training(files, "later.parquet"), *public)
    assert "The reports of 1 people had been erased" in out
    store.dispose()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--system", "rgnn"], "lpgnn, privge"),
        (["--set", "epsilon_features=100"], "the release's, 4.0"),
        (["--set", "hop=2"], "a setting of lpgnn"),
        (["--study-id", "0" * 64], "not of the one that was asked for"),
        (["--study", "missing.parquet"], "There is no file"),
        (["--study", "labels.csv"], "labels.csv"),
        (["--labels", "edges.parquet"], "no column 'node'"),
        (["--out", "."], "a new or an empty directory"),
        (["--validation-share", "2"], "--validation-share"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_sentence(
    change: list[str], message: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    words = {"--study": "reports.parquet", "--system": "lpgnn", "--graph": "edges.parquet", "--labels": "labels.csv"}
    words |= {"--out": "model", change[0]: change[1]}
    arguments = [word for pair in words.items() for word in pair]
    code, _, err = privet("train", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not Path("model").exists()
