"""The demo's fourth part: two published claims that break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from privet.auditing import audit
from privet.auditing.central.sequential import audit_sequentially
from privet.mechanisms import MECHANISMS

__all__ = ["show_claims"]


def show_claims(console: Console, seed: int, runs: int, progress: Callable[[str], None]) -> None:
    """List every report of each mechanism that a paper promises too much of, and attack a published training run.

    Args:
        console: Where to print.
        seed: The seed of the attack.
        runs: The most training runs of the attack.
        progress: Called with a few words before each audit.
    """
    broken = []
    for kind in MECHANISMS.values():
        mechanism = kind(**{**kind.example, **kind.small})
        published = mechanism.guarantee().published_epsilon
        if published is None:
            continue
        progress(f"listing the reports of {mechanism.name}")
        found = audit(mechanism, replace(mechanism.guarantee(), epsilon=published))
        broken.append(not found.holds)
        console.print(
            f"RGNN's sampler ({mechanism.name}) is published as {found.claim:.3f}-LDP. Its {found.num_reports} "
            f"reports, listed in exact arithmetic, have {found.epsilon:.3f}: {_verdict(broken[-1])}."
        )
    progress("training with and without canaries")
    attack = audit_sequentially(noise="sml", runs=runs, seed=seed)
    broken.append(attack.broken)
    trained = "1 training run" if attack.runs == 1 else f"{attack.runs} training runs"
    console.print(
        f"A training run with HeterPoisson's published SML noise is said to have epsilon {attack.claim:.3g}. After "
        f"{trained} with {attack.canaries:,} canaries it has at least {attack.epsilon_lower:.2f}: "
        f"{_verdict(attack.broken)} (95 % confidence)."
    )
    console.print(
        f"[bold]Seen:[/] {sum(broken)} of {len(broken)} published claims break; privet reports the true epsilon and "
        "keeps the claim as published_epsilon."
    )


def _verdict(broken: bool) -> str:
    return "[bold red]it does not hold[/]" if broken else "it stands"
