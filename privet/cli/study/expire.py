"""``privet study expire``: delete reports whose retention has ended."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.study.group import Folder, study


@study.command()
def expire(
    folder: Folder,
    now: Annotated[
        bool, typer.Option("--now", help="Close the study and delete its reports today (default: when they are due).")
    ] = False,
) -> None:
    """Delete the reports whose retention has ended and keep their number; a running collector does so by itself."""
    from privet.collection.operator.folder import StudyFolder
    from privet.collection.study.retention import deletion_time

    store = StudyFolder.open(folder).store()
    try:
        deleted = store.expire(early=now)
        store.remove_traces()
        kept = [(each, store.at(each).count()) for each in store.chain().rounds]
    finally:
        store.dispose()
    typer.echo(f"Deleted {deleted:,} reports.")
    for each, count in kept:
        due = deletion_time(each)
        when = "never: the manifest promises no deletion" if due is None else f"on {due:%Y-%m-%d %H:%M} UTC"
        where = f"Left in round {each.round}" if len(kept) > 1 else "Left"
        if count:
            typer.echo(f"{where}: {count:,}, to be deleted {when}.")
