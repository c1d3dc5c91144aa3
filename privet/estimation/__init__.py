"""Server-side post-processing of reports: frequencies, label denoising, label proportions, structure, friends."""

from privet.estimation.friends.friend_posterior import FriendPosterior, friend_posterior, second_round
from privet.estimation.friends.homophily import Homophily
from privet.estimation.labels import (
    MajorityLabels,
    PosteriorLabels,
    Supervision,
    class_posterior,
    corrected_accuracy,
    majority_label,
    overfits,
    propagated_reports,
    report_loss,
    report_probabilities,
)
from privet.estimation.lists.beliefs import Beliefs, class_affinity, propagate_beliefs
from privet.estimation.lists.closure import (
    ReportedPairs,
    Symmetrise,
    closure_log_odds,
    common_neighbours,
    estimated_degrees,
    noisy_graph,
)
from privet.estimation.missing import Completed, complete_from_neighbours, report_distances
from privet.estimation.priors.feature_prior import class_priors_from_features
from privet.estimation.shared_weights import SharedWeights

__all__ = [
    "Beliefs",
    "Completed",
    "FriendPosterior",
    "Homophily",
    "MajorityLabels",
    "PosteriorLabels",
    "ReportedPairs",
    "SharedWeights",
    "Supervision",
    "Symmetrise",
    "class_affinity",
    "class_posterior",
    "class_priors_from_features",
    "closure_log_odds",
    "common_neighbours",
    "complete_from_neighbours",
    "corrected_accuracy",
    "estimated_degrees",
    "friend_posterior",
    "majority_label",
    "noisy_graph",
    "overfits",
    "propagate_beliefs",
    "propagated_reports",
    "report_distances",
    "report_loss",
    "report_probabilities",
    "second_round",
]
