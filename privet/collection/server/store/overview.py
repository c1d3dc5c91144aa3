"""An overview of a study for its operator: rounds, counts of answers, refusals and erasures, models, and screening."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from privet.collection.server.store.store import Store
from privet.collection.study.asking import groups, in_words
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import Study
from privet.release.screening import screen

__all__ = ["MOST_SCREENED", "Screener", "overview", "screen_round", "stores_of"]

MOST_SCREENED = 100_000
"""The most reports of a round that a running collector screens; ``privet study status`` screens any number."""

_GROWTH = 1.02  # a large round is screened again after two per cent more reports
_SMALL = 2000  # a round of at most so many reports is screened again after each


def stores_of(store: Store) -> list[Store]:
    """Return the stores of all rounds of a study, oldest first.

    Args:
        store: The store of any round.
    """
    return [store.at(study) for study in store.chain().rounds]


def overview(stores: Sequence[Store], now: datetime | None = None) -> dict[str, Any]:
    """Return what a study's operator wants to know, as plain values that name nobody.

    Args:
        stores: The stores of all rounds, oldest first.
        now: The time; the clock's by default.
    """
    moment, newest = now or datetime.now(UTC), stores[-1]
    chain = Chain(tuple(store.study for store in stores))
    study, erasures, expired = newest.study, newest.erasures(), newest.expired()
    guarantee = chain.guarantee()
    rounds = [_round(stores[: place + 1], moment) for place in range(len(stores))]
    rejected: Counter[str] = Counter()
    for each in rounds:
        rejected.update(each["rejected"])
    return {
        "study": study.id,
        "title": study.title,
        "nodes": study.nodes,
        "rounds": rounds,
        "to_come": [question.name for question in chain.planned],
        "stored": rounds[-1]["answered"],
        "opens": study.opens.isoformat(),
        "closes": study.closes.isoformat(),
        "open": rounds[-1]["state"] == "open",
        "closed": rounds[-1]["state"] == "closed",
        "rejected": dict(sorted(rejected.items())),
        "conflicts": sum(each["conflicts"] for each in rounds),
        "erasures": len(erasures),
        "erased": {
            "by": dict(Counter(each.by for each in erasures)),
            "days": _by_day((each.minute, 1) for each in erasures),
        },
        "delete_on": rounds[-1]["delete_on"],
        "due": newest.due(moment),
        "deleted": None if expired is None else asdict(expired),
        "guarantee": {**guarantee.to_dict(), "in_words": guarantee.in_words()},
        "cost": chain.price.epsilon,
        "models": newest.models(),
    }


def _round(stores: Sequence[Store], now: datetime) -> dict[str, Any]:
    """Return the facts about the last of some rounds."""
    store = stores[-1]
    study, deletion = store.study, store.study.deletion_time
    labels = None if study.inputs.labels is None else store.array(study.inputs.labels)
    return {
        "number": study.round,
        "id": study.id,
        "questions": [{"name": each.name, "words": in_words(each.ask)} for each in study.release.questions],
        "opens": study.opens.isoformat(),
        "closes": study.closes.isoformat(),
        "state": _state(study, store.is_closed(), now),
        "asked": store.form.count,
        "answered": store.count(),
        "panel": len(store.form.panel),
        "cost": study.price.epsilon,
        "groups": [asdict(group) for group in groups([each.form for each in stores], labels)],
        "days": _by_day(store.timeline()),
        "rejected": store.rejections(),
        "conflicts": store.conflicts(),
        "delete_on": None if deletion is None else deletion.isoformat(),
    }


def _state(study: Study, closed: bool, now: datetime) -> str:
    if closed or now >= study.closes:
        return "closed"
    return "open" if now >= study.opens else "waiting"


def _by_day(counts: Iterable[tuple[int, int]]) -> list[tuple[str, int]]:
    """Add up counts by the day (UTC) of their minute, in seconds since 1970."""
    days: Counter[str] = Counter()
    for minute, count in counts:
        days[f"{datetime.fromtimestamp(minute, UTC):%Y-%m-%d}"] += count
    return sorted(days.items())


def screen_round(store: Store, most_friends: int | None = None) -> dict[str, Any]:
    """Screen the reports of one round, and return what was found as plain values that name nobody.

    Args:
        store: The store of the round.
        most_friends: The largest number of friends that anybody can have, if that is public.
    """
    questions = {question.name: in_words(question.ask) for question in store.study.release.questions}
    found = screen(store.answers(), most_friends=most_friends).to_dict()
    tests = [{**test, "words": questions[test["question"]]} for test in found["tests"]]
    return {"round": store.study.round, **found, "tests": tests}


@dataclass(eq=False)
class Screener:
    """The screening in a running collector, which is repeated only when there are new reports.

    Attributes:
        kept: For each round its number of reports, its number of erasures, and the result.
    """

    kept: dict[str, tuple[int, int, dict[str, Any]]] = field(default_factory=dict)

    def screen(self, stores: Sequence[Store]) -> list[dict[str, Any]]:
        """Return the screening of each round; for a round that is too large, a sentence that says where to find it.

        Args:
            stores: The stores of all rounds, oldest first.
        """
        return [self._round(store) for store in stores if store.study.release.questions]

    def _round(self, store: Store) -> dict[str, Any]:
        reports, erased = store.count(), len(store.erasures())
        if reports > MOST_SCREENED:
            words = "There are too many reports to screen them here; 'privet study status' does."
            return {"round": store.study.round, "alarm": False, "reports": reports, "in_words": words, "tests": []}
        before = self.kept.get(store.study.id)
        if before is not None and before[1] == erased:
            largest = before[0] * (1.0 if reports <= _SMALL else _GROWTH)
            if before[0] <= reports <= largest:
                return before[2]
        found = screen_round(store)
        self.kept[store.study.id] = reports, erased, found
        return found
