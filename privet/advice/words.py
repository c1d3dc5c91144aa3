"""Advice in words: one paragraph with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence

from privet.advice.plan import Advice, Gain, Way

__all__ = ["NAMES", "advice_paragraph"]

NAMES = {"features": "the features", "edges": "the friend lists"}


def advice_paragraph(advice: Advice) -> str:
    """Write the recommendation and how sure it is; what need not be collected comes first."""
    best = _described(advice.recommended)
    what = "everything on a device" if advice.protect == "person" else advice.protect.replace(",", " and ")
    collected = f"{what} with a total epsilon of {advice.budget:g}"
    answers = [_answer(advice, part) for part in advice.comparison]
    places = len(next(iter(advice.comparison.values())))
    chance = (
        f"Each world was drawn {advice.seeds} times anew and compared in pairs, with 95 % confidence: without any "
        f"gain, one of the {places} worlds would still show one in up to {math.ceil(places * 2.5)} of 100 simulations. "
        "Real people may be like none of these worlds."
    )
    if "no" in advice.collect.values():
        chosen = f"If you collect them anyway, {best}, did best."
        return " ".join([*answers, chosen, _others(advice), chance])
    chosen = f"The best way found to collect {collected} is {best}."
    return " ".join([chosen, _others(advice), *answers, chance])


def _answer(advice: Advice, part: str) -> str:
    rows = advice.comparison[part]
    what, rival = NAMES[part], advice.without[part]
    whole = f" with the whole budget for the {' and '.join(rival.epsilons)}"
    spent = whole if rival.epsilons else ", for which nobody is asked anything"
    other = f"{rival.system}{spent}"
    helped = [row for row in rows if row.helps]
    if not helped:
        return _no_gain(advice, part, other)
    least_gain, most_gain = min(row.gain for row in helped), max(row.gain for row in helped)
    points = f"{least_gain:.1f} to {most_gain:.1f} points" if len(helped) > 1 else f"{most_gain:.1f} points"
    if len(helped) == len(rows):
        return f"Collecting {what} is worth it in all {len(rows)} worlds: they gain {points} over {other}."
    return (
        f"Collecting {what} is worth it in {len(helped)} of {len(rows)} worlds ({_where(rows)}), where they gain "
        f"{points} over {other}; the others showed no such gain. Collect them only if there is reason to expect such a "
        "world, and try a small pilot first."
    )


def _no_gain(advice: Advice, part: str, other: str) -> str:
    what, pooled, rows = NAMES[part], advice.pooled[part], advice.comparison[part]
    least = f"{advice.worth:g} point{'' if advice.worth == 1 else 's'}"
    mean = f"over all worlds the gain is {pooled.gain:+.1f} ± {pooled.margin:.1f} points"
    open_worlds = sum(row.open for row in rows)
    if advice.collect[part] == "unclear":
        return (
            f"No world showed that {what} gain {least} over {other}, but the simulation is too small to exclude it "
            f"({mean}); ask again with more seeds."
        )
    alone = "The structure alone does as well" if part == "features" else "The other data alone do as well"
    nothing = "Collect nothing" if not advice.without[part].epsilons else f"Do not collect {what}"
    single = f" (in {open_worlds} of them a gain of that size cannot be excluded)" if open_worlds else ""
    return (
        f"{nothing}. {alone}: in none of the {len(rows)} worlds{single} did {what} gain {least} beyond noise over "
        f"{other}, and {mean}. They need not be collected at all."
    )


def _others(advice: Advice) -> str:
    """Tell how sure the choice of the setting is."""
    best = advice.recommended
    rows = [row for row in advice.candidates if row != best]
    close = [row for row in rows if row.behind <= row.margin]
    if not close:
        return "Every other setting was worse beyond noise."
    many = f"{len(close)} other settings are" if len(close) > 1 else "One other setting is"
    return (
        f"Over all worlds {many} within noise of the best (for example {_described(close[0])}), so the choice among "
        "these is open."
    )


def _where(rows: Sequence[Gain]) -> str:
    """The worlds that helped, or those that did not if they are fewer."""
    helped = [row for row in rows if row.helps]
    few = helped if 2 * len(helped) <= len(rows) else [row for row in rows if not row.helps]
    named = "; ".join(f"{row.signal} signal with {row.homophily} homophily" for row in few)
    return named if few is helped else f"all but {named}"


def _described(row: Way) -> str:
    how = "" if row.mechanism == "none" else f" with {row.mechanism_words}"
    far = f" and K = {row.hops}" if row.hops else ""
    panel = row.settings.get("panel")
    shown = f" and a panel of {panel:.0%} of people who show theirs" if isinstance(panel, float) else ""
    return f"{row.system}{how}, {_split(row)}{far}{shown}"


def _split(row: Way) -> str:
    return ", ".join(f"{part} {value:g}" for part, value in row.epsilons.items()) or "nothing private"
