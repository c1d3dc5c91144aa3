"""Accounts and audits as tables for people, with a verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from privet.accounts.account import CentralAccount, LocalAccount, MechanismAccount
from privet.auditing.local.enumeration import ClaimAudit
from privet.auditing.local.person_audit import PersonAudit
from privet.cli.render.screen import print_whole
from privet.privacy import Guarantee
from privet.privacy.accounting.processes import Explanation, Part
from privet.privacy.rounding import at_most

if TYPE_CHECKING:
    from privet.auditing.central.one_run import OneRunAudit
    from privet.auditing.central.sequential import SequentialAudit
    from privet.auditing.local.local_audit import LocalAudit
    from privet.auditing.system_audit import SystemAudit

__all__ = ["print_account", "print_audit"]

_NAMES = 24  # columns for the names of figures


def print_account(account: MechanismAccount | LocalAccount) -> None:
    """Print the account of a mechanism or a system."""
    title = account.mechanism.name if isinstance(account, MechanismAccount) else account.system
    table = Table(title=f"{title}: what is promised", show_header=False, title_justify="left")
    table.add_column(max_width=_NAMES)
    table.add_column()
    _add_figures(table, account.guarantee)
    if isinstance(account, CentralAccount):
        _add_noise(table, account)
    elif account.guarantee.published_epsilon not in (None, account.guarantee.epsilon):
        claimed = f"{account.guarantee.published_epsilon:.4g} (the paper's claim; it does not hold)"
        table.add_row("published epsilon", claimed)
    _add_words(table, account)
    if isinstance(account, LocalAccount) and account.average is not None:
        table.add_row(f"an average over {account.average.neighbours:g} neighbours is", account.average.in_words())
    if isinstance(account, MechanismAccount):
        _add_worth(table, account)
    console = Console()
    print_whole(console, table)
    if not isinstance(account, MechanismAccount):
        explanation = account.explanation
        if len(explanation.epsilon) > 1:
            _print_explanation(console, account.guarantee, explanation)


def _add_figures(table: Table, guarantee: Guarantee) -> None:
    table.add_row("epsilon", at_most(guarantee.epsilon, 6))
    if guarantee.delta:
        table.add_row("delta", at_most(guarantee.delta))


def _add_noise(table: Table, account: CentralAccount) -> None:
    multiplier = account.release.noise_multiplier
    table.add_row("noise", f"{account.release.noise}, sigma {account.sigma:.5g} (noise multiplier {multiplier:.5g})")
    for each in account.comparisons:
        table.add_row(each.title, f"{each.value:.5g}")
    if account.published_epsilon is not None:
        table.add_row("published epsilon", f"{account.published_epsilon:.4g}: {account.claim}")


def _print_explanation(console: Console, guarantee: Guarantee, explanation: Explanation) -> None:
    """Print the parts of epsilon and of delta, largest first, as sums that end with the whole."""
    table = Table(title="\nwhere these figures come from", show_header=False, title_justify="left")
    for justify in ("right", "right", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right")
    _add_sum(table, "epsilon", guarantee.epsilon, explanation.epsilon)
    if guarantee.delta:
        _add_sum(table, "delta", guarantee.delta, explanation.delta)
    print_whole(console, table, keys=2)
    for sentence in explanation.sentences:
        console.print(sentence)


def _add_sum(table: Table, name: str, whole: float, parts: tuple[Part, ...]) -> None:
    table.add_section()
    for part in sorted(parts, key=lambda part: -part.value):
        if part.value > 0:
            share = part.value / whole
            table.add_row(at_most(part.value), f"{share:.1%}" if share >= 1e-3 else "< 0.1%", part.words)
    table.add_row(f"[bold]{at_most(whole, 6)}", "", f"[bold]{name}")


def _add_words(table: Table, account: MechanismAccount | LocalAccount) -> None:
    guarantee = account.guarantee
    table.add_row("unit", f"{guarantee.unit} ({guarantee.trust})")
    table.add_row("adjacent inputs", guarantee.adjacency)
    table.add_row("in words", guarantee.in_words() if isinstance(account, MechanismAccount) else account.in_words)
    table.add_row("not protected", "; ".join(guarantee.unprotected) or "nothing known")


def _add_worth(table: Table, account: MechanismAccount) -> None:
    if account.sampled:
        table.add_row("features in a report", str(account.sampled))
    table.add_row("bytes in a report", str(account.bytes_per_report))
    table.add_row("worst standard deviation", f"{account.worst_standard_deviation:.4g} for one user's estimate")
    users = account.users_for_error_one_tenth_of_range
    table.add_row("users to average", f"{users:,} for an error of a tenth of the range")
    table.add_row("one liar", account.mechanism.one_liar())


def print_audit(audit: ClaimAudit | PersonAudit | LocalAudit | SystemAudit) -> None:
    """Print the audit of a mechanism, of the person question or of a system."""
    console = Console()
    if isinstance(audit, PersonAudit):
        print_whole(console, _dishonest(audit))
        console.print("[bold red]The claim is broken." if audit.broken else "[bold green]The claim holds.")
        return
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
    if audit.to_dict().get("family_epsilon_lower") is not None:
        console.print(
            "* assumes the trade-off curve of this process with some amount of Gaussian noise; others assume nothing."
        )
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


def _dishonest(audit: PersonAudit) -> Table:
    table = Table(title="person: dishonest servers, exactly", show_header=False, title_justify="left")
    table.add_row("unit", f"{audit.unit} (reads {audit.reads})")
    table.add_row("mechanism", audit.mechanism)
    table.add_row("servers and states of the device", f"{audit.servers:,} and {audit.states:,}")
    table.add_row("charged by the ledger", f"{audit.claim:.6g}")
    table.add_row("largest loss between two states", f"{audit.largest:.6g}")
    table.add_row("largest loss about one friend", f"{audit.friend:.6g}")
    if audit.relationship_claim:
        table.add_row("stated for a relationship", f"{audit.relationship_claim:.6g}")
        table.add_row("largest loss about one, both ends", f"{audit.relationship:.6g}")
    return table


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


def _short(text: str, most: int = 200) -> str:
    """Cut long vectors; ``--json`` has them whole."""
    return text if len(text) <= most else text[:most] + " ..."
