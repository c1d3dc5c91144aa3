"""Server-side post-processing of reports: frequencies, label denoising, label proportions."""

from privet.estimation.labels import (
    MajorityLabels,
    PosteriorLabels,
    Supervision,
    class_posterior,
    corrected_accuracy,
    forward_correction,
    majority_label,
    overfits,
    propagated_reports,
)

__all__ = [
    "MajorityLabels",
    "PosteriorLabels",
    "Supervision",
    "class_posterior",
    "corrected_accuracy",
    "forward_correction",
    "majority_label",
    "overfits",
    "propagated_reports",
]
