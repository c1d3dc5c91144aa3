"""``privet study export``: the reports as a file, or as a directory of files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import BadOption
from privet.cli.options import ClusterName, InsecureCluster, chosen_cluster
from privet.cli.study.group import Folder, study

if TYPE_CHECKING:
    from privet.graph.distributed.cluster import Cluster


@study.command()
def export(
    folder: Folder,
    out: Annotated[
        Path,
        typer.Option(help="The file to write; with --partitions a new directory; or a store of 'privet graph build'."),
    ] = Path("reports.parquet"),
    public: Annotated[
        bool,
        typer.Option("--public", help="Write all that rounds are computed from, for anybody (default: the answers)."),
    ] = False,
    partitions: Annotated[
        int | None,
        typer.Option(min=1, help="Number of files, by ranges of nodes (default: one file).", show_default=False),
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
) -> None:
    """Write the newest round's reports to a Parquet file, or the public record of all rounds to a SQLite file.

    With --partitions they need not fit into memory, and an export that was stopped goes on when the same command is
    given again. In a store the reports become its table 'answers'.
    """
    if partitions is not None or (out / "store.json").is_file():
        if public:
            raise BadOption("The public record is one file: leave --partitions, and name a file with --out.")
        _partitioned(folder, out, partitions, chosen_cluster(cluster, insecure_cluster))
        return
    if cluster is not None:
        raise BadOption("One file is written by one process: give --partitions with --cluster.")
    from privet.collection.operator.erasures import erased_people
    from privet.collection.operator.export import write_answers
    from privet.collection.operator.folder import open_reports
    from privet.data.files import check_writable

    check_writable(out)
    if public:
        from privet.collection.operator.public_record import write_record

        count = write_record(folder, out)
        typer.echo(f"Wrote the public record with {count:,} reports to {out}; 'privet study verify {out}' checks it.")
        return
    erasures = len(erased_people(folder))
    known, answers = open_reports(folder)
    write_answers(out, known, answers, erasures)
    typer.echo(f"Wrote {len(answers.users):,} reports of {known.nodes:,} nodes to {out} ({erasures:,} erased before).")


def _partitioned(path: Path, out: Path, partitions: int | None, cluster: Cluster | None) -> None:
    from privet.cli.render.progress import phase_progress
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.operator.partitioned_export import export_partitions, export_to_store
    from privet.data.store import GraphStore
    from privet.graph.distributed.cluster import connect

    folder = StudyFolder.open(path)
    with ExitStack() as opened:
        client = None if cluster is None else opened.enter_context(connect(cluster))
        progress = opened.enter_context(phase_progress())
        if (out / "store.json").is_file():
            store = GraphStore.open(out)
            count = export_to_store(folder, store, partitions, client=client, progress=progress)
            written = f"the table 'answers' of {out}"
        else:
            found = export_partitions(folder, out, partitions or 1, client=client, progress=progress)
            count, written = found.num_reports, f"{found.num_parts:,} files in {out}"
    typer.echo(f"Wrote {count:,} reports of {folder.study.nodes:,} nodes to {written}.")
