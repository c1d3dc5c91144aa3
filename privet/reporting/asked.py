"""The figure of who is asked what, for systems that choose whom to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evaluation.results import Result
from privet.reporting.figures import ReportFigure
from privet.reporting.palette import GREEN, LINE, OCHRE, ORANGE, OURS, PINK, PURPLE

__all__ = ["asked_figure", "shares_asked"]

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


def _colour(part: str) -> dict[str, Any]:
    fixed = {"panel": PURPLE, "pilot": ORANGE, "counts once": GREEN, "counts twice": OCHRE, "reports it": PINK}
    if part == _NOBODY:
        return {"color": LINE, "alpha": 0.6}
    first = part.split()[0]
    return {"color": fixed.get(part, OURS), "alpha": _STRENGTH[int(first)] if first.isdigit() else 1.0}
