"""The screening of a study's reports for its operator: each round against what honest devices could have sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from privet.collection.server.store.store import Store
from privet.collection.study.asking import in_words
from privet.release.screening import screen

__all__ = ["MOST_REPORTS", "Screener", "screened"]

MOST_REPORTS = 100_000
"""A running collector screens rounds of at most so many reports; ``privet study status`` screens any number."""

_MORE = 1.02  # a round of some size is screened again after two per cent more reports
_FEW = 2000  # up to here, after every report


def screened(store: Store, most_friends: int | None = None) -> dict[str, Any]:
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
    """The screening of a running collector, which repeats it only when there are new reports.

    Attributes:
        kept: For each round its number of reports, of erasures, and what was found.
    """

    kept: dict[str, tuple[int, int, dict[str, Any]]] = field(default_factory=dict)

    def of(self, stores: Sequence[Store]) -> list[dict[str, Any]]:
        """Return the screening of each round; of rounds that are too large, where to find it.

        Args:
            stores: The stores of all rounds, oldest first.
        """
        return [self._round(store) for store in stores if store.study.release.questions]

    def _round(self, store: Store) -> dict[str, Any]:
        reports, erased = store.count(), len(store.erasures())
        if reports > MOST_REPORTS:
            words = "There are too many reports to screen them here; 'privet study status' does."
            return {"round": store.study.round, "alarm": False, "reports": reports, "in_words": words, "tests": []}
        before = self.kept.get(store.study.id)
        if before is not None and before[1] == erased:
            largest = before[0] * (1.0 if reports <= _FEW else _MORE)
            if before[0] <= reports <= largest:
                return before[2]
        found = screened(store)
        self.kept[store.study.id] = reports, erased, found
        return found
