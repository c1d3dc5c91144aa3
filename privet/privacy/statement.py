"""`privacy.yaml`: what a run promises, in the fields of the public registry of differential-privacy deployments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privet.data.files import atomic_file

__all__ = ["statement", "write_statement"]


def statement(result: dict[str, Any]) -> dict[str, Any]:
    """The statement of a result document."""
    guarantee = result["guarantee"]
    return {
        "software": f"privet {result['version']}",
        "system": result["system"],
        "dataset": result["dataset"],
        "flavour": "pure DP" if not guarantee["delta"] else "approximate DP",
        "deployment_model": guarantee["model"],
        "privacy_unit": guarantee["unit"],
        "adjacency": guarantee["adjacency"],
        "epsilon": guarantee["epsilon"],
        "delta": guarantee["delta"],
        "published_epsilon": guarantee["published_epsilon"],
        "mechanisms": result["mechanisms"],
        **_MEASURES[guarantee["model"]],
        "unprotected": guarantee["unprotected"],
    }


_MEASURES = {
    "local": {
        "composition": "sequential: budgets add; a device reports once and repeats the same report",
        "hyperparameter_tuning": "on validation data that the server sees anyway",
        "floating_point": "reports are symbols of a finite alphabet drawn with integer weights, checked exactly",
        "randomness": "simulation with a seeded generator; devices use the operating system's source",
        "scope": "one collection; figures over several seeds and non-private controls are not covered",
    },
    "central": {
        "composition": "privacy-loss distributions of all training steps, rounded pessimistically",
        "hyperparameter_tuning": "not covered: settings chosen by protected data would have to be paid for",
        "floating_point": "clipped sums in float64; each noise value is a sum of two; not proven for floating point",
        "randomness": "simulation with a seeded generator; without a seed the operating system's source",
        "scope": "one training run; figures over several seeds and non-private controls are not covered",
    },
}


def write_statement(result: dict[str, Any], path: str | Path) -> None:
    """Write the statement as YAML."""
    import yaml

    with atomic_file(path) as file:
        file.write_text(yaml.safe_dump(statement(result), sort_keys=False, allow_unicode=True, width=110))
