"""What an owner reads before taking part: in words and in numbers."""

from __future__ import annotations

from itertools import groupby

from privet.collection.device.ledger import LIFETIME_DELTA, Ledger
from privet.collection.study import Study
from privet.mechanisms import SampledResponse

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
        *_sent(study),
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
    if study.labels is not None:
        asked.append(f"  {study.class_question or 'your class'}: one of {study.declared.classes}{_names(study)}")
    if study.neighbours is not None:
        asked.append(f"  your neighbours: which of the {study.nodes - 1} others you are linked with")
    return asked


def _names(study: Study) -> str:
    return "" if study.class_names is None else f" ({', '.join(study.class_names)})"


def _sent(study: Study) -> list[str]:
    mechanism = study.feature_mechanism
    count = mechanism.sample if isinstance(mechanism, SampledResponse) else mechanism.sampled
    of = "" if count == study.declared.dimension else f", drawn at random from {study.declared.dimension}"
    plural = "feature" if count == 1 else "features"
    lines = [f"  one noisy symbol about {count} {plural}{of} ({mechanism.name}, epsilon {study.features.epsilon:g})"]
    answer = study.label_mechanism
    if answer is not None:
        lines.append(f"  your class with probability {answer.keep:.0%}, otherwise another (epsilon {answer.epsilon:g})")
    lists = study.neighbour_mechanism
    if lists is not None:
        about = "those of larger id" if lists.one_sided else "all others"
        wrong = f"each entry wrong with probability {lists.flip:.2%}"
        lines.append(f"  a list about {about}, {wrong} (epsilon {lists.epsilon:g} each)")
    return lines
