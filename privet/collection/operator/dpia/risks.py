"""Figures of an impact assessment: what becomes of suspicions, what friends tell, and how large an epsilon may be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from privet.privacy import Guarantee, Unit
from privet.privacy.prose import UNIT_WORDS
from privet.privacy.rounding import at_most, odds_factor
from privet.release.price import Price

__all__ = ["budget_table", "friends_table", "largest_epsilon", "posterior", "risk_table", "table"]

_SUSPICIONS = (0.01, 0.1, 0.5)
_NO_LIMIT = (*["no limit"] * 3, *["100 %"] * 3)
_FRIENDS = 10
_ALIKE = (0.6, 0.8, 0.9, 1.0)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def risk_table(price: Price, *, panel: str) -> str:
    """List each unit's epsilon and that of all together, and what becomes of suspicions.

    A unit's epsilon is that of all answers that are about it, also as a part of something wider.

    Args:
        panel: What a panel shows as it is, such as "features and class"; empty without a panel.
    """
    rows = [_of_unit(price, part) for part in price.parts]
    if len(rows) > 1:
        rows.append(_risk("all of them together, as devices charge it", price.epsilon, price.delta))
    if panel:
        rows.append([f"{panel} of the panel, shown as they are", *_NO_LIMIT])
    suspicions = (f"{100 * each:g} % becomes at most" for each in _SUSPICIONS)
    return table(["about", "epsilon", "delta", "odds change by at most", *suspicions], rows)


def _of_unit(price: Price, part: Guarantee) -> list[str]:
    what, epsilon = f"{part.unit}: {UNIT_WORDS[part.unit]}", price.bound(Unit(part.unit))
    if math.isinf(epsilon):
        return [what, *_NO_LIMIT]
    return _risk(what, epsilon, part.delta if epsilon == part.epsilon else price.delta)


def _risk(what: str, epsilon: float, delta: float) -> list[str]:
    figures = [at_most(epsilon), at_most(delta) if delta else "0", odds_factor(epsilon)]
    return [what, *figures, *(posterior(each, epsilon) for each in _SUSPICIONS)]


def posterior(prior: float, epsilon: float) -> str:
    """Write the largest probability that a suspicion can get from a report, in percent and rounded up.

    Args:
        prior: The probability before, above 0 and below 1.
        epsilon: The privacy loss.

    >>> posterior(0.01, 1.0), posterior(0.01, 4.0), posterior(0.5, 10.0)
    ('2.68 %', '35.6 %', '99.996 %')
    """
    value = 100 / (1 + (1 - prior) / prior * math.exp(-epsilon))
    return f"{min(float(at_most(value, 3 if value < 99 else 5)), 100.0):g} %"


def friends_table(epsilon: float) -> str:
    """List what ten people near somebody tell about them by their own answers to one yes/no question.

    Args:
        epsilon: The epsilon at which each of them answers.
    """
    rows = []
    for same in _ALIKE:
        worst, typical = _from_friends(epsilon, same)
        name = f"{100 * same:g} %" + (" (a household with one answer)" if same == 1 else "")
        rows.append([name, worst, typical, odds_factor(epsilon)])
    return table(
        ["each has the same answer with probability", "worst case", "typical case", "own answer adds at most"], rows
    )


def _from_friends(epsilon: float, same: float) -> tuple[str, str]:
    """Return the factor on the odds about somebody from friends' answers: the worst, and the typical one."""
    keep = 1 / (1 + math.exp(-epsilon))
    agree = same * keep + (1 - same) * (1 - keep)  # a friend's report shows the person's value
    loss = _FRIENDS * (math.log(agree) - math.log1p(-agree) if agree < 1 else epsilon)
    return odds_factor(loss), odds_factor(loss * (2 * agree - 1))


def budget_table() -> str:
    """List the largest epsilon at which a suspicion stays below what would be too much."""
    after = (0.05, 0.1, 0.5)
    rows = [
        [f"{100 * prior:g} %", *(f"{largest_epsilon(prior, each):.2f}" if each > prior else "none" for each in after)]
        for prior in _SUSPICIONS[:2]
    ]
    return table(["suspicion before", *(f"at most {100 * each:g} % afterwards" for each in after)], rows)


def largest_epsilon(before: float, after: float) -> float:
    """Return the largest epsilon, rounded down to hundredths, at which a suspicion does not pass a limit.

    Args:
        before: The probability of the suspicion before the report.
        after: The probability that it may have afterwards at most.

    >>> largest_epsilon(0.01, 0.1)
    2.39
    """
    return math.floor(100 * math.log(after / (1 - after) / (before / (1 - before)))) / 100
