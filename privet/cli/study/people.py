"""``privet study links|revoke|forget``: the people of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.study.group import Folder, study


@study.command()
def links(
    folder: Folder,
    url: Annotated[
        str, typer.Option(help="Where participants reach the collector, such as https://study.example.org.")
    ],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, link.")] = Path("links.csv"),
) -> None:
    """Write every participant's personal link to a file.

    Links have the tokens that are valid now. The file is a secret.
    """
    from privet.collection.operator.enrolment import write_links

    count = write_links(folder, url, out)
    typer.echo(f"Wrote {count:,} links to {out}; each is one person's secret.")


@study.command()
def revoke(
    folder: Folder, node: Annotated[int, typer.Argument(min=0, metavar="NODE", help="Whose token is lost.")]
) -> None:
    """Refuse a node's token from now on, and print a new one."""
    from privet.collection.operator.enrolment import renew_token

    typer.echo(f"The token of node {node} is revoked; its new one is {renew_token(folder, node)}")


@study.command()
def forget(
    folder: Folder, nodes: Annotated[list[int], typer.Argument(min=0, metavar="NODE...", help="Who is erased.")]
) -> None:
    """Erase all reports of a node, and take no more of it.

    Reports of every round are erased.
    """
    from privet.collection.operator.enrolment import forget as erase

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
