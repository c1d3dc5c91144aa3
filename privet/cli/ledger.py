"""``privet withdraw`` and ``privet ledger``: what this device has sent, taking it back, and the budget that is left."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape

from privet.cli.answering import agrees
from privet.cli.app import AsJson, BadOption, app, examples
from privet.cli.participate import Insecure, LedgerFile, StudyId, addressed
from privet.cli.render.screen import print_rows


@app.command(epilog=examples("privet withdraw LINK"))
def withdraw(
    url: Annotated[str, typer.Argument(metavar="LINK", help="The link; - reads it from standard input.")],
    study_id: StudyId = None,
    ledger: LedgerFile = None,
    yes: Annotated[bool, typer.Option("--yes", help="Withdraw without being asked (default: ask).")] = False,
    insecure: Insecure = False,
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


@app.command("ledger", epilog=examples("privet ledger", "privet ledger --limit 2"))
def show_ledger(
    ledger: LedgerFile = None,
    limit: Annotated[float | None, typer.Option(help="Set your lifetime limit of epsilon (default: leave it).")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what this device has reported, and the budget left."""
    from privet.collection.device.ledger import LIFETIME_DELTA, Ledger, default_path
    from privet.privacy.rounding import at_most

    place = ledger or default_path()
    if ledger is not None and limit is None and not place.is_file():
        raise BadOption(f"There is no ledger {place}. Give the file that 'privet participate' wrote with --ledger.")
    owned = Ledger(place)
    if limit is not None:
        owned.limit = limit
    entries, refunds = owned.entries(), owned.refunds()
    if as_json:
        reports = [
            {
                "study": e.study,
                "title": e.title,
                "epsilon": e.cost,
                "sent": e.sent is not None,
                "withdrawn": e.withdrawn is not None,
            }
            for e in entries
        ]
        returned = [{"study": r.study, "title": r.title, "epsilon": r.cost, "reason": r.reason} for r in refunds]
        amounts = {"limit": owned.limit, "spent": owned.spent, "delta": owned.spent_delta}
        print(json.dumps({**amounts, "reports": reports, "refunds": returned}))
        return
    rows = [
        (
            f"{datetime.fromtimestamp(entry.made, UTC):%Y-%m-%d}",
            entry.study[:12],
            escape(entry.title),
            at_most(entry.cost),
            "withdrawn" if entry.withdrawn else "yes" if entry.sent else "not yet",
        )
        for entry in entries
    ]
    out = Console(highlight=False)
    columns = ("made", "study", "title", "epsilon", "sent")
    print_rows(out, "", columns, rows, words=5, keys=3, frame=box.HEAVY_HEAD)
    if any(entry.withdrawn for entry in entries):
        out.print("A withdrawn report stays charged: it was erased, but somebody has seen it.")
    for refund in refunds:
        out.print(f"Refunded {refund.cost:g} for '{escape(refund.title)}': {escape(refund.reason)}", soft_wrap=True)
    out.print(f"Spent {at_most(owned.spent)} of {owned.limit:g}; {max(0.0, owned.limit - owned.spent):g} left.")
    if owned.spent_delta:
        out.print(f"Delta: {owned.spent_delta:g} of {LIFETIME_DELTA:g}.")
