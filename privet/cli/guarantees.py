"""``privet account`` and ``privet audit``: the promise of a mechanism or a system, and attempts to break it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from privet.cli.app import AsJson, BadOption, app, examples, show, with_options
from privet.cli.measuring import SETTINGS
from privet.cli.options import parse_settings
from privet.errors import InvalidParameter

__all__ = ["account", "audit", "parameters_of"]

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="For example multi-bit or heterpoisson; an unknown name lists them all.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter by its name in Python, repeatable (default: none), such as --set fill=none.",
    ),
]

MECHANISM_OPTIONS: dict[str, tuple[Any, ...]] = {
    "epsilon": (float, "Privacy budget of a report (default 1)."),
    "epsilon_per_feature": (float, "Budget of each sampled feature (default 1)."),
    "delta": (
        float,
        "The delta of the guarantee (default: the mechanism's, or 1 / (10 N); N^-1.1 is --set delta=paper).",
    ),
    "dimension": (int, "Number of features (default: 1 or 2)."),
    "low": (float, "Declared smallest value of a feature (default -1)."),
    "high": (float, "Declared largest value of a feature (default 1)."),
    "sample": (int, "Number of features in a report (default: the mechanism's best)."),
    "steps": (
        int,
        "Grid steps in a feature's range (default: the mechanism's), or steps of a central system's training.",
    ),
    "classes": (int, "Number of classes (default 4)."),
    "cap": (int, "Largest number of contacts in a class (default 32; audit: 4)."),
    "most": (int, "Largest number of options that a person is offered (default 4)."),
    "categories": (str, "Number of categories of each feature, comma separated (default 2,2,2,2)."),
    "fill": (str, "The answer about features that are not sampled, uniform or none (default uniform)."),
    "num_nodes": (int, "Nodes that a neighbour list speaks of (default 6)."),
    "one_sided": (
        bool,
        "Whether one endpoint of a pair reports it, or both (default: both for a mechanism, one for a system).",
        "--one-sided/--two-sided",
    ),
}

BUDGET_OPTIONS: dict[str, tuple[Any, str]] = {
    "epsilon_features": (float, "True budget of the question about features (local systems; default: the system's)."),
    "epsilon_labels": (float, "Budget of a label report (local systems; default: labels are public; audit: 1)."),
    "epsilon_edges": (float, "Budget of one bit of a neighbour list (local systems; default: the system's)."),
    "epsilon_person": (float, "Budget of one answer about everything on a device (inquiry; default: not asked)."),
}

PROCESS_OPTIONS: dict[str, tuple[Any, str]] = {
    "sigma": (float, "Noise of a central system, clip 1/2 (no default; audit: the paper's)."),
    "noise_multiplier": (float, "The same over the clipping norm, which is twice sigma (no default)."),
    "noise": (str, "Noise of a central system: gaussian, or sml where it is accounted for (default gaussian)."),
    "rate": (float, "Chance of a training node to be in a step (q; no default; audit: the paper's)."),
    "multiplier": (float, "Sub-graphs of others that a node may be expected in (M; default 1)."),
    "max_degree": (int, "Bound on degrees, where the system has one (default 5)."),
    "nodes": (int, "Number of nodes of the whole graph (N; no default; audit: the paper's)."),
}


_ACCOUNT = {
    **MECHANISM_OPTIONS,
    **BUDGET_OPTIONS,
    **{name: SETTINGS[name] for name in ("panel", "pilot", "class_sums", "server_sums", "public_features")},
    **PROCESS_OPTIONS,
    "degree": (float, "Say how far an average over so many neighbours is off (local systems; default: not said)."),
    "target_epsilon": (float, "Instead of --sigma: the epsilon to calibrate it for (no default)."),
}
_AUDIT = {
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
        "privet account multi-bit --epsilon 1 --dimension 1433 --low 0 --high 1",
        "privet account inquiry --epsilon-features 1 --class-sums 1 --nodes 50000",
        "privet account gap --target-epsilon 2 --rate 0.2 --steps 45 --nodes 2000",
    )
)
@with_options(_ACCOUNT)
def account(name: Name, options: dict[str, Any], others: Set = None, as_json: AsJson = False) -> None:
    """Show what a mechanism or a system promises.

    Beside the guarantee stand what a report costs and what it is worth, or the noise that a target epsilon needs.
    """
    from privet.accounts.account import account as account_of
    from privet.cli.render.guarantees import print_account

    show(account_of(name, parameters_of(options, others)), print_account, as_json)


@app.command(
    epilog=examples(
        "privet audit multi-bit --epsilon 2.5 --dimension 3",
        "privet audit sampled-response --claim published",
        "privet audit inquiry --epsilon-features 2 --epsilon-edges 1",
        "privet audit person --epsilon 2",
        "privet audit heterpoisson --noise sml --sequential",
    )
)
@with_options(_AUDIT)
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
    question of a local system, and its collection is checked for leaks. The question 'person', about everything on a
    device, is put to every state of a small device by dishonest servers. A central system is attacked with canaries:
    one in many runs, many in one run, or runs until the audit is sure.
    """
    from privet.accounts.account import mechanism_from, system_kind
    from privet.auditing.local.enumeration import audit_claim
    from privet.auditing.local.person_audit import audit_person
    from privet.cli.render.guarantees import print_audit
    from privet.mechanisms import MECHANISMS
    from privet.release.asks.person import Person

    parameters = parameters_of(options, others)
    found: Any
    if name in MECHANISMS:
        found = audit_claim(mechanism_from(MECHANISMS[name], parameters, small=True), claim)
    elif name == Person.name:
        if claim != "own":
            raise BadOption("The person question is audited against what a ledger charges. Leave --claim out.")
        found = audit_person(**parameters)
    else:
        from privet.auditing.system_audit import audit_system  # imports torch

        found = audit_system(system_kind(name, MECHANISMS), claim, **parameters)
    show(found, print_audit, as_json)
    raise typer.Exit(1 if found.broken else 0)


def parameters_of(options: Mapping[str, Any], others: list[str] | None) -> dict[str, Any]:
    """Return parameters by their names in Python.

    Args:
        options: The options that were used, by name.
        others: Texts of the form NAME=VALUE.
    """
    for one, other in (("sigma", "noise_multiplier"), ("nodes", "num_nodes")):
        if one in options and other in options:
            raise BadOption(
                f"--{_dashed(one)} and --{_dashed(other)} say the same thing in two ways; give one of them."
            )
    given = parse_settings(others or [])
    parameters = dict(options)
    parameters |= {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if "categories" in options:
        parameters["categories"] = _counts(options["categories"])
    if "nodes" in parameters:
        parameters["num_nodes"] = parameters.pop("nodes")
    if "sigma" in parameters:
        from privet.privacy.accounting.losses import noise_multiplier_of

        if not 0 <= parameters["sigma"] < math.inf:
            raise InvalidParameter("--sigma", "a finite number of at least 0", parameters["sigma"])
        parameters["noise_multiplier"] = noise_multiplier_of(parameters.pop("sigma"))
    return parameters


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"--categories takes whole numbers separated by commas, such as 2,3, not {text!r}.") from None
