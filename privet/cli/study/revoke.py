"""``privet study revoke``: replace a lost token."""

from __future__ import annotations

from typing import Annotated

import typer

from privet.cli.study.group import Folder, study


@study.command()
def revoke(
    folder: Folder, node: Annotated[int, typer.Argument(min=0, metavar="NODE", help="Whose token is lost.")]
) -> None:
    """Refuse a node's token from now on, and print a new one."""
    from privet.collection.operator.links import renew_token

    typer.echo(f"The token of node {node} is revoked; its new one is {renew_token(folder, node)}")
