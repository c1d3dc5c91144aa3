"""``privet study forget``: erase what a person reported."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.study.group import Folder, study


@study.command()
def forget(
    folder: Folder, nodes: Annotated[list[int], typer.Argument(min=0, metavar="NODE...", help="Who is erased.")]
) -> None:
    """Erase all reports of a node, in every round; nothing is taken from it any more."""
    from privet.collection.operator.erasures import forget as erase

    done = erase(folder, *nodes)
    for node in nodes:
        when = "are" if node in done.new else "were"
        typer.echo(f"The reports of node {node} {when} erased; no report of it is taken again.")
    if not done.clean:
        typer.echo(
            "The database's files still hold them, because somebody reads the store or another user owns its tables: "
            "run the command again, or let the collector clean the files."
        )
    if done.models:
        typer.echo(f"Trained before, so train again: {', '.join(done.models)}.")
    typer.echo("Exports and backups that you made before still hold them: delete or renew those.")
    typer.echo("What others reported about them, such as a place in their lists, is not erased.")
