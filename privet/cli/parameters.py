"""Options of ``account`` and ``audit``: the parameters of the mechanism or system that is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from privet.cli.app import BadOption
from privet.cli.options import parse_settings

__all__ = ["BUDGET_OPTIONS", "MECHANISM_OPTIONS", "PROCESS_OPTIONS", "Name", "Set", "parameters_of"]

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="For example multi-bit or heterpoisson; an unknown name lists them all.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter by its name in Python, repeatable (default: none), such as --set fill=none.",
        show_default=False,
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

        parameters["noise_multiplier"] = noise_multiplier_of(parameters.pop("sigma"))
    return parameters


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadOption(f"--categories takes whole numbers separated by commas, such as 2,3, not {text!r}.") from None
