"""The text that an owner reads before taking part: in words and in numbers."""

from __future__ import annotations

from itertools import groupby

from privet.collection.device.ledger import LIFETIME_DELTA, Ledger
from privet.collection.study import Study
from privet.privacy.rounding import at_most

__all__ = ["describe"]

_MOST_LINES = 12


def describe(study: Study, ledger: Ledger | None = None) -> str:
    """Return the study, what is asked, what will be sent, what it costs and what it does not protect.

    Args:
        study: The study that the owner may take part in.
        ledger: The owner's ledger; without it the text does not say what is left of the lifetime budget.
    """
    guarantee, cost = study.guarantee(), study.cost()
    lines = [
        study.title,
        "",
        study.purpose,
        f"Run by: {study.operator}",
        f"Who may take part: {study.eligible}",
        f"Open: {study.opens:%Y-%m-%d %H:%M} to {study.closes:%Y-%m-%d %H:%M} UTC",
        f"Study id: {study.id}",
        "",
        "What you are asked",
        *_questions(study),
        "",
        "What will be sent",
        *(f"  {question.sends()}" for question in study.release.questions),
        "",
        "What it costs",
        f"  {guarantee.in_words()}",
        f"  Epsilon {at_most(guarantee.epsilon)}, delta {at_most(guarantee.delta)}, for: {guarantee.unit}.",
        f"  Of your lifetime budget: {at_most(cost)}.",
        *_doubled(study),
    ]
    if ledger is not None:
        spent = ledger.spent
        after = at_most(spent + cost)
        lines.append(f"  Spent so far: {at_most(spent)} of {ledger.limit:g}; after this study: {after}.")
        if guarantee.delta:
            lines.append(f"  Delta spent so far: {at_most(ledger.spent_delta)} of {LIFETIME_DELTA:g}.")
    lines += ["", "What is not protected", *(f"  - {text}" for text in guarantee.unprotected)]
    return "\n".join(lines)


def _doubled(study: Study) -> list[str]:
    """Say why a one-sided list counts twice, where it does."""
    if study.cost() == study.release.cost():
        return []
    return ["  Your neighbours count twice: this device cannot exclude that they are asked to report you, too."]


def _questions(study: Study) -> list[str]:
    wanted = study.declared.dimension if study.release.asks("features") else 0
    asked = [f"  {study.question(i)}: {study.allowed(i)}" for i in range(wanted)]
    if len(asked) > _MOST_LINES and study.questions is None:
        runs = [(text, len(list(run))) for text, run in groupby(study.allowed(i) for i in range(len(asked)))]
        asked = [f"  {count} features, each {text}" for text, count in runs]
    if study.release.asks("label"):
        asked.append(f"  {study.class_question or 'your class'}: one of {study.declared.classes}{_names(study)}")
    if study.release.asks("neighbours"):
        asked.append(f"  your neighbours: which of the {study.nodes - 1} others you are linked with")
    if study.release.asks("length"):
        asked.append("  the number of your neighbours")
    return asked


def _names(study: Study) -> str:
    return "" if study.class_names is None else f" ({', '.join(study.class_names)})"
