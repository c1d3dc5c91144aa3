"""``privet study backup``: everything of a study in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import examples
from privet.cli.study.group import Folder, study


@study.command(epilog=examples("privet study backup STUDY --out study.backup"))
def backup(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="The file to write; an older one is replaced once the new one is whole.")],
    with_keys: Annotated[
        bool,
        typer.Option("--with-keys", help="Put the keys in: who has the file can issue tokens (default: leave out)."),
    ] = False,
) -> None:
    """Write manifest, reports and counts to one file, while collectors run."""
    from privet.collection.operator.backup import write_backup
    from privet.data.files import check_writable

    check_writable(out)
    count = write_backup(folder, out, with_keys=with_keys)
    kept = "the keys, which makes it a secret" if with_keys else "no keys: keep them apart"
    typer.echo(f"Wrote {count:,} report{'' if count == 1 else 's'} to {out}. It has {kept}.")
