"""Server-side post-processing of reports: frequencies, labels, structure, friends, statistics.

Every public name is imported when it is first used, so that the statistics of answers need no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.estimation.friends.friend_posterior import FriendPosterior as FriendPosterior
    from privet.estimation.friends.friend_posterior import friend_posterior as friend_posterior
    from privet.estimation.friends.friend_posterior import second_round as second_round
    from privet.estimation.friends.homophily import Homophily as Homophily
    from privet.estimation.labels import MajorityLabels as MajorityLabels
    from privet.estimation.labels import PosteriorLabels as PosteriorLabels
    from privet.estimation.labels import Supervision as Supervision
    from privet.estimation.labels import class_posterior as class_posterior
    from privet.estimation.labels import corrected_accuracy as corrected_accuracy
    from privet.estimation.labels import majority_label as majority_label
    from privet.estimation.labels import overfits as overfits
    from privet.estimation.labels import propagated_reports as propagated_reports
    from privet.estimation.labels import report_loss as report_loss
    from privet.estimation.labels import report_probabilities as report_probabilities
    from privet.estimation.lists.beliefs import Beliefs as Beliefs
    from privet.estimation.lists.beliefs import class_affinity as class_affinity
    from privet.estimation.lists.beliefs import propagate_beliefs as propagate_beliefs
    from privet.estimation.lists.closure import ReportedPairs as ReportedPairs
    from privet.estimation.lists.closure import Symmetrise as Symmetrise
    from privet.estimation.lists.closure import closure_log_odds as closure_log_odds
    from privet.estimation.lists.closure import common_neighbours as common_neighbours
    from privet.estimation.lists.closure import estimated_degrees as estimated_degrees
    from privet.estimation.lists.closure import noisy_graph as noisy_graph
    from privet.estimation.missing import Completed as Completed
    from privet.estimation.missing import complete_from_neighbours as complete_from_neighbours
    from privet.estimation.missing import report_distances as report_distances
    from privet.estimation.priors.feature_prior import class_priors_from_features as class_priors_from_features
    from privet.estimation.shared_weights import SharedWeights as SharedWeights

_HOME = {
    "Beliefs": "lists.beliefs",
    "Completed": "missing",
    "FriendPosterior": "friends.friend_posterior",
    "Homophily": "friends.homophily",
    "MajorityLabels": "labels",
    "PosteriorLabels": "labels",
    "ReportedPairs": "lists.closure",
    "SharedWeights": "shared_weights",
    "Supervision": "labels",
    "Symmetrise": "lists.closure",
    "class_affinity": "lists.beliefs",
    "class_posterior": "labels",
    "class_priors_from_features": "priors.feature_prior",
    "closure_log_odds": "lists.closure",
    "common_neighbours": "lists.closure",
    "complete_from_neighbours": "missing",
    "corrected_accuracy": "labels",
    "estimated_degrees": "lists.closure",
    "friend_posterior": "friends.friend_posterior",
    "majority_label": "labels",
    "noisy_graph": "lists.closure",
    "overfits": "labels",
    "propagate_beliefs": "lists.beliefs",
    "propagated_reports": "labels",
    "report_distances": "missing",
    "report_loss": "labels",
    "report_probabilities": "labels",
    "second_round": "friends.friend_posterior",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet.estimation' has no attribute {name!r}")
    found = getattr(import_module(f"privet.estimation.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
