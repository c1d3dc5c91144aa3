"""Accounts as tables for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from privet.accounts.account import CentralAccount, LocalAccount, MechanismAccount
from privet.cli.render.whole import print_whole
from privet.privacy import Guarantee
from privet.privacy.explanation import Explanation, Part
from privet.privacy.rounding import at_most

__all__ = ["print_account"]

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
