"""What an owner reads before taking part: in words and in numbers."""

from __future__ import annotations

from itertools import groupby

from privet.collection.device.ledger import LIFETIME_DELTA, Ledger
from privet.collection.study import Study

__all__ = ["describe"]

_MOST_LINES = 12


def describe(study: Study, ledger: Ledger | None = None) -> str:
    """The study, what is asked, what will be sent, what it costs and what it does not protect."""
    guarantee = study.guarantee()
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
        f"  Epsilon {guarantee.epsilon:g}, delta {guarantee.delta:g}, for: {guarantee.unit}.",
        f"  Of your lifetime budget: {study.cost:g}.",
    ]
    if ledger is not None:
        spent = ledger.spent
        lines.append(f"  Spent so far: {spent:g} of {ledger.limit:g}; after this study: {spent + study.cost:g}.")
        if guarantee.delta:
            lines.append(f"  Delta spent so far: {ledger.spent_delta:g} of {LIFETIME_DELTA:g}.")
    lines += ["", "What is not protected", *(f"  - {text}" for text in guarantee.unprotected)]
    return "\n".join(lines)


def _questions(study: Study) -> list[str]:
    asked = [f"  {study.question(i)}: {study.allowed(i)}" for i in range(study.declared.dimension)]
    if len(asked) > _MOST_LINES and study.questions is None:
        runs = [(text, len(list(run))) for text, run in groupby(study.allowed(i) for i in range(len(asked)))]
        asked = [f"  {count} features, each {text}" for text, count in runs]
    if study.release.asks("label"):
        asked.append(f"  {study.class_question or 'your class'}: one of {study.declared.classes}{_names(study)}")
    if study.release.asks("neighbours"):
        asked.append(f"  your neighbours: which of the {study.nodes - 1} others you are linked with")
    return asked


def _names(study: Study) -> str:
    return "" if study.class_names is None else f" ({', '.join(study.class_names)})"
