"""What `privet account` says of a system: a local one's joint budget, or the accountant's figures of a central one."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from rich.console import Console
from rich.table import Table

from privet.data import Schema
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS
from privet.privacy import Guarantee
from privet.privacy.accounting import node_level
from privet.systems import CENTRAL_SYSTEMS, SYSTEMS

__all__ = ["account_central", "account_local", "account_system", "print_system_account"]

_CENTRAL = ("heterpoisson", "private-mlp", "smoothed-mlp")
_SCHEMA = {"dimension": 2, "low": 0.0, "high": 1.0, "classes": 4}


def account_system(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """What the system of that name promises; an unknown name lists everything that can be accounted for."""
    if name in _CENTRAL:
        return account_central(name, options)
    if name not in SYSTEMS:
        raise InvalidParameter("NAME", "privet", "one of " + ", ".join([*MECHANISMS, *SYSTEMS, *_CENTRAL]), name)
    return account_local(name, options)


def account_local(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The guarantee of a local system with the given budgets, over features of a declared range."""
    shape = {key: options.get(key, default) for key, default in _SCHEMA.items()}
    budgets = {key: value for key, value in options.items() if key not in _SCHEMA}
    if name == "solitude" and budgets.pop("two_sided", False):
        budgets["one_sided"] = False
    known = {field.name for field in fields(SYSTEMS[name])}
    _refuse_unknown(name, budgets, known | set(_SCHEMA))
    schema = Schema.numeric(shape["dimension"], shape["low"], shape["high"], classes=shape["classes"])
    if name == "rgnn":  # its features are categories
        schema = Schema.categorical([2] * shape["dimension"], classes=shape["classes"])
        budgets.setdefault("sample", min(10, shape["dimension"]))
    guarantee = SYSTEMS[name](**budgets).guarantee(schema)
    return {"system": name, "guarantee": guarantee.to_dict(), "in_words": guarantee.in_words()}


def account_central(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Epsilon of a sigma, or the sigma for a target, in the paper's units (gradients are clipped to 1/2)."""
    sigma, target = options.get("sigma"), options.get("target_epsilon")
    own = {"multiplier"} if name == "heterpoisson" else set()
    _refuse_unknown(name, options, {"sigma", "target_epsilon", "rate", "steps", "delta", "nodes"} | own)
    for option in ("rate", "steps", "nodes"):
        if option not in options:
            raise InvalidParameter(f"--{option}", f"privet account {name}", "given", "nothing")
    if (sigma is None) == (target is None):
        both = "neither" if sigma is None else "both"
        raise InvalidParameter("--sigma", f"privet account {name}", "given if --target-epsilon is not", both)
    picks = options.get("multiplier", 1.0) if name == "heterpoisson" else 0.0
    delta = options.get("delta", node_level.default_delta(options["nodes"]))
    process = (options["rate"], picks, options["steps"], delta, options["nodes"])
    if sigma is None:
        found = node_level.account_to_target(float(target or 0.0), *process)
    else:
        found = node_level.account(sigma, *process)
    if name != "heterpoisson":
        return _graphless(name, found)
    guarantee = found.guarantee()
    return {"system": name, **found.to_dict(), "guarantee": guarantee.to_dict(), "in_words": guarantee.in_words()}


def _graphless(name: str, found: node_level.Account) -> dict[str, Any]:
    """A perceptron that sees no edge has no sub-graphs, no public degrees and no paper."""
    system = CENTRAL_SYSTEMS[name](noise_multiplier=2 * found.sigma)
    guarantee = replace(
        found.guarantee(),
        adjacency=system.adjacency_words,
        published_epsilon=None,
        unprotected=system.unprotected(),
    )
    figures = {key: found.to_dict()[key] for key in ("epsilon", "sigma", "delta")}
    return {"system": name, **figures, "guarantee": guarantee.to_dict(), "in_words": guarantee.in_words()}


def print_system_account(summary: dict[str, Any]) -> None:
    """A table for people."""
    guarantee = Guarantee.from_dict(summary["guarantee"])
    table = Table(title=f"{summary['system']}: what is promised", show_header=False, title_justify="left")
    table.add_row("epsilon", f"{guarantee.epsilon:.5g}")
    if guarantee.delta:
        table.add_row("delta", f"{guarantee.delta:.3g}")
    if "sigma" in summary:
        table.add_row("sigma", f"{summary['sigma']:.5g} (noise multiplier {2 * summary['sigma']:.5g})")
    if "worst_out_degree" in summary:
        table.add_row("worst out-degree", str(summary["worst_out_degree"]))
        table.add_row("if the count of sub-graphs were revealed", f"{summary['k_revealed_epsilon']:.5g}")
    if guarantee.published_epsilon is not None:
        table.add_row("published epsilon", f"{guarantee.published_epsilon:.4g} (the paper's claim)")
    table.add_row("unit", f"{guarantee.unit} ({guarantee.model} model)")
    table.add_row("adjacent inputs", guarantee.adjacency)
    table.add_row("in words", summary["in_words"])
    table.add_row("not protected", "; ".join(guarantee.unprotected) or "nothing known")
    Console().print(table)


def _refuse_unknown(name: str, options: dict[str, Any], known: set[str]) -> None:
    for option in options:
        if option not in known:
            spelled = ", ".join("--" + each.replace("_", "-") for each in sorted(known))
            raise InvalidParameter("--" + option.replace("_", "-"), "privet", f"an option of {name}: {spelled}", option)
