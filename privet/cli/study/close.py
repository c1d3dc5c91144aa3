"""``privet study close``: take no new reports."""

from __future__ import annotations

import typer

from privet.cli.study.group import Folder, study


@study.command()
def close(folder: Folder) -> None:
    """Take no new reports, whatever the manifest's closing time."""
    from privet.collection.operator.folder import StudyFolder

    store = StudyFolder.open(folder).newest()
    store.close()
    typer.echo(f"Closed with {store.count():,} reports; repetitions are still acknowledged.")
    store.dispose()
