from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.advice.topology import Topology, stated_topology
from privet.cli import app
from privet.cli.advise import declared_schema, topology_for
from privet.cli.app import BadOption
from privet.data import Schema, social_graph, write_directory
from privet.errors import PrivetError

SMALL = Schema.categorical([2, 2, 3], classes=2)


def test_the_schema_may_be_counted_read_or_beside_the_graph(tmp_path: Path) -> None:
    topology = stated_topology(200, 6.0)
    assert declared_schema(topology, None, 3, 4, None) == Schema.numeric(4, 0.0, 1.0, classes=3)
    assert declared_schema(topology, None, 3, 2, "5") == Schema.categorical([5, 5], classes=3)
    assert declared_schema(topology, None, 3, None, "2,5") == Schema.categorical([2, 5], classes=3)
    (tmp_path / "schema.json").write_text(SMALL.to_json())
    assert declared_schema(topology, tmp_path / "schema.json", None, None, None) == SMALL
    beside = Topology(topology.graph, "x", SMALL)
    assert declared_schema(beside, None, None, None, None) == SMALL
    assert declared_schema(beside, None, 5, None, None).classes == 5


@pytest.mark.parametrize(
    "arguments",
    [
        "--budget 1",
        "--budget 1 --nodes 100",
        "--budget 1 --nodes 100 --degree 5 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --features 4",
        "--budget 1 --nodes 100 --degree 5 --features 4 --categories 2,2 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --categories x --classes 3",
        "--budget 0 --nodes 100 --degree 5 --features 4 --classes 3",
        "--budget 1 --nodes 100 --degree 5 --features 4 --classes 3 --protect labels",
        "--budget 1 --nodes 100 --degree 5 --features 4 --classes 3 --out nowhere/advice.json",
        "--budget 1 --graph nowhere --features 4 --classes 3",
    ],
)
def test_bad_questions(arguments: str) -> None:
    found = CliRunner().invoke(app, ["advise", *shlex.split(arguments)])
    assert isinstance(found.exception, PrivetError)
    assert "\n" not in str(found.exception)


def test_private_edges_are_not_read(tmp_path: Path) -> None:
    graph = social_graph(100, features=4, classes=2, average_degree=5, seed=0)
    closed = Schema(graph.schema.features, 2, private_edges=True)
    write_directory(graph.replace(schema=closed), tmp_path / "closed")
    with pytest.raises(BadOption, match="state --nodes and --degree"):
        topology_for(str(tmp_path / "closed"), None, None, None)
