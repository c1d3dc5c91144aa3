"""Answers as Parquet: equal after a round trip, and refused in one sentence after anything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from simulated_studies import asked, make_study, simulated

from privet.collection.operator.export import answer_files as export
from privet.collection.operator.export.answer_files import read_answers, read_erasures, write_answers
from privet.collection.study.manifest import Study
from privet.data import Schema, social_graph
from privet.errors import InvalidData, PrivetError
from privet.mechanisms import SeededBits
from privet.release import Answers, PrivateData

NODES = 40


def a_study(mechanism: str = "multi-bit", *, labels: bool = False, lists: bool = False, **features: object) -> Study:
    schema = Schema.numeric(8, 0.0, 1.0, classes=4, private_edges=lists)
    if mechanism == "sampled-response":
        schema = Schema.categorical([2] * 8, classes=4, private_edges=lists)
    return Study.read(
        {
            "title": "A",
            "purpose": "B",
            "operator": "C",
            "eligible": "D",
            "nodes": NODES,
            "schema": schema,
            "release": asked(
                {"mechanism": mechanism, "epsilon": 2.0, **features},
                {"epsilon": 1.0} if labels else None,
                {"epsilon": 3.0} if lists else None,
            ),
            "opens": "2026-01-01T00:00:00Z",
            "closes": "2026-02-01T00:00:00Z",
        }
    )


def some_answers(study: Study, count: int = 25) -> Answers:
    graph = social_graph(NODES, features=8, average_degree=4, seed=0).replace(schema=study.declared)
    return study.release.perturb(
        PrivateData.of(graph, np.random.default_rng(0).permutation(NODES)[:count]), SeededBits(0)
    )


STUDIES = [
    a_study(),
    a_study("multi-bit", sample=8),
    a_study("hds", labels=True),
    a_study("piecewise"),
    a_study("laplace", sample=3, lists=True),
    a_study("sampled-response", sample=2, labels=True),
    a_study("multi-bit", labels=True, lists=True),
]


@pytest.mark.parametrize("study", STUDIES, ids=range(len(STUDIES)))
@pytest.mark.parametrize("count", [0, 1, 25])
def test_a_round_trip_gives_the_same_bytes(study: Study, count: int, tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setattr(export, "_BLOCK", 7)
    answers = some_answers(study, max(count, 1))
    if not count:
        answers = study.release.wire.unpack([], [])
    write_answers(tmp_path / "reports.parquet", study, answers)
    found, again = read_answers(tmp_path / "reports.parquet")
    assert found.id == study.id
    assert again.users.tolist() == sorted(answers.users.tolist())
    before, after = (study.release.wire.pack(each) for each in (answers, again))
    assert [before[row] for row in np.argsort(answers["features"].users)] == after
    assert [p.name for p in tmp_path.iterdir()] == ["reports.parquet"]


def changed(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def with_lists(table: pa.Table, name: str, change: object) -> pa.Table:
    rows = table[name].to_pylist()
    change(rows)
    return changed(table, name, pa.array(rows, table.schema.field(name).type))


def tampered(table: pa.Table, how: str) -> pa.Table:
    nodes = table["node"].to_numpy().copy()
    match how:
        case "symbol outside the alphabet":
            return with_lists(table, "features.symbols", lambda rows: rows[3].__setitem__(0, 9))
        case "repeated node":
            nodes[1] = nodes[0]
        case "unknown node":
            nodes[-1] = NODES
        case "negative node":
            nodes[0] = -1
        case "shorter list":
            return with_lists(table, "features.symbols", lambda rows: rows[2].pop())
        case "missing list":
            return with_lists(table, "features.symbols", lambda rows: rows.__setitem__(2, None))
        case "missing symbol":
            return with_lists(table, "features.symbols", lambda rows: rows[2].__setitem__(0, None))
        case "coordinate twice":
            return with_lists(table, "features.coordinates", lambda rows: rows[2].__setitem__(1, rows[2][0]))
        case "class that does not exist":
            return changed(table, "label", pa.array([4] * len(table), table.schema.field("label").type))
        case "list that names a smaller id":
            return with_lists(table, "neighbours", lambda rows: rows[-1].insert(0, 0))
        case "another column":
            return table.append_column("more", table["node"])
        case "no column":
            return table.drop_columns(["label"])
        case "wider symbols":
            return changed(table, "features.symbols", table["features.symbols"].cast(pa.list_(pa.int64())))
        case "no manifest":
            return table.replace_schema_metadata(None)
        case "altered manifest":
            metadata = {k: v.replace(b'"epsilon":3.0', b'"epsilon":4.0') for k, v in table.schema.metadata.items()}
            return table.replace_schema_metadata(metadata)
        case "respelled manifest":
            metadata = {k: v.replace(b'"epsilon":3.0', b'"epsilon": 3.0') for k, v in table.schema.metadata.items()}
            return table.replace_schema_metadata(metadata)
    return changed(table, "node", pa.array(nodes, pa.int32()))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("symbol outside the alphabet", "MultiBit cannot have sent the report in row 3"),
        ("repeated node", "in row 1"),
        ("unknown node", "40 in row 24"),
        ("negative node", "-1 in row 0"),
        ("shorter list", "1 in row 2"),
        ("missing list", "filled in every row"),
        ("missing symbol", "filled in every row"),
        ("coordinate twice", "ascending coordinates"),
        ("class that does not exist", "RandomizedResponse cannot have sent"),
        ("list that names a smaller id", "AdjacencyResponse cannot have sent"),
        ("another column", "columns"),
        ("no column", "columns"),
        ("wider symbols", "columns"),
        ("no manifest", "has no study's manifest"),
        ("respelled manifest", "canonical form"),
    ],
)
def test_a_tampered_file_is_refused_in_one_sentence(how: str, message: str, tmp_path: Path) -> None:
    study = a_study("multi-bit", sample=2, labels=True, lists=True)
    write_answers(tmp_path / "reports.parquet", study, some_answers(study))
    table = tampered(pq.read_table(tmp_path / "reports.parquet"), how)
    pq.write_table(table, tmp_path / "tampered.parquet")
    with pytest.raises(InvalidData, match=message) as refusal:
        read_answers(tmp_path / "tampered.parquet")
    assert "\n" not in str(refusal.value)


def test_a_manifest_with_another_budget_is_another_study(tmp_path: Path) -> None:
    study = a_study(lists=True)
    write_answers(tmp_path / "reports.parquet", study, some_answers(study))
    table = tampered(pq.read_table(tmp_path / "reports.parquet"), "altered manifest")
    pq.write_table(table, tmp_path / "tampered.parquet")
    with pytest.raises(InvalidData, match="another id beside the manifest"):
        read_answers(tmp_path / "tampered.parquet")


def test_a_flipped_byte_is_refused_or_harmless(tmp_path: Path) -> None:
    """Checksums cover the pages; a footer that was damaged is no Parquet, another study or the same answers."""
    study = a_study(labels=True)
    answers = some_answers(study)
    path = tmp_path / "reports.parquet"
    write_answers(path, study, answers)
    good = path.read_bytes()
    expected = study.release.wire.pack(read_answers(path)[1])
    rng = np.random.default_rng(0)
    refused = 0
    with pq.ParquetFile(path) as file:
        chunk = file.metadata.row_group(0).column(file.schema_arrow.names.index("label"))
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    labels = range(start, start + chunk.total_compressed_size)  # a label can turn into another one unnoticed
    for place in [*rng.choice(len(good), size=60, replace=False), *labels]:
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            found, again = read_answers(path)
        except PrivetError:
            refused += 1
            continue
        assert found.id != study.id or study.release.wire.pack(again) == expected
    assert refused > 20


@pytest.mark.parametrize("content", [None, b"", b"PAR1 but not really"])
def test_what_is_no_parquet_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidData, match=r"reports\.parquet"):
        read_answers(path)


def test_answers_of_another_study_are_not_written(tmp_path: Path) -> None:
    answers = some_answers(a_study(labels=True))
    with pytest.raises(InvalidData, match=r"must answer features; they answer features, label"):
        write_answers(tmp_path / "reports.parquet", a_study(), answers)
    assert not list(tmp_path.iterdir())


def test_exporting_needs_no_torch() -> None:
    code = (
        "import sys; import privet.collection.operator.export.answer_files, privet.collection.operator.public_data; "
        "print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_file_without_its_number_of_erasures_is_refused(tmp_path):
    study = make_study()
    write_answers(tmp_path / "reports.parquet", study, simulated(study, 0), erasures=12)
    assert read_erasures(tmp_path / "reports.parquet") == 12
    table = pq.read_table(tmp_path / "reports.parquet")
    metadata = {name: value for name, value in table.schema.metadata.items() if name != b"privet.erasures"}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "other.parquet")
    with pytest.raises(InvalidData, match="does not say how many people were erased"):
        read_erasures(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("no Parquet")
    with pytest.raises(InvalidData, match="readable Parquet"):
        read_erasures(tmp_path / "text.parquet")
