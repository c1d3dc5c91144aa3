"""``privet study verify``: compute the rounds of a study again from its public data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.study.group import study


@study.command()
def verify(
    source: Annotated[
        Path,
        typer.Argument(metavar="STUDY", help="A study's directory, or a file of 'privet study export --public'."),
    ],
) -> None:
    """Compute every later round again, and compare it with its manifest; exit code 1 if one differs."""
    from privet.collection.operator.public_record import open_record
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
