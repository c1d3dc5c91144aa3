"""Audits as tables for people, with a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from privet.auditing.local.mechanism_audit import ClaimAudit
from privet.cli.render.whole import print_whole

if TYPE_CHECKING:
    from privet.auditing.central.one_run import OneRunAudit
    from privet.auditing.central.sequential import SequentialAudit
    from privet.auditing.local.local_audit import LocalAudit
    from privet.auditing.system_audit import SystemAudit

__all__ = ["print_audit"]


def print_audit(audit: ClaimAudit | LocalAudit | SystemAudit) -> None:
    """Print the audit of a mechanism or a system."""
    console = Console()
    if isinstance(audit, ClaimAudit):
        print_whole(console, _enumerated(audit))
        if audit.found.drawn is not None and audit.found.drawn.problem:
            console.print(f"The program does not draw as it states. {escape(audit.found.drawn.problem)}")
        console.print("[bold red]The claim is broken." if audit.broken else "[bold green]The claim holds.")
        return
    from privet.auditing.local.local_audit import LocalAudit  # imports torch, which the audit of a mechanism needs not

    if isinstance(audit, LocalAudit):
        for name, each in audit.questions.items():
            console.print(f"{audit.system}, the question '{name}':")
            print_audit(each)
        _print_leaks(console, audit)
        return
    print_whole(console, _attacked(audit))
    for line in _assumptions(audit):
        console.print(line)
    if audit.broken:
        console.print("[bold red]The claim is broken:[/] an attack needs a larger epsilon than it allows.")
    else:
        share = f"{audit.found.closeness:.0%}"
        console.print(f"[bold green]The claim holds against this attack[/], which reaches {share} of it.")


def _print_leaks(console: Console, audit: LocalAudit) -> None:
    if audit.leaks is None:
        console.print("The collection was not checked for leaks: a trusted aggregator sees raw data.")
    elif audit.leaks.holds:
        size = f"{audit.leaks.people:,} people in {audit.leaks.worlds:,} worlds"
        console.print(f"The collection was simulated with {size}: only reports tell the server about private data.")
    else:
        console.print(f"[bold red]The claim is broken.[/] {escape(audit.leaks.problem)}")


def _enumerated(audit: ClaimAudit) -> Table:
    found = audit.found
    table = Table(title=f"{audit.mechanism.name}: exact audit", show_header=False, title_justify="left")
    table.add_row(f"claimed epsilon ({audit.claim})", f"{found.claim:.6g}")
    unbounded = "unbounded (some report is impossible under the other input)"
    table.add_row("enumerated epsilon", f"{found.epsilon:.6g}" if math.isfinite(found.epsilon) else unbounded)
    if found.claimed_delta or not found.holds:
        table.add_row("claimed delta", f"{found.claimed_delta:.4g}")
        table.add_row("enumerated delta at the claimed epsilon", f"{found.delta:.4g}")
    values = audit.to_dict()
    table.add_row("unit", values["unit"])
    table.add_row("reports and pairs listed", f"{found.num_reports:,} and {found.num_pairs:,}")
    if found.drawn is not None:
        table.add_row("reports drawn", f"{found.drawn.draws:,} for each of {found.drawn.inputs:,} inputs")
        if found.drawn.holds:
            off = f"by less than {100 * found.drawn.resolution:.1f} percentage points"
            table.add_row("program against statement", f"differ {off} (alarm {found.drawn.alarm:g})")
    table.add_row("worst inputs", " against ".join(_short(str(value)) for value in values["worst_pair"]))
    table.add_row("worst report", _short(values["worst_report"]))
    return table


def _attacked(audit: SystemAudit) -> Table:
    from privet.auditing.central.one_run import OneRunAudit
    from privet.auditing.central.sequential import SequentialAudit

    found = audit.found
    table = Table(title=f"{audit.system}: white-box audit", show_header=False, title_justify="left")
    table.add_row("claimed epsilon", f"{found.claim:.4g} at delta {found.delta:.2g}")
    table.add_row("claimed by", found.claimed_by)
    match found:
        case OneRunAudit():
            _one_run_rows(table, found)
        case SequentialAudit():
            _sequential_rows(table, found)
        case _:
            table.add_row("lower bound, whole vector", f"{found.epsilon_lower:.4g}")
            table.add_row("lower bound, the paper's projection", f"{found.projection_epsilon_lower:.4g}")
            _family_row(table, found.family_epsilon_lower)
            table.add_row("confidence", f"{found.confidence:.0%} (Clopper-Pearson), {found.runs:,} runs in each world")
    process = f"q {found.process.rate:.3g}, M {found.process.canary_multiplier:g}, T {found.process.steps}"
    table.add_row("process", f"{found.noise} noise, sigma {found.sigma:.4g}, {process}")
    if not isinstance(found, OneRunAudit | SequentialAudit):
        allowed = f"{found.advantage:.3f} of at most {found.largest_advantage:.3f} that the claim allows"
        table.add_row("advantage of a membership attack", allowed)
    return table


def _one_run_rows(table: Table, found: OneRunAudit) -> None:
    bounds = found.bounds
    table.add_row("lower bound, by the trade-off curve", f"{bounds.curve_epsilon_lower:.4g}")
    table.add_row("lower bound, by Steinke's theorem", f"{bounds.steinke_epsilon_lower:.4g}")
    _family_row(table, bounds.family_epsilon_lower)
    runs = f"{found.runs:,} run{'s' if found.runs > 1 else ''}"
    table.add_row("confidence", f"{found.confidence:.0%}, {runs} with {found.canaries:,} canaries")
    table.add_row("best guesses", f"{bounds.correct:,} of {bounds.guesses:,} right")


def _sequential_rows(table: Table, found: SequentialAudit) -> None:
    table.add_row("lower bound, at the time of stopping", f"{found.epsilon_lower:.4g}")
    table.add_row("runs", f"{found.runs:,} of at most {found.most_runs:,}, with {found.canaries:,} canaries each")
    fortune = f"e^{found.log_fortune:.1f}, of e^{-math.log(found.error):.1f} that refute the claim"
    table.add_row("fortune of bets against the claim", fortune)
    table.add_row("confidence", f"{1 - found.error:.0%} at whatever run one stops")


def _family_row(table: Table, bound: float | None) -> None:
    if bound is not None:
        table.add_row("lower bound, curve of this shape *", f"{bound:.4g}")


def _assumptions(audit: SystemAudit) -> Iterator[str]:
    bounds = audit.to_dict()
    if bounds.get("family_epsilon_lower") is not None:
        yield "* assumes the trade-off curve of this process with some amount of Gaussian noise; others assume nothing."


def _short(text: str, most: int = 200) -> str:
    """Cut long vectors; ``--json`` has them whole."""
    return text if len(text) <= most else text[:most] + " ..."
