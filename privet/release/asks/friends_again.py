"""The friend question once more, about pairs that the first round did not count."""

from __future__ import annotations

from dataclasses import dataclass

from privet.release.asks._base import Ask
from privet.release.asks.friends import Friends, check_rounds

__all__ = ["FriendsAgain"]


@dataclass(frozen=True)
class FriendsAgain(Friends):
    """The number of friends in each group, among people whose group was not published in the first round.

    Formal guarantee: a pair that is counted here has no end that was published in the first round, and a pair that was
    counted there has one (:func:`~privet.release.asks.friends.check_rounds`). So no list bit, and no relationship, is
    in both answers, and the two rounds together cost the dearer of them.

    Attributes:
        table: The published class of each of the N people, such as a predicted one; -1 where none is published.
        ranks: The rank of each person; a person counts friends of lower rank.
    """

    name = "friends-again"
    part = "friends per group, other pairs"
    subject = "the number of your other friends in each group"
    other_pairs_than = (Friends.name,)

    def check_beside(self, other: Ask) -> None:
        """Refuse tables by which a pair might be counted in both rounds."""
        if type(other) is Friends:
            check_rounds((other, self))
