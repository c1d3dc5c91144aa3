"""What `privet audit heterpoisson` does: play the canary game many times and compare the odds with the claim."""

from __future__ import annotations

from typing import Any, get_args

from rich.console import Console
from rich.table import Table

from privet.auditing.canary import audit_heterpoisson
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS
from privet.mechanisms.primitives.noise import Noise

__all__ = ["audit_system", "print_system_audit"]

_OPTIONS = {
    "noise": "noise",
    "sigma": "sigma",
    "rate": "rate",
    "multiplier": "multiplier",
    "steps": "steps",
    "nodes": "num_nodes",
    "delta": "delta",
    "runs": "runs",
    "seed": "seed",
}


def audit_system(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The audit of a training run; an unknown name lists what can be audited."""
    if name != "heterpoisson":
        raise InvalidParameter("NAME", "privet audit", "one of " + ", ".join([*MECHANISMS, "heterpoisson"]), name)
    for option in options:
        if option not in _OPTIONS:
            spelled = ", ".join("--" + known for known in _OPTIONS)
            found = "--" + option.replace("_", "-")
            raise InvalidParameter(found, "privet audit", f"an option of {name}: {spelled}", option)
    if options.get("noise", "gaussian") not in get_args(Noise):
        raise InvalidParameter("--noise", "privet audit", " or ".join(get_args(Noise)), options["noise"])
    return {"system": name, **audit_heterpoisson(**{_OPTIONS[key]: value for key, value in options.items()}).to_dict()}


def print_system_audit(result: dict[str, Any]) -> None:
    """A table for people, and the verdict."""
    table = Table(title=f"{result['system']}: white-box audit", show_header=False, title_justify="left")
    whose = "the paper's, for SML noise" if result["noise"] == "sml" else "the accountant's"
    table.add_row("claimed epsilon", f"{result['claim']:.4g} ({whose}), delta {result['delta']:.2g}")
    table.add_row("lower bound, whole vector", f"{result['epsilon_lower']:.4g}")
    table.add_row("lower bound, the paper's projection", f"{result['projection_epsilon_lower']:.4g}")
    table.add_row("confidence", f"{result['confidence']:.0%} (Clopper-Pearson), {result['runs']:,} runs in each world")
    process = f"sigma {result['sigma']:.4g}, q {result['rate']:.3g}, M {result['multiplier']:g}, T {result['steps']}"
    table.add_row("process", process)
    advantage = f"{result['advantage']:.3f} of at most {result['largest_advantage']:.3f} that the claim allows"
    table.add_row("advantage of a membership attack", advantage)
    console = Console()
    console.print(table)
    if result["broken"]:
        console.print("[bold red]The claim is broken:[/] an attack needs a larger epsilon than it allows.")
    else:
        share = f"{result['closeness']:.0%}"
        console.print(f"[bold green]The claim holds against this attack[/], which reaches {share} of it.")
