"""Whom the rounds of a study ask, and why, as counts: from public tables alone, and without naming anybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.study.forms import RoundForm
from privet.release.asks import Ask
from privet.release.asks._choice import Choice
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.label import Label

__all__ = ["Group", "groups", "in_words"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """People whom a round treats alike, for one reason.

    Attributes:
        people: Their number.
        words: The end of a sentence that begins with "they", such as "are offered 2 classes".
        asked: True if something is asked of them in this round.
    """

    people: int
    words: str
    asked: bool


def in_words(ask: Ask) -> str:
    """Return what a question asks for, in words about the people who are asked."""
    return ask.subject.replace("your", "their").replace("you ", "they ")


def groups(forms: Sequence[RoundForm], labels: NDArray[Any] | None = None) -> list[Group]:
    """Return whom the last of some rounds asks, and whom it does not, each group with its reason.

    Args:
        forms: The forms of a study's rounds with their tables, oldest first.
        labels: The public classes, -1 where unknown; None if there are none.
    """
    form = forms[-1]
    asked, panel = _asked(form), _mask(form, form.panel)
    what = "features, class and friends" if form.study.shows_friends else "features and class"
    found = [Group(int(panel.sum()), f"show their {what} as they are (the panel)", True)]
    found += _asking([question.ask for question in form.release.questions], asked)
    found += _leaving_out(forms, ~asked & ~panel, labels)
    return [group for group in found if group.people]


def _asking(asks: Sequence[Ask], asked: Mask) -> Iterator[Group]:
    others = [in_words(ask) for ask in asks if not isinstance(ask, Choice | Friends)]
    if others:
        yield Group(int(asked.sum()), f"are asked for {' and '.join(others)}", True)
    for ask in asks:
        if isinstance(ask, Choice):
            options = np.where(asked, ask.options(), 0)
            for number in np.unique(options[options > 1]).tolist():
                people = int((options == number).sum())
                yield Group(people, f"are offered {number} classes, by what is public of them", True)
        elif isinstance(ask, Friends):
            yield Group(int(asked.sum()), "count their friends in each published group", True)


def _leaving_out(forms: Sequence[RoundForm], rest: Mask, labels: NDArray[Any] | None) -> Iterator[Group]:
    """Yield the people who are asked nothing, by the first reason that holds."""
    form = forms[-1]
    reasons: list[tuple[str, Mask]] = []
    for question in form.release.questions:
        if isinstance(question.ask, Choice):
            reasons += _known(forms[:-1], labels, len(rest))
            reasons.append(("are not asked, because their answer could not matter", np.ones_like(rest)))
        elif isinstance(question.ask, Friends):
            reasons.append(("are counted by others, and count nobody", np.asarray(question.ask.table) >= 0))
    reasons.append(("are not asked in this round", np.ones_like(rest)))
    for words, holds in reasons:
        yield Group(int((rest & holds).sum()), words, False)
        rest = rest & ~holds


def _known(earlier: Sequence[RoundForm], labels: NDArray[Any] | None, nodes: int) -> list[tuple[str, Mask]]:
    """Return who need not be asked about features, because earlier rounds or public data tell enough of them."""
    shown, reported, known = (np.zeros(nodes, dtype=np.bool_) for _ in range(3))
    for form in earlier:
        shown |= _mask(form, form.panel)
        reported |= _asked(form) & form.release.asks(Features.name)
        known |= _asked(form) & form.release.asks(Label.name)
    if labels is not None:
        known |= labels >= 0
    return [
        ("were asked to show their features in an earlier round", shown),
        ("were asked for their features in an earlier round", reported),
        ("are not asked, because their class is public or was asked for", known),
    ]


def _asked(form: RoundForm) -> Mask:
    """Tell who is asked to answer the questions of a round."""
    if not form.release.questions:
        return np.zeros(form.study.nodes, dtype=np.bool_)
    if form.people is not None:
        return _mask(form, form.people)
    return ~_mask(form, form.panel)


def _mask(form: RoundForm, people: NDArray[Any]) -> Mask:
    chosen = np.zeros(form.study.nodes, dtype=np.bool_)
    chosen[people] = True
    return chosen
