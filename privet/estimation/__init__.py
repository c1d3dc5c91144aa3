"""Server-side post-processing of reports: frequencies, label denoising, label proportions, structure."""

from privet.estimation.beliefs import Beliefs, class_affinity, propagate_beliefs
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
from privet.estimation.missing import Completed, complete_from_neighbours
from privet.estimation.structure import (
    ReportedPairs,
    Symmetrise,
    closure_log_odds,
    common_neighbours,
    estimated_degrees,
    noisy_graph,
)

__all__ = [
    "Beliefs",
    "Completed",
    "MajorityLabels",
    "PosteriorLabels",
    "ReportedPairs",
    "Supervision",
    "Symmetrise",
    "class_affinity",
    "class_posterior",
    "closure_log_odds",
    "common_neighbours",
    "complete_from_neighbours",
    "corrected_accuracy",
    "estimated_degrees",
    "majority_label",
    "noisy_graph",
    "overfits",
    "propagate_beliefs",
    "propagated_reports",
    "report_loss",
    "report_probabilities",
]
