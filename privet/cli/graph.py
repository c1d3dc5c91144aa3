"""``privet graph``: graphs on disk, in partitions."""

from __future__ import annotations

import json
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import AsJson, BadOption, app, examples
from privet.cli.options import ClusterName, InsecureCluster

if TYPE_CHECKING:
    from privet.data.store import GraphStore

__all__ = ["graph"]


graph = typer.Typer(help="Keep a graph on disk, in partitions that workers can share.", no_args_is_help=True)
app.add_typer(graph, name="graph")


@graph.command()
def info(
    store: Annotated[Path, typer.Argument(metavar="DIR", help="The store.")],
    check: Annotated[bool, typer.Option("--check", help="Compare every file with its checksum (default: no).")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a store holds.

    It also says how much a hop moves between its partitions.
    """
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
    """Describe a store in a few lines."""
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


class _By(StrEnum):
    hash = "hash"
    metis = "metis"
    id = "id"


class _Duplicates(StrEnum):
    refuse = "refuse"
    merge = "merge"


class _Loops(StrEnum):
    refuse = "refuse"
    drop = "drop"
    keep = "keep"


@graph.command(
    epilog=examples(
        "privet graph build edges.csv --nodes nodes.csv --out store --partitions 16",
        "privet graph build edges-*.parquet --nodes 20000000 --out store --partitions 32 --cluster local:2:1.5GiB",
    )
)
def build(
    edges: Annotated[
        list[Path], typer.Argument(metavar="EDGES...", help=".csv or .parquet files with the columns source, target.")
    ],
    nodes: Annotated[
        str,
        typer.Option(metavar="FILE|COUNT", help="Table with the column node, each id from 0 once; or their number."),
    ],
    out: Annotated[Path, typer.Option(help="New directory for the store.")],
    partitions: Annotated[int, typer.Option(min=1, help="Number of partitions; a worker holds one at a time.")],
    by: Annotated[
        _By, typer.Option(help="Deal nodes by a hash, by METIS (in memory), or by ranges of ids.")
    ] = _By.hash,
    directed: Annotated[
        bool, typer.Option("--directed", help="Edges hold in one direction only (default: in both).")
    ] = False,
    duplicates: Annotated[_Duplicates, typer.Option(help="Edges that are listed twice.")] = _Duplicates.refuse,
    self_loops: Annotated[_Loops, typer.Option(help="Edges from a node to itself.")] = _Loops.refuse,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
) -> None:
    """Sort an edge list into a store of partitions.

    The list need not fit into memory.

    An undirected edge is listed once. A build that was stopped goes on when the same command is given again.
    """
    from privet.cli.render.screen import phase_progress
    from privet.data.store.building import build_store
    from privet.data.store.files import count_nodes

    counted: int | Path = int(nodes) if nodes.isdecimal() else Path(nodes)
    if isinstance(counted, Path) and counted.suffix not in (".csv", ".parquet"):
        raise BadOption(f"--nodes takes a number, or a .csv or .parquet file, not {nodes!r}.")
    parts = None
    if by is _By.metis:
        from privet.graph import metis_parts

        count = counted if isinstance(counted, int) else count_nodes(counted)
        parts = metis_parts(edges, count, partitions)
    if cluster is None:
        workers = nullcontext()
    else:
        from privet.graph.distributed.cluster import connect, parse_cluster

        workers = connect(parse_cluster(cluster, insecure=insecure_cluster))  # type: ignore[assignment]
    with workers as client, phase_progress() as progress:
        store = build_store(
            edges,
            out,
            nodes=counted,
            partitions=partitions,
            by=by.value,
            parts=parts,
            directed=directed,
            self_loops=self_loops.value,
            duplicates=duplicates.value,
            client=client,
            progress=progress,
        )
    typer.echo(summary(store))
