"""What `privet advise` does, behind the thin command line: from options to a question, from a question to a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from privet.advice.advise import Question, advise, figures_needed
from privet.advice.topology import Topology, read_schema, read_topology, stated_topology
from privet.cli.render.advice import print_advice
from privet.data import Schema
from privet.errors import InvalidParameter
from privet.evaluation.outputs import check_writable, write_json

__all__ = ["advise_command", "declared_schema", "topology_for"]


def advise_command(question: Question, *, out: Path | None, as_json: bool) -> None:
    """Simulate with a progress bar, print, and write the document."""
    check_writable(out)
    messages = Console(stderr=True)
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal) as bar:
        task = bar.add_task("simulating", total=figures_needed(question))
        document = advise(question, lambda: bar.advance(task))
    if out is not None:
        write_json(document, out)
    print(json.dumps(document)) if as_json else print_advice(document)


def topology_for(graph: str | None, root: Path | None, nodes: int | None, degree: float | None) -> Topology:
    """The given graph's topology, or a synthetic one of the stated size and mean degree."""
    if graph is not None:
        if nodes is not None or degree is not None:
            raise InvalidParameter("--graph", "privet advise", "given alone, without --nodes and --degree", graph)
        found = read_topology(graph, root)
        if found.schema is not None and found.schema.private_edges:
            expected = "a graph with public edges (where edges are private state --nodes and --degree instead)"
            raise InvalidParameter("--graph", "privet advise", expected, "a schema with private edges")
        return found
    if nodes is None or degree is None:
        raise InvalidParameter("--graph", "privet advise", "given, or --nodes and --degree", "neither")
    return stated_topology(nodes, degree)


def declared_schema(
    topology: Topology, path: Path | None, classes: int | None, features: int | None, categories: str | None
) -> Schema:
    """The schema of a file, of counts on the command line, or that beside the graph; ``classes`` has the last word."""
    given = [
        name for name, value in (("--schema", path), ("--features or --categories", features or categories)) if value
    ]
    if len(given) > 1:
        raise InvalidParameter(
            "--schema", "privet advise", "given alone, without --features and --categories", str(path)
        )
    if path is not None:
        schema = read_schema(path)
    elif features is not None or categories is not None:
        schema = _counted(features, categories)
    elif topology.schema is not None:
        schema = topology.schema
    else:
        raise InvalidParameter("--schema", "privet advise", "given, or --features", "neither")
    if classes is None and not schema.classes:
        raise InvalidParameter("--classes", "privet advise", "given where no schema says it", "nothing")
    return replace(schema, classes=classes or schema.classes, private_edges=False)


def _counted(features: int | None, categories: str | None) -> Schema:
    """Numbers from 0 to 1, or so many categories each: one count for all features, or one count a feature."""
    if categories is None:
        return Schema.numeric(features or 0, 0.0, 1.0)
    try:
        counts = [int(count) for count in categories.split(",")]
    except ValueError:
        raise InvalidParameter("--categories", "privet advise", "integers, comma separated", categories) from None
    if len(counts) == 1:
        counts *= features or 1
    if features is not None and len(counts) != features:
        expected = f"one count, or one for each of {features} features"
        raise InvalidParameter("--categories", "privet advise", expected, categories)
    return Schema.categorical(counts)
