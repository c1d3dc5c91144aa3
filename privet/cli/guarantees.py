"""``privet account`` and ``privet audit``: what is promised, and attempts to break it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, app, with_options

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="For example multi-bit or heterpoisson; an unknown name lists them all.")
]
MECHANISM_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon": (float, "Privacy budget of a report (default 1)."),
    "epsilon_per_feature": (float, "Budget of each sampled feature of sampled-response (default 1)."),
    "delta": (float, "The delta of analytic-gaussian's guarantee (default 0.0001)."),
    "dimension": (int, "Number of features (default 2; 1 for square-wave, laplace and analytic-gaussian)."),
    "low": (float, "Declared smallest value of a feature (default -1)."),
    "high": (float, "Declared largest value of a feature (default 1)."),
    "sample": (int, "Number of features in a report (default: the mechanism's best; 2 for sampled-response)."),
    "steps": (
        int,
        "Grid steps in a feature's range (default: the mechanism's), or steps of a central system's training.",
    ),
    "classes": (int, "Number of classes of randomized-response (default 4)."),
    "categories": (str, "Categories of each feature of sampled-response, comma separated (default 2,2,2,2)."),
    "fill": (str, "What sampled-response says of the other features, uniform or none (default uniform)."),
    "num_nodes": (int, "Nodes that a neighbour list of adjacency-response speaks of (default 6)."),
    "one_sided": (bool, "In adjacency-response only the smaller id reports a pair (default: both)."),
}


SYSTEM_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon_features": (float, "True budget of a feature report of a local system (default: the system's)."),
    "epsilon_labels": (float, "Budget of a label report of a local system (default: labels are public)."),
    "epsilon_edges": (float, "Budget of one bit of a neighbour list (solitude; default: the system's)."),
    "two_sided": (bool, "Both endpoints report a pair, as in the paper (solitude; default: the smaller id)."),
    "sigma": (
        float,
        "Noise of a central system, clip 1/2 (no default: this or --target-epsilon; audit: the paper's).",
    ),
    "target_epsilon": (float, "Instead of --sigma: the epsilon to calibrate it for (no default)."),
    "rate": (float, "Chance of a training node to be in a step (q; no default; audit: the paper's)."),
    "multiplier": (float, "Sub-graphs of others that a node may be expected in (M; heterpoisson, default 1)."),
    "nodes": (int, "Number of nodes of the whole graph (N; no default; audit: the paper's)."),
}

AUDIT_OPTIONS: dict[str, tuple[Any, str]] = {
    "noise": (str, "Noise of heterpoisson: gaussian, or the paper's sml (default gaussian)."),
    **{key: SYSTEM_OPTIONS[key] for key in ("sigma", "rate", "multiplier", "nodes")},
    "runs": (int, "Training runs to play in each world (heterpoisson; default 15000)."),
    "seed": (int, "Seed of the game (heterpoisson; default 0)."),
}


@app.command()
@with_options(MECHANISM_OPTIONS | SYSTEM_OPTIONS)
def account(name: Name, options: dict[str, Any], as_json: AsJson = False) -> None:
    """The guarantee of a mechanism or a system, what a report costs and is worth, or the noise for a target."""
    from privet.auditing.accounts import account_for, mechanism_from_options, print_account
    from privet.mechanisms import MECHANISMS

    if name not in MECHANISMS:  # what follows imports torch
        from privet.auditing.system_accounts import account_system, print_system_account

        summary = account_system(name, options)
        typer.echo(json.dumps(summary)) if as_json else print_system_account(summary)
        return
    summary = account_for(mechanism_from_options(name, options))
    typer.echo(json.dumps(summary)) if as_json else print_account(summary)


@app.command()
@with_options(MECHANISM_OPTIONS | AUDIT_OPTIONS)
def audit(
    name: Name,
    options: dict[str, Any],
    claim: Annotated[
        str, typer.Option(help="What to check: 'own' guarantee, 'published' (the paper's), or a number for epsilon.")
    ] = "own",
    as_json: AsJson = False,
) -> None:
    """Try to break a guarantee. Exit code 1 if it is broken.

    A mechanism's reports are all listed, in exact arithmetic. heterpoisson is attacked with canaries, many times over.
    """
    from privet.mechanisms import MECHANISMS

    if name not in MECHANISMS:  # what follows imports torch
        from privet.auditing.system_audit import audit_system, print_system_audit

        result = audit_system(name, options)
        typer.echo(json.dumps(result)) if as_json else print_system_audit(result)
        raise typer.Exit(1 if result["broken"] else 0)
    from privet.auditing.accounts import audit_claim, mechanism_from_options, print_audit

    result = audit_claim(mechanism_from_options(name, options, small=True), claim)
    typer.echo(json.dumps(result)) if as_json else print_audit(result)
    if not result["holds"]:
        raise typer.Exit(1)
