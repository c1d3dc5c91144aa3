"""Retention: until when a study's reports are kept, as its manifest promises."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from privet.collection.study.manifest import Study

__all__ = ["DEFAULT_DAYS", "deletion_time", "retention_in_words", "rights_in_words"]

DEFAULT_DAYS = 90
"""The days after closing for which a new study keeps reports unless its operator says otherwise.

Long enough to train a model, to check it and to train it again after an erasure; short enough that data whose purpose
is fulfilled do not lie about because nobody thought of them.
"""


def deletion_time(study: Study) -> datetime | None:
    """Return the moment at which a round's reports are deleted; None if the manifest promises none."""
    if study.delete_after is None:
        return None
    try:
        return study.closes + timedelta(days=study.delete_after)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC, microsecond=0)  # the calendar ends there


def retention_in_words(study: Study) -> str:
    """Tell a participant in one sentence how long the report is kept."""
    moment = deletion_time(study)
    if moment is None:
        return "The study does not say when your report will be deleted."
    what = "round" if study.in_rounds else "study"
    days = f"{study.delete_after} day{'' if study.delete_after == 1 else 's'} after the {what} closes"
    return f"The collector deletes your report {days}, on {moment:%Y-%m-%d}."


def rights_in_words(study: Study) -> list[str]:
    """Tell a participant how long the report is kept, and how to withdraw it, in one sentence each."""
    until = "At any time" if study.delete_after is None else "Until then"
    return [
        retention_in_words(study),
        f"{until} you can withdraw with the same link: the collector erases all that you sent in this study.",
        "Your budget stays spent, because somebody has seen the report, and models trained before may have used it.",
        *(["A published table of classes keeps yours, if it was drawn up before."] if study.publishes_classes else []),
    ]
