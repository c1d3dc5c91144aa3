"""The figure of how many predictions stand against how many lies, for systems that certify them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evaluation.results import Result
from privet.reporting.figures import ReportFigure
from privet.reporting.palette import OURS, PURPLE

__all__ = ["certified_figure", "withstanding"]


def withstanding(facts: Mapping[str, float], name: str = "withstands") -> dict[int, float]:
    """Return shares by the number of lies, from the facts ``withstands_1``, ``withstands_2`` and so on.

    >>> withstanding({"withstands_2": 0.5, "withstands_1": 0.75, "asked": 1.0})
    {1: 0.75, 2: 0.5}
    """
    found = {int(key.removeprefix(f"{name}_")): value for key, value in facts.items() if key.startswith(f"{name}_")}
    return dict(sorted(found.items()))


def certified_figure(result: Result, name: str) -> ReportFigure | None:
    """Draw the share of predictions that stand against each number of lies; None for a system that cannot tell."""
    stand, right = withstanding(result.facts), withstanding(result.facts, "certified_accuracy")
    if not stand:
        return None
    told = ", ".join(f"{share:.1%} against {liars}" for liars, share in stand.items())

    def draw(axis: Any) -> None:
        lines = [(stand, OURS, "o", "stand"), (right, PURPLE, "s", "stand and are right (test nodes)")]
        for shares, colour, mark, label in lines:
            if shares:
                values = [100 * share for share in shares.values()]
                axis.plot(list(shares), values, mark + "-", color=colour, ms=4.5, lw=1.4, label=label)
        axis.set_xticks(list(stand))
        axis.set_xlabel("lying friends, or false published classes of friends")
        axis.set_ylabel("predictions (%)")
        axis.set_ylim(0, 102)
        axis.grid()
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    title = f"Share of people whose prediction by {result.system} on {result.dataset} stands against lies: {told}"
    return ReportFigure(name, title, 2.6, draw)
