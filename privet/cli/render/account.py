"""Accounts as tables for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from privet.auditing.account import CentralAccount, LocalAccount, MechanismAccount
from privet.privacy import Guarantee
from privet.privacy.rounding import at_most

__all__ = ["print_account"]


def print_account(account: MechanismAccount | LocalAccount) -> None:
    """Print the account of a mechanism or a system."""
    title = account.mechanism.name if isinstance(account, MechanismAccount) else account.system
    table = Table(title=f"{title}: what is promised", show_header=False, title_justify="left")
    _add_figures(table, account.guarantee)
    if isinstance(account, CentralAccount):
        _add_noise(table, account)
    elif account.guarantee.published_epsilon not in (None, account.guarantee.epsilon):
        claimed = f"{account.guarantee.published_epsilon:.4g} (the paper's claim; it does not hold)"
        table.add_row("published epsilon", claimed)
    if isinstance(account, LocalAccount) and len(account.lines) > 1:
        _add_lines(table, account)
    _add_words(table, account)
    if isinstance(account, MechanismAccount):
        _add_worth(table, account)
    else:
        _add_liars(table, account)
    Console().print(table)


def _add_figures(table: Table, guarantee: Guarantee) -> None:
    table.add_row("epsilon", f"{guarantee.epsilon:.6g}")
    if guarantee.delta:
        table.add_row("delta", at_most(guarantee.delta))


def _add_noise(table: Table, account: CentralAccount) -> None:
    multiplier = account.release.noise_multiplier
    table.add_row("noise", f"{account.release.noise}, sigma {account.sigma:.5g} (noise multiplier {multiplier:.5g})")
    for each in account.comparisons:
        table.add_row(each.title, f"{each.value:.5g}")
    if account.published_epsilon is not None:
        table.add_row("published epsilon", f"{account.published_epsilon:.4g}: {account.claim}")


def _add_lines(table: Table, account: LocalAccount) -> None:
    for line in account.lines:
        delta = f", delta at most {at_most(line.delta, 3)}" if line.delta else ""
        table.add_row(line.part, f"epsilon {line.epsilon:.6g}{delta}: {line.mechanism}, for a {line.unit}")


def _add_words(table: Table, account: MechanismAccount | LocalAccount) -> None:
    guarantee = account.guarantee
    table.add_row("unit", f"{guarantee.unit} ({guarantee.model} model)")
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


def _add_liars(table: Table, account: LocalAccount) -> None:
    for line in account.lines:
        if line.one_liar:
            table.add_row("one liar", f"{line.part}: {line.one_liar}")
