"""A study in rounds: a chain of manifests, each of which names those before it by their ids.

Whoever has the newest manifest can check all of them by their hashes. What people agreed to in the first round cannot
change afterwards, and no question is asked twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from privet.collection.study.manifest import Study, with_what_is_known
from privet.errors import PrivetError
from privet.privacy import Guarantee
from privet.release import LocalRelease, Question
from privet.release.price import Price

__all__ = ["BrokenChain", "Chain"]

_KEPT = {
    "title": "title",
    "purpose": "purpose",
    "nodes": "number of people",
    "declared": "schema",
    "directory": "list of participants",
    "operator": "operator",
    "questions": "wording of the questions",
    "class_question": "wording of the question for the class",
    "plan": "plan of the rounds",
    "inputs": "public data",
    "delete_after": "time after which reports are deleted",
    "publish_results": "promise about publishing results",
}


class BrokenChain(PrivetError):
    """Rounds that do not belong together."""


@dataclass(frozen=True)
class Chain:
    """The rounds of one study so far.

    Attributes:
        rounds: The manifests, oldest first.
    """

    rounds: tuple[Study, ...]

    def __post_init__(self) -> None:
        first, ids = self.rounds[0], tuple(each.id for each in self.rounds)
        asked: dict[str, int] = {}
        excluded: dict[str, str] = {}  # by a question about other pairs, which can be checked against earlier ones only
        for place, each in enumerate(self.rounds):
            if each.earlier != ids[:place]:
                raise BrokenChain(f"Round {place + 1} of the study names other rounds before it than the ones given.")
            for name, words in _KEPT.items():
                if getattr(each, name) != getattr(first, name):
                    raise BrokenChain(f"Round {place + 1} of the study has another {words} than the first one.")
            if place and each.panel is not None:
                raise BrokenChain(
                    f"Round {place + 1} of the study has a panel; only the first round may ask people to show their "
                    "answers."
                )
            for question in each.release.questions:
                if question.name in asked:
                    before = asked[question.name]
                    raise BrokenChain(
                        f"Round {place + 1} of the study asks '{question.name}' again, which round {before} asked."
                    )
                if question.name in excluded:
                    raise BrokenChain(
                        f"Round {place + 1} of the study asks '{question.name}' after '{excluded[question.name]}', and "
                        "must ask it before."
                    )
                asked[question.name] = place + 1
                excluded |= dict.fromkeys(question.ask.other_pairs_than, question.name)

    @property
    def newest(self) -> Study:
        """The last round."""
        return self.rounds[-1]

    @cached_property
    def release(self) -> LocalRelease:
        """The questions of all rounds together."""
        return self.joint(each.id for each in self.rounds)

    def joint(self, ids: Iterable[str]) -> LocalRelease:
        """Return the questions of some rounds together, of which alternatives are charged once."""
        chosen = set(ids)
        some = [each.release for each in self.rounds if each.id in chosen]
        questions = tuple(question for release in some for question in release.questions)
        disclosed, exempt = (
            tuple(dict.fromkeys(text for release in some for text in getattr(release, name)))
            for name in ("disclosed", "exempt")
        )
        return replace(self.newest.release, questions=questions, disclosed=disclosed, exempt=exempt)

    def guarantee(self) -> Guarantee:
        """Return what a device promises its owner about everything that it sends in all rounds."""
        return with_what_is_known(self.release.guarantee())

    @property
    def price(self) -> Price:
        """The price of answering all rounds so far."""
        return self.release.price

    @cached_property
    def planned(self) -> tuple[Question, ...]:
        """The questions that the study's plan has left, in their order, without their tables."""
        return tuple(each for each in self.newest.planned.questions if not self.release.asks(each.name))

    @property
    def announced(self) -> LocalRelease:
        """The questions of all rounds, those to come among them."""
        return replace(self.release, questions=(*self.release.questions, *self.planned))
