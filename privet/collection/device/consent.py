"""The text that an owner reads before taking part: in words and in numbers."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby

from privet.collection.device.charges import Charge, charge
from privet.collection.device.ledger import LIFETIME_DELTA, Ledger
from privet.collection.device.preparation import Prepared
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import Study, quoted
from privet.privacy import Unit
from privet.privacy.rounding import at_most, odds_factor
from privet.release.price import Price

__all__ = ["describe", "local_minute", "retention_in_words", "rights_in_words", "to_you"]

_MOST_LINES = 12
_STAYS = {
    "person": "Answers and friends stay here; this device finds out which of a few groups they point to most.",
    "friend list": "Your friends stay here; this device finds out which of a few groups they point to most.",
    "feature vector": "Your answers stay here; this device finds out which of a few groups they point to most.",
}


def describe(study: Study, ledger: Ledger | None = None, prepared: Prepared | None = None) -> str:
    """Return the study, what is asked, what will be sent, what it costs and what it does not protect.

    Args:
        study: The study that the owner may take part in.
        ledger: The owner's ledger; without it the text does not say what is left of the lifetime budget.
        prepared: The round as the device has prepared it; without it the study is taken for one of one round.
    """
    if prepared is not None and prepared.shows:
        return _open_description(study)
    chain = Chain((study,)) if prepared is None else prepared.chain
    due = charge(chain, [] if ledger is None else ledger.entries())
    promise, guarantee = due.together.guarantee(), study.guarantee()
    lines = [
        *_heading(study),
        "",
        "What you are asked",
        *_questions(study),
        "",
        "What will be sent",
        *(f"  {question.sends()}" for question in study.release.questions),
        "",
        "What it costs",
        f"  {promise.in_words()}",
        f"  Epsilon {at_most(promise.epsilon)}, delta {at_most(promise.delta)}, for: {promise.unit}.",
        *_earlier(due),
        f"  Of your lifetime budget: {at_most(due.epsilon)}.",
        *(_both_ends(due.together.price) if due.epsilon else []),
        *_announced(chain),
    ]
    if ledger is not None:
        spent = ledger.spent
        after = at_most(spent + due.epsilon)
        lines.append(f"  Spent so far: {at_most(spent)} of {ledger.limit:g}; after this study: {after}.")
        if promise.delta:
            lines.append(f"  Delta spent so far: {at_most(ledger.spent_delta)} of {LIFETIME_DELTA:g}.")
    lines += ["", "What becomes of your report", *(f"  {text}" for text in rights_in_words(study))]
    lines += ["", "What is not protected", *(f"  - {to_you(text)}" for text in guarantee.unprotected)]
    return "\n".join(lines)


def retention_in_words(study: Study) -> str:
    """Tell a participant in one sentence how long the report is kept."""
    moment = study.deletion_time
    if moment is None:
        return "The study does not say when your report will be deleted."
    what = "round" if study.in_rounds else "study"
    days = f"{study.delete_after} day{'' if study.delete_after == 1 else 's'} after the {what} closes"
    return f"The collector deletes your report {days}, on {moment.astimezone():%Y-%m-%d}."


def rights_in_words(study: Study) -> list[str]:
    """Tell a participant how long the report is kept, and how to withdraw it, in one sentence each."""
    until = "At any time" if study.delete_after is None else "Until then"
    return [
        retention_in_words(study),
        f"{until} you can withdraw with the same link: the collector erases all that you sent in this study.",
        *(["Once the study has closed, everybody can see what people answered, as estimates."] * study.publish_results),
        "Your budget stays spent, because somebody has seen the report, and models trained before may have used it.",
        *(["A published table of classes keeps yours, if it was drawn up before."] if study.publishes_classes else []),
    ]


def _open_description(study: Study) -> str:
    """Say what a member of the panel must know: nothing is protected."""
    asked = [f"  {study.question(i)}: {study.allowed(i)}" for i in range(study.declared.dimension)]
    shown = asked if len(asked) <= _MOST_LINES else [f"  {len(asked)} features"]
    return "\n".join(
        [
            *_heading(study),
            "",
            "You are in the panel of this study: what you answer is sent, and published, AS IT IS.",
            "Nothing of it is randomised, and no privacy budget can count it.",
            "",
            "What you are asked to show",
            *shown,
            f"  {study.class_question or 'your class'}: one of {study.declared.classes}{_names(study)}",
            *([f"  your friends: which of the {study.nodes - 1} others they are"] if study.shows_friends else []),
            "",
            "Your rights",
            *(f"  {sentence}" for sentence in rights_in_words(study)),
        ]
    )


def _heading(study: Study) -> list[str]:
    """Say who asks for what, of whom and when."""
    return [
        study.title,
        "",
        study.purpose,
        f"Run by: {study.operator}",
        f"Who may take part: {study.eligible}",
        f"Open: {local_minute(study.opens)} to {local_minute(study.closes)}",
        f"Study id: {study.id}" + (f", round {study.round} of the study {study.chain}" if study.earlier else ""),
    ]


def _earlier(due: Charge) -> list[str]:
    """Say that answers to earlier rounds are part of the figures, where they are."""
    if due.epsilon == due.together.price.epsilon:
        return []
    return ["  That counts your answers to earlier rounds of this study, too."]


def _both_ends(price: Price) -> list[str]:
    """Say why a relationship counts twice, where one is asked about, alone or with everything else."""
    told = []
    if any(part.unit == Unit.RELATIONSHIP for part in price.parts):
        told.append("  A relationship counts twice: this device cannot exclude that the other person reports it, too.")
    elif any(part.unit in (Unit.FRIEND_LIST, Unit.PERSON) for part in price.parts):
        both = at_most(price.bound(Unit.RELATIONSHIP))
        told.append(
            "  That is for your whole list at once. A friendship is on two devices: if your friend answers, too, both "
            f"answers together cost it an epsilon of {both} at most."
        )
    return told


def _announced(chain: Chain) -> list[str]:
    """Say what the rounds to come would add."""
    if not chain.planned:
        return []
    price = chain.announced.price.epsilon
    return [
        f"  All rounds that the study announces would cost an epsilon of {at_most(price)} together (odds times "
        f"{odds_factor(price)}). Each asks you again."
    ]


def _questions(study: Study) -> list[str]:
    wanted = study.declared.dimension if study.release.asks_about(Unit.FEATURES) else 0
    asked = [f"  {study.question(i)}: {study.allowed(i)}" for i in range(wanted)]
    if len(asked) > _MOST_LINES and study.questions is None:
        runs = [(text, len(list(run))) for text, run in groupby(study.allowed(i) for i in range(len(asked)))]
        asked = [f"  {count} features, each {text}" for text, count in runs]
    if study.release.asks("label"):
        asked.append(f"  {study.class_question or 'your class'}: one of {study.declared.classes}{_names(study)}")
    if study.release.asks("neighbours"):
        asked.append(f"  your neighbours: which of the {study.nodes - 1} others you are linked with")
    for name in filter(study.release.asks, ("person", "person-again")):
        ask = study.release.question(name).ask
        if ask.unit.covers(Unit.NEIGHBOUR_BIT):
            asked.append(f"  your friends: which of the {study.nodes - 1} others they are")
        asked.append(f"  {_STAYS[str(ask.unit)]}")
    if study.release.asks("resemblance"):
        asked += ["  Your answers stay here; this device finds out which of a few groups they resemble most."]
    for name in filter(study.release.asks, ("friends", "friends-again")):
        asked.append(f"  {study.release.question(name).ask.subject}, of the {study.nodes - 1} other participants")
    if study.release.asks("length"):
        asked.append("  the number of your neighbours")
    return asked


def _names(study: Study) -> str:
    return "" if study.class_names is None else f" ({quoted(study.class_names)})"


def to_you(text: str) -> str:
    """Speak to the owner of the device, where a guarantee speaks of a user."""
    return text.replace("the user was", "you were").replace("the user", "you")


def local_minute(moment: datetime) -> str:
    """Return a time as the reader's clock shows it, with the name of its zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"
