"""``privet graph build``: from edge lists to a partitioned store."""

from __future__ import annotations

from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import BadOption, examples
from privet.cli.graph.group import graph
from privet.cli.options import ClusterName, InsecureCluster


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
    """Sort an edge list, which need not fit into memory, into a store of partitions.

    An undirected edge is listed once. A build that was stopped goes on when the same command is given again.
    """
    from privet.cli.graph.info import summary
    from privet.cli.render.progress import phase_progress
    from privet.data.store.building import build_store
    from privet.data.store.node_files import count_nodes

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
