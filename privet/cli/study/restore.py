"""``privet study restore``: a study from its backup."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import examples
from privet.cli.study.group import study


@study.command(epilog=examples("privet study restore study.backup NEW_STUDY"))
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    folder: Annotated[Path, typer.Argument(metavar="NEW_STUDY", help="The directory to make.")],
) -> None:
    """Make a study's directory from a backup, once the file is found undamaged and every report valid.

    Reports go to SQLite in the new directory, or to the PostgreSQL database in PRIVET_STORE or PRIVET_STORE_FILE.
    """
    from privet.collection.operator.restoration import restore_backup

    done = restore_backup(file, folder)
    reports = f"{done.reports:,} report{'' if done.reports == 1 else 's'}"
    typer.echo(f"Restored {reports} of '{done.folder.study.title}' to {folder}.")
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
