"""``privet ledger``: everything that this device has reported, and what is left of its owner's budget."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from privet.cli.app import AsJson, BadOption, app, examples
from privet.cli.render.whole import print_whole

if TYPE_CHECKING:
    from privet.collection.device.ledger import Entry


@app.command("ledger", epilog=examples("privet ledger", "privet ledger --limit 2"))
def show_ledger(
    ledger: Annotated[
        Path | None,
        typer.Option(help="Your lifetime ledger (default: privet/ledger.sqlite of your data).", show_default=False),
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="Set your lifetime limit of epsilon (default: leave it).", show_default=False)
    ] = None,
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
    table = Table("made", "study", "title", "epsilon", "sent")
    for entry in entries:
        made = f"{datetime.fromtimestamp(entry.made, UTC):%Y-%m-%d}"
        table.add_row(made, entry.study[:12], escape(entry.title), at_most(entry.cost), _state(entry))
    out = Console(highlight=False)
    print_whole(out, table, keys=3)
    if any(entry.withdrawn for entry in entries):
        out.print("A withdrawn report stays charged: it was erased, but somebody has seen it.")
    for refund in refunds:
        out.print(f"Refunded {refund.cost:g} for '{escape(refund.title)}': {escape(refund.reason)}", soft_wrap=True)
    out.print(f"Spent {at_most(owned.spent)} of {owned.limit:g}; {max(0.0, owned.limit - owned.spent):g} left.")
    if owned.spent_delta:
        out.print(f"Delta: {owned.spent_delta:g} of {LIFETIME_DELTA:g}.")


def _state(entry: Entry) -> str:
    if entry.withdrawn:
        return "withdrawn"
    return "yes" if entry.sent else "not yet"
