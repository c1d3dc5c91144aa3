"""``privet account``: the promise of a mechanism or a system."""

from __future__ import annotations

import json
from typing import Any

import typer

from privet.cli.app import AsJson, app, examples, with_options
from privet.cli.options import SETTINGS
from privet.cli.parameters import BUDGET_OPTIONS, MECHANISM_OPTIONS, PROCESS_OPTIONS, Name, Set, parameters_of

OPTIONS: dict[str, tuple[Any, ...]] = {
    **MECHANISM_OPTIONS,
    **BUDGET_OPTIONS,
    **{name: SETTINGS[name] for name in ("panel", "pilot", "class_sums", "public_features")},
    **PROCESS_OPTIONS,
    "target_epsilon": (float, "Instead of --sigma: the epsilon to calibrate it for (no default)."),
}


@app.command(
    epilog=examples(
        "privet account multi-bit --epsilon 1 --dimension 1433 --low 0 --high 1",
        "privet account inquiry --epsilon-features 1 --class-sums 1 --nodes 50000",
        "privet account gap --target-epsilon 2 --rate 0.2 --steps 45 --nodes 2000",
    )
)
@with_options(OPTIONS)
def account(name: Name, options: dict[str, Any], others: Set = None, as_json: AsJson = False) -> None:
    """Show what a mechanism or a system promises.

    Beside the guarantee stand what a report costs and what it is worth, or the noise that a target epsilon needs.
    """
    from privet.accounts.account import account as account_of
    from privet.cli.render.account import print_account

    found = account_of(name, parameters_of(options, others))
    typer.echo(json.dumps(found.to_dict())) if as_json else print_account(found)
