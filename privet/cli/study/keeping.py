"""``privet study export|verify|expire|rotate|backup|restore``: reports and keys of a study, and their keeping."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.answering import Yes, insist
from privet.cli.app import BadOption, examples
from privet.cli.options import ClusterName, InsecureCluster, chosen_cluster
from privet.cli.study import Folder, reports, study

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
        int | None, typer.Option(min=1, help="Number of files, by ranges of nodes (default: one file).")
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
) -> None:
    """Write the reports, or the public record, to a file.

    The newest round's reports go to a Parquet file, the public record of all rounds to a SQLite file. With
    --partitions they need not fit into memory, and an export that was stopped goes on when the same command is
    given again. In a store the reports become its table 'answers'.
    """
    if partitions is not None or (out / "store.json").is_file():
        if public:
            raise BadOption("The public record is one file: leave --partitions, and name a file with --out.")
        _partitioned(folder, out, partitions, chosen_cluster(cluster, insecure_cluster))
        return
    if cluster is not None:
        raise BadOption("One file is written by one process: give --partitions with --cluster.")
    from privet.collection.operator.enrolment import erased_people
    from privet.collection.operator.export.answer_files import write_answers
    from privet.collection.operator.folder import open_reports
    from privet.data.files import check_writable

    check_writable(out)
    if public:
        from privet.collection.operator.export.public_record import write_record

        count = write_record(folder, out)
        typer.echo(f"Wrote the public record with {reports(count)} to {out}; 'privet study verify {out}' checks it.")
        return
    erasures = len(erased_people(folder))
    known, answers = open_reports(folder)
    write_answers(out, known, answers, erasures)
    typer.echo(f"Wrote {reports(len(answers.users))} of {known.nodes:,} people to {out} ({erasures:,} erased before).")


def _partitioned(path: Path, out: Path, partitions: int | None, cluster: Cluster | None) -> None:
    from privet.cli.render.screen import phase_progress
    from privet.collection.operator.export.partitions import export_partitions, export_to_store
    from privet.collection.operator.folder import StudyFolder
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
    typer.echo(f"Wrote {reports(count)} of {folder.study.nodes:,} people to {written}.")


@study.command()
def verify(
    source: Annotated[
        Path, typer.Argument(metavar="STUDY", help="A study's directory, or a file of 'privet study export --public'.")
    ],
) -> None:
    """Compute later rounds again, and compare them.

    Each is compared with its manifest; the exit code is 1 if one differs.
    """
    from privet.collection.operator.export.public_record import open_record
    from privet.collection.operator.rounds import recompute

    store = open_record(source)
    try:
        found, erasures = recompute(store), len(store.erasures())
    finally:
        store.dispose()
    for each in found:
        outcome = "as its manifest says" if not each.differing else f"differs in {', '.join(each.differing)}"
        typer.echo(f"Round {each.study.round} ({each.study.id[:12]}): {outcome}.")
    if not found:
        typer.echo("The study has one round, which depends on no other.")
    if any(each.differing for each in found):
        typer.echo("Other versions of the libraries or another processor may round otherwise.")
        if erasures:
            people = "1 person was" if erasures == 1 else f"{erasures:,} people were"
            typer.echo(f"{people} erased: tables made from their reports cannot come out the same.")
        raise typer.Exit(1)


@study.command()
def expire(
    folder: Folder,
    now: Annotated[
        bool, typer.Option("--now", help="Close the study and delete its reports today (default: when they are due).")
    ] = False,
    yes: Yes = False,
) -> None:
    """Delete the reports whose retention has ended.

    Their number is kept. A running collector does so by itself, except for a round that no collector saw end: you
    confirm that the machine's clock is right.
    """
    from privet.collection.device.consent import local_minute
    from privet.collection.operator.folder import StudyFolder

    with StudyFolder.open(folder).store() as store:
        rounds = [store.at(each) for each in store.chain().rounds]
        count = sum(each.count() for each in rounds) if now else store.due()
        if count or now:
            clock = f"This machine's clock says {local_minute(datetime.now(UTC))}."
            what = "Close the study, and delete all its" if now else "The retention has ended for"
            insist(f"{clock} {what} {reports(count)}{'' if now else ': delete them'}? This cannot be undone.", yes)
        deleted = store.expire(early=now)
        store.remove_traces()
        kept = [(each.study, each.count()) for each in rounds]
    typer.echo(f"Deleted {reports(deleted)}.")
    for each, left in kept:
        due = each.deletion_time
        when = "never: the manifest promises no deletion" if due is None else f"on {local_minute(due)}"
        where = f"Left in round {each.round}" if len(kept) > 1 else "Left"
        if left:
            typer.echo(f"{where}: {left:,}, to be deleted {when}.")


class Which(StrEnum):
    """The kind of keys."""

    tokens = "tokens"
    operator = "operator"


@study.command(
    epilog=examples("privet study rotate STUDY tokens", "privet study rotate STUDY tokens --retire   # weeks later")
)
def rotate(
    folder: Folder,
    which: Annotated[Which, typer.Argument(help="Keys of the participants' tokens, or of the operator's page.")],
    retire: Annotated[
        bool, typer.Option("--retire", help="Drop all keys but the newest (default: add a new one in front).")
    ] = False,
) -> None:
    """Add a new key, or retire the old ones. Collectors that run notice within a second."""
    from privet.collection.operator.enrolment import rotate_keys

    done = rotate_keys(folder, "signing" if which is Which.tokens else "operator", retire=retire)
    if which is Which.operator:
        now = "Only the newest key opens" if retire else f"{done.keys} keys open"
        typer.echo(f"{now} the operator's page; the newest stands first in {done.place}.")
    elif retire:
        typer.echo(
            f"All older links have stopped working: {done.people:,} links must be sent again (privet study links), "
            f"{done.waiting:,} of them to people who have not answered."
        )
    else:
        typer.echo(
            f"New links are signed by a new key. Links that people have go on working until you say --retire; send "
            f"{done.people:,} new ones (privet study links) before that."
        )


@study.command(epilog=examples("privet study backup STUDY --out study.backup"))
def backup(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="The file to write; an older one is replaced once the new one is whole.")],
    with_keys: Annotated[
        bool,
        typer.Option("--with-keys", help="Put the keys in: who has the file can issue tokens (default: leave out)."),
    ] = False,
) -> None:
    """Write a study to one file, while collectors run.

    The file has the manifest, reports and counts.
    """
    from privet.collection.operator.backup import write_backup
    from privet.data.files import check_writable

    check_writable(out)
    count = write_backup(folder, out, with_keys=with_keys)
    kept = "the keys, which makes it a secret" if with_keys else "no keys: keep them apart"
    typer.echo(f"Wrote {reports(count)} to {out}. It has {kept}.")


@study.command(epilog=examples("privet study restore study.backup NEW_STUDY"))
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    folder: Annotated[Path, typer.Argument(metavar="NEW_STUDY", help="The directory to make.")],
) -> None:
    """Make a study's directory from a backup.

    Nothing is made unless the file is undamaged and every report valid. Reports go to SQLite in the new directory,
    or to the PostgreSQL database in PRIVET_STORE or PRIVET_STORE_FILE.
    """
    from privet.collection.operator.restoration import restore_backup

    done = restore_backup(file, folder)
    typer.echo(f"Restored {reports(done.reports)} of '{done.folder.study.title}' to {folder}.")
    age = datetime.now(UTC) - datetime.fromtimestamp(done.made, UTC)
    typer.echo(
        f"The backup is {_in_words(age)} old. Erasures, revocations and key rotations since then are not in it and "
        "must be repeated (privet study forget, revoke, rotate)."
    )
    if not done.same_links:
        typer.echo(
            f"The backup has no keys, so new ones were made: {done.folder.study.nodes:,} links must be sent again "
            "(privet study links)."
        )


def _in_words(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    if hours < 1:
        return "less than an hour"
    if hours < 48:
        return f"{hours} hour{'' if hours == 1 else 's'}"
    return f"{age.days:,} days"
