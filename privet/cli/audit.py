"""``privet audit``: attempts to break a guarantee."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, app, examples, with_options
from privet.cli.parameters import BUDGET_OPTIONS, MECHANISM_OPTIONS, PROCESS_OPTIONS, Name, Set, parameters_of

OPTIONS: dict[str, tuple[Any, str]] = {
    **MECHANISM_OPTIONS,
    **{key: option for key, option in PROCESS_OPTIONS.items() if key != "max_degree"},
    **BUDGET_OPTIONS,
    "one_run": (bool, "Many canaries in one run (central systems; default: one canary, in many runs)."),
    "sequential": (bool, "Runs with many canaries, until the claim is refuted or --runs is reached (default: no)."),
    "canaries": (int, "Canaries in each run (default 100000 with --one-run, 4000 with --sequential or SML noise)."),
    "runs": (
        int,
        "Training runs: in each world (default 100000; SML noise: 15000), with --one-run in all (default 1; SML noise: "
        "60), with --sequential at most (default 200).",
    ),
    "seed": (int, "Seed of the game (default 0)."),
}


@app.command(
    epilog=examples(
        "privet audit multi-bit --epsilon 2.5 --dimension 3",
        "privet audit sampled-response --claim published",
        "privet audit inquiry --epsilon-features 2 --epsilon-edges 1",
        "privet audit heterpoisson --noise sml --sequential",
    )
)
@with_options(OPTIONS)
def audit(
    name: Name,
    options: dict[str, Any],
    others: Set = None,
    claim: Annotated[
        str, typer.Option(help="What to check: 'own' guarantee, 'published' (the paper's), or a number for epsilon.")
    ] = "own",
    as_json: AsJson = False,
) -> None:
    """Try to break a guarantee. Exit code 1 if it is broken.

    A mechanism's reports are all listed, in exact arithmetic, and its program draws some. The same is done for every
    question of a local system, and its collection is checked for leaks. A central system is attacked with canaries: one
    in many runs, many in one run, or runs until the audit is sure.
    """
    from privet.accounts.by_name import mechanism_from, system_kind
    from privet.auditing.local.mechanism_audit import audit_claim
    from privet.cli.render.audit import print_audit
    from privet.mechanisms import MECHANISMS

    parameters = parameters_of(options, others)
    if name in MECHANISMS:
        found: Any = audit_claim(mechanism_from(MECHANISMS[name], parameters, small=True), claim)
    else:
        from privet.auditing.system_audit import audit_system  # imports torch

        found = audit_system(system_kind(name, MECHANISMS), claim, **parameters)
    typer.echo(json.dumps(found.to_dict())) if as_json else print_audit(found)
    raise typer.Exit(1 if found.broken else 0)
