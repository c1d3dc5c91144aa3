"""``privet graph info``: what a store holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import AsJson
from privet.cli.graph.group import graph

if TYPE_CHECKING:
    from privet.data.store import GraphStore


@graph.command()
def info(
    store: Annotated[Path, typer.Argument(metavar="DIR", help="The store.")],
    check: Annotated[bool, typer.Option("--check", help="Compare every file with its checksum (default: no).")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a store holds, and how much a hop moves between its partitions."""
    from privet.data.store import GraphStore, open_table

    opened = GraphStore.open(store)
    tables = [open_table(opened, path.parent.name) for path in sorted(store.glob("tables/*/table.json"))]
    if check:
        opened.check()
        for table in tables:
            for file in table.manifest.files:
                file.check(table.path)
    manifest = opened.manifest
    if as_json:
        sizes = [each.model_dump(exclude={"files"}) for each in manifest.partitions]
        typer.echo(
            json.dumps(
                {
                    "nodes": manifest.nodes,
                    "entries": manifest.entries,
                    "halo": manifest.halo,
                    "loops": manifest.loops,
                    "directed": manifest.directed,
                    "by": manifest.by,
                    "tables": {table.path.name: table.num_rows for table in tables},
                    "partitions": sizes,
                }
            )
        )
        return
    typer.echo(summary(opened))
    for table in tables:
        typer.echo(f"Table {table.path.name}: {table.num_rows:,} rows, {', '.join(table.schema.names)}.")
    if check:
        typer.echo("Every file has its checksum.")


def summary(store: GraphStore) -> str:
    """Describe a store in a few lines.

    Args:
        store: The store.
    """
    manifest = store.manifest
    kind = "directed" if manifest.directed else "undirected"
    largest = max(manifest.partitions, key=lambda each: each.rows + each.halo)
    merged = sum(each.merged for each in manifest.partitions)
    lines = [
        f"{store.path}: {manifest.nodes:,} nodes, {manifest.entries:,} adjacency entries, {kind}.",
        f"{store.num_partitions} partitions by {manifest.by}; the largest needs {largest.rows + largest.halo:,} rows.",
        f"A hop moves {manifest.halo:,} rows between partitions, {manifest.halo / manifest.nodes:.2f} a node.",
    ]
    if merged:
        lines.append(f"{merged:,} entries were listed twice and merged.")
    return "\n".join(lines)
