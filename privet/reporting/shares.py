"""Figures of shares of people: who is asked what, and whose prediction stands against how many lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evaluation.results import Result
from privet.reporting.drawing import GREEN, LINE, OCHRE, ORANGE, OURS, PINK, PURPLE
from privet.reporting.figures import ReportFigure

__all__ = ["asked_figure", "certified_figure", "shares_asked", "withstanding"]

_MANY = 5  # options from which on people are drawn as one group
_STRENGTH = {2: 0.3, 3: 0.5, 4: 0.75, _MANY: 1.0}
_NOBODY = "not asked"


def shares_asked(facts: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return, for each thing that is asked about, shares of all people by what they are asked, which add up to 1.

    >>> shares_asked({"asked": 0.5, "panel": 0.25, "asked_2": 0.25, "asked_7": 0.25})
    {'features': {'panel': 0.25, '2 options': 0.25, '5 or more': 0.25, 'not asked': 0.25}}
    """
    options: dict[str, float] = {}
    for name in sorted((each for each in facts if each.startswith("asked_")), key=lambda each: int(each[6:])):
        number = int(name[6:])
        group = f"{number} options" if number < _MANY else f"{_MANY} or more"
        options[group] = options.get(group, 0.0) + facts[name]
    rows = {
        "class": {"reports it": facts.get("labels", 0.0)},
        "friends": {"counts once": facts.get("counted_once", 0.0), "counts twice": facts.get("counted_twice", 0.0)},
        "features": {"panel": facts.get("panel", 0.0), "pilot": facts.get("pilot", 0.0), **options},
    }
    found = {row: {name: share for name, share in parts.items() if share} for row, parts in rows.items()}
    return {row: {**parts, _NOBODY: max(0.0, 1 - sum(parts.values()))} for row, parts in found.items() if parts}


def asked_figure(result: Result, name: str) -> ReportFigure | None:
    """Draw a bar of all people for each thing that was asked about; None for a system that asks everybody alike."""
    rows = shares_asked(result.facts) if result.asked is not None else {}
    if not rows:
        return None
    told = "; ".join(
        f"{row}: " + ", ".join(f"{part} {share:.0%}" for part, share in parts.items()) for row, parts in rows.items()
    )

    def draw(axis: Any) -> None:
        shown: dict[str, Any] = {}
        for place, (row, parts) in enumerate(rows.items()):
            left = 0.0
            for part, share in parts.items():
                label = part if part == _NOBODY else f"{row}: {part} ({share:.0%})"
                shown[label] = axis.barh(place, 100 * share, 0.55, 100 * left, lw=0, **_colour(part))
                left += share
        axis.set_yticks(range(len(rows)), list(rows))
        axis.set_ylim(len(rows) - 0.45, -0.55)
        axis.set_xlim(0, 100)
        axis.set_xlabel("people (%)")
        axis.tick_params(axis="y", length=0)
        shown[_NOBODY] = shown.pop(_NOBODY)
        axis.legend(
            shown.values(), shown.keys(), loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, frameon=False
        )

    lines = (sum(len(parts) - 1 for parts in rows.values()) + 2) // 2
    title = f"Who was asked what by {result.system} on {result.dataset}. {told}"
    return ReportFigure(name, title, 0.75 + 0.3 * len(rows) + 0.2 * lines, draw)


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


def _colour(part: str) -> dict[str, Any]:
    fixed = {"panel": PURPLE, "pilot": ORANGE, "counts once": GREEN, "counts twice": OCHRE, "reports it": PINK}
    if part == _NOBODY:
        return {"color": LINE, "alpha": 0.6}
    first = part.split()[0]
    return {"color": fixed.get(part, OURS), "alpha": _STRENGTH[int(first)] if first.isdigit() else 1.0}
