"""What `privet account` and `privet audit` say of a mechanism."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from privet.auditing import audit
from privet.errors import InvalidParameter
from privet.mechanisms import (
    MECHANISMS,
    AdjacencyResponse,
    DegreeResponse,
    Mechanism,
    RandomizedResponse,
    SampledResponse,
    SeededBits,
)
from privet.mechanisms.core.coordinates import CoordinateMechanism
from privet.privacy import Guarantee

__all__ = ["account_for", "audit_claim", "mechanism_from_options", "print_account", "print_audit"]

_DEFAULTS: dict[str, Any] = {
    "epsilon": 1.0,
    "epsilon_per_feature": 1.0,
    "delta": 1e-4,
    "dimension": 2,
    "low": -1.0,
    "high": 1.0,
    "classes": 4,
    "categories": "2,2,2,2",
    "num_nodes": 6,
}
_DEFAULTS_OF: dict[str, dict[str, Any]] = {
    "square-wave": {"dimension": 1},
    "laplace": {"dimension": 1},
    "analytic-gaussian": {"dimension": 1},
    "sampled-response": {"sample": 2},
}
_SMALL_STEPS = {"degree-response": 16, "hds": 16, "square-wave": 16, "piecewise": 16, "laplace": 8}


def mechanism_from_options(name: str, options: dict[str, Any], *, small: bool = False) -> Mechanism:
    """The mechanism of that name; ``small`` chooses a coarse grid so that its reports can be listed."""
    if name not in MECHANISMS:
        raise InvalidParameter("NAME", "privet", "one of " + ", ".join(MECHANISMS), name)
    kind = MECHANISMS[name]
    accepted = {field.name: field for field in fields(kind)}
    for option in options:
        if option not in accepted:
            spelled = ", ".join("--" + known.replace("_", "-") for known in accepted)
            raise InvalidParameter("--" + option.replace("_", "-"), "privet", f"an option of {name}: {spelled}", option)
    required = {key for key, field in accepted.items() if field.default is MISSING}
    values = {key: _DEFAULTS[key] for key in required if key in _DEFAULTS} | _DEFAULTS_OF.get(name, {})
    if small and name in _SMALL_STEPS:
        values["steps"] = _SMALL_STEPS[name]
    values |= options
    if isinstance(values.get("categories"), str):
        values["categories"] = _counts(values["categories"])
    return kind(**values)


def account_for(mechanism: Mechanism) -> dict[str, Any]:
    """The guarantee, the size of a report and the worst standard deviation of an estimate, as plain values."""
    guarantee = mechanism.guarantee()
    example, count = _example(mechanism)
    report = mechanism.perturb(example, SeededBits(0))
    deviation = float(np.sqrt(np.max(mechanism.variance(example))))
    return {
        "mechanism": mechanism.name,
        "parameters": {key: value for key, value in mechanism.to_dict().items() if key != "mechanism"},
        "sampled": getattr(mechanism, "sampled", None),
        "guarantee": guarantee.to_dict(),
        "in_words": guarantee.in_words(),
        "bytes_per_report": math.ceil((len(report.to_bytes()) - 32) / len(report)),
        "worst_standard_deviation": deviation,
        "users_for_error_one_tenth_of_range": math.ceil((deviation / (0.1 * count)) ** 2),
    }


def audit_claim(mechanism: Mechanism, claim: str) -> dict[str, Any]:
    """Check the mechanism's own guarantee, the published one or a given epsilon by enumeration."""
    own = mechanism.guarantee()
    result = audit(mechanism, replace(own, epsilon=_claimed(own, claim)))
    return {
        "mechanism": mechanism.name,
        "parameters": {key: value for key, value in mechanism.to_dict().items() if key != "mechanism"},
        "claim": claim,
        "claimed_epsilon": result.claim,
        "claimed_delta": result.claimed_delta,
        "enumerated_epsilon": result.epsilon if math.isfinite(result.epsilon) else None,
        "enumerated_delta": result.delta,
        "holds": result.holds,
        "unit": str(own.unit),
        "reports": result.num_reports,
        "pairs": result.num_pairs,
        "worst_pair": [np.asarray(value).tolist() for value in result.worst_pair],
        "worst_report": repr(result.worst_report),
    }


def print_account(summary: dict[str, Any]) -> None:
    """A table for people."""
    guarantee = summary["guarantee"]
    table = Table(title=f"{summary['mechanism']}: what is promised", show_header=False, title_justify="left")
    table.add_row("epsilon", f"{guarantee['epsilon']:g}")
    if guarantee["delta"]:
        table.add_row("delta", f"{guarantee['delta']:g}")
    if guarantee["published_epsilon"] is not None:
        table.add_row(
            "published epsilon", f"{guarantee['published_epsilon']:.4g} (the paper's claim; it does not hold)"
        )
    table.add_row("unit", f"{guarantee['unit']} ({guarantee['model']} model)")
    table.add_row("adjacent inputs", guarantee["adjacency"])
    table.add_row("in words", summary["in_words"])
    table.add_row("not protected", "; ".join(guarantee["unprotected"]) or "nothing known")
    if summary["sampled"]:
        table.add_row("features in a report", str(summary["sampled"]))
    table.add_row("bytes in a report", str(summary["bytes_per_report"]))
    table.add_row("worst standard deviation", f"{summary['worst_standard_deviation']:.4g} for one user's estimate")
    users = summary["users_for_error_one_tenth_of_range"]
    table.add_row("users to average", f"{users:,} for an error of a tenth of the range")
    Console().print(table)


def print_audit(result: dict[str, Any]) -> None:
    """A table for people, and the verdict."""
    table = Table(title=f"{result['mechanism']}: exact audit", show_header=False, title_justify="left")
    table.add_row(f"claimed epsilon ({result['claim']})", f"{result['claimed_epsilon']:.6g}")
    epsilon = result["enumerated_epsilon"]
    shown = "unbounded (some report is impossible under the other input)" if epsilon is None else f"{epsilon:.6g}"
    table.add_row("enumerated epsilon", shown)
    if result["claimed_delta"] or not result["holds"]:
        table.add_row("claimed delta", f"{result['claimed_delta']:.4g}")
        table.add_row("enumerated delta at the claimed epsilon", f"{result['enumerated_delta']:.4g}")
    table.add_row("unit", result["unit"])
    table.add_row("reports and pairs listed", f"{result['reports']:,} and {result['pairs']:,}")
    table.add_row("worst inputs", " against ".join(_short(str(value)) for value in result["worst_pair"]))
    table.add_row("worst report", _short(result["worst_report"]))
    console = Console()
    console.print(table)
    console.print("[bold green]The claim holds." if result["holds"] else "[bold red]The claim is broken.")


def _claimed(own: Guarantee, claim: str) -> float:
    if claim == "own":
        return own.epsilon
    if claim == "published":
        if own.published_epsilon is None:
            raise InvalidParameter("--claim", "privet audit", "'own' or a number for this mechanism", claim)
        return own.published_epsilon
    try:
        value = float(claim)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InvalidParameter("--claim", "privet audit", "'own', 'published' or a finite number of at least 0", claim)
    return value


def _short(text: str, most: int = 200) -> str:
    """Long vectors are cut; ``--json`` has them whole."""
    return text if len(text) <= most else text[:most] + " ..."


def _example(mechanism: Mechanism) -> tuple[Any, float]:
    """A value of worst variance, and the size of the range that its estimate is measured against."""
    if isinstance(mechanism, CoordinateMechanism):
        low, high = (np.broadcast_to(end, (mechanism.dimension,)) for end in (mechanism.low, mechanism.high))
        return np.stack([low, (low + high) / 2, high]), float(np.max(np.subtract(high, low)))
    if isinstance(mechanism, RandomizedResponse):
        return np.zeros(3, dtype=np.int64), 1.0
    if isinstance(mechanism, DegreeResponse):
        return np.zeros(3, dtype=np.int64), float(mechanism.num_nodes - 1)
    if isinstance(mechanism, SampledResponse):
        return np.zeros((3, mechanism.dimension)), 1.0
    if isinstance(mechanism, AdjacencyResponse):
        import scipy.sparse as sp

        return sp.csr_array((mechanism.num_nodes, mechanism.num_nodes)), 1.0
    raise InvalidParameter("mechanism", "account_for", "a mechanism of this package", type(mechanism).__name__)


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        expected = "whole numbers separated by commas"
        raise InvalidParameter("--categories", "privet", expected, text) from None
