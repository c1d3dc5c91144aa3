"""``privet withdraw``: one person takes back what their device sent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from privet.cli.app import app, examples
from privet.cli.participate import addressed, agrees


@app.command(epilog=examples("privet withdraw LINK"))
def withdraw(
    url: Annotated[str, typer.Argument(metavar="LINK", help="The link; - reads it from standard input.")],
    study_id: Annotated[
        str | None, typer.Option("--study", help="The id you were given (default: from the link).", show_default=False)
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Your lifetime ledger (default: privet/ledger.sqlite of your data).", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Withdraw without being asked (default: ask).")] = False,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Send the token over http:// to another machine, too (default: https only)."),
    ] = False,
) -> None:
    """Withdraw from a study.

    The collector erases all that you sent, and takes no further report from you.
    """
    from privet.collection.device.ledger import Ledger, default_path
    from privet.collection.device.participant import Participant, Refusal
    from privet.privacy.rounding import at_most

    out = Console(highlight=False, soft_wrap=True)
    link = (sys.stdin.readline() if url == "-" else url).strip()
    collector, token, study_id = addressed(link, study_id, insecure=insecure)
    device = Participant(Ledger(ledger or default_path()))
    study = device.check(collector.manifest(study_id), study_id)
    if not yes and not agrees(out, f"Have all erased that you sent to '{study.title}'? You cannot take part again."):
        raise Refusal("Nothing was erased, because you did not agree.")
    done = device.withdraw(study, collector, token)
    out.print("The collector has erased all that you sent in this study.")
    if done.charged:
        out.print(
            f"Your ledger still counts {at_most(done.charged)} for it: somebody has seen the report, and models that "
            "were trained before may have used it. Erasing it does not undo that."
        )
    if done.refunded:
        out.print(f"{at_most(done.refunded)} is refunded: that report never left this device.")
