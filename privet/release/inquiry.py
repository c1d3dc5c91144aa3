"""The questions of Inquiry, which follow from its settings alone: devices price a study's plan with them."""

from __future__ import annotations

from typing import Any

from privet.data.population import Population
from privet.mechanisms import Counts, MultiBit, OfferedResponse, RandomizedResponse
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.label import Label
from privet.release.asks.resemblance import Resemblance
from privet.release.question import Question

__all__ = ["inquiry_questions"]

_MOST_OPTIONS = 255


def inquiry_questions(
    population: Population,
    *,
    epsilon_labels: float | None = None,
    epsilon_features: float | None = None,
    epsilon_edges: float | None = None,
    pilot: float | None = None,
    public_features: bool = False,
    cap: int = 32,
    **other: Any,
) -> tuple[Question, ...]:
    """Ask for the label where labels are private, then for the pilot's features, for friends, for resemblance.

    Args:
        population: The public facts about the people.
        epsilon_labels: The budget of the class; None if it is not asked for.
        epsilon_features: The budget of the question about features; None if there is none.
        epsilon_edges: The budget of one bit of a friend list; None if friends are not asked about.
        pilot: The share of people who are asked for noisy features instead; None for nobody.
        public_features: True if features are public; one round about friends is then enough.
        cap: The largest number of friends in a class that a device reports.
        **other: Settings that no question depends on.
    """
    asked: list[Question] = []
    if epsilon_labels is not None:
        asked.append(Question(Label(), RandomizedResponse.declare(population, epsilon=epsilon_labels)))
    if pilot is not None:
        asked.append(Question(Features(), MultiBit.declare(population, epsilon=epsilon_features)))
    if epsilon_edges is not None:
        counts = Counts.declare(population, epsilon=epsilon_edges, cap=cap)
        asked.append(Question(Friends(), counts))
        if not public_features:  # with them, one round can publish predicted classes as well
            asked.append(Question(FriendsAgain(), counts))
    if epsilon_features is not None:
        most = max(2, min(population.classes, _MOST_OPTIONS))
        asked.append(Question(Resemblance(), OfferedResponse(epsilon=epsilon_features, most=most)))
    return tuple(asked)
