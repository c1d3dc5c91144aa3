"""``privet study rotate``: replace keys without an interruption."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from privet.cli.app import examples
from privet.cli.study.group import Folder, study


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
    from privet.collection.operator.rotation import rotate_keys

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
