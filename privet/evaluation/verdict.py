"""Sentences about differences: did the private data help, and would less data have done as well?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.evaluation.intervals import half_width

__all__ = ["needless", "verdict"]

_TOO_WIDE = 20.0  # points of accuracy


def verdict(
    private: Sequence[float],
    control: Sequence[float],
    subject: str = "the private features",
    against: str = "structure only",
) -> str:
    """Compare paired figures of the same seeds by a two-sided t-test with 95 % confidence.

    Args:
        private: The system's figures, one for each seed, in per cent.
        control: The control's figures for the same seeds.
        subject: The data that the control lacks, in the plural.
        against: The control in words.

    >>> verdict([84.0, 85.0, 84.5], [80.0, 81.2, 80.4])
    'The private features help: 4.0 +- 0.4 points above structure only (95 % confidence, 3 seeds).'
    >>> verdict([84.0, 85.0, 84.0], [84.5, 84.0, 84.5])[:58]
    'The private features do not help beyond noise: +0.0 +- 2.2'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(control, dtype=float)
    count, mean, margin = len(differences), float(differences.mean()), half_width(differences)
    if margin is None:
        return f"One seed cannot tell whether {subject} helped: {mean:+.1f} points against {against}. Measure 5 seeds."
    certainty = f"(95 % confidence, {count} seeds)"
    begin = subject[0].upper() + subject[1:]
    if mean > margin:
        return f"{begin} help: {mean:.1f} +- {margin:.1f} points above {against} {certainty}."
    if margin > _TOO_WIDE:
        few = f"{mean:+.1f} +- {margin:.1f} points against {against} {certainty}"
        return f"{count} seeds cannot tell whether {subject} helped: {few}. Measure 5 seeds."
    if mean < -margin:
        return f"{begin} hurt: {-mean:.1f} +- {margin:.1f} points below {against} {certainty}."
    return f"{begin} do not help beyond noise: {mean:+.1f} +- {margin:.1f} points against {against} {certainty}."


def needless(private: Sequence[float], simpler: Sequence[float], name: str, spared: str) -> str:
    """Return a sentence if a control that needs less data does as well as the system, otherwise an empty string.

    Args:
        private: The system's figures, one for each seed, in per cent.
        simpler: The control's figures for the same seeds.
        name: The control in words.
        spared: The data that the control does without.

    >>> needless([60.7, 60.9], [59.5, 59.7], "label propagation", "the features")
    ''
    >>> needless([40.0, 41.0], [59.2, 59.4], "label propagation", "the features")
    'But label propagation gives 59.3: the features need not be collected for this.'
    """
    differences = np.asarray(private, dtype=float) - np.asarray(simpler, dtype=float)
    if float(differences.mean()) > (half_width(differences) or 0.0):
        return ""
    return f"But {name} gives {float(np.mean(simpler)):.1f}: {spared} need not be collected for this."
