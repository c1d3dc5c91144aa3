from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from privet.evaluation.verdict import MARGIN, needless, seeds_needed, verdict


@pytest.mark.parametrize(
    ("private", "control", "beginning"),
    [
        ([80.0, 81.0, 80.5], [70.0, 71.2, 70.1], "The private features help"),
        ([70.0, 71.2, 70.1], [80.0, 81.0, 80.5], "The private features hurt"),
        ([80.0, 81.0, 79.0, 80.1], [80.2, 81.1, 79.2, 80.0], "The private features do not help by more than 1 point"),
        ([82.3, 80.1], [78.0, 79.9], "It cannot be told whether the private features help"),
        ([80.0], [70.0], "One seed cannot tell"),
    ],
)
def test_one_sentence(private: list[float], control: list[float], beginning: str) -> None:
    sentence = verdict(private, control)
    assert sentence.startswith(beginning)
    assert "\n" not in sentence


def test_pairing_counts() -> None:
    """The seeds differ more among each other than the two methods do within a seed."""
    assert verdict([60.0, 70.0, 80.0], [59.0, 68.9, 79.1]).startswith("The private features help")


def test_less_data_that_does_as_well_is_named() -> None:
    assert needless([80.0, 81.0, 80.5], [70.0, 71.0, 70.5], "label propagation", "the features") == ""
    sentence = needless([70.0, 71.0, 70.5], [70.1, 71.2, 70.4], "label propagation", "the features")
    assert sentence.endswith("the features need not be collected for this.")


def test_not_significant_is_no_proof_of_no_help() -> None:
    """Two seeds, 82.3 against 78.0 on average: nobody knows, and the sentence says how many seeds would do."""
    sentence = verdict([84.3, 80.3], [78.0, 78.0])
    assert sentence.startswith("It cannot be told")
    assert "Measure 5 seeds." in sentence
    assert needless([84.3, 80.3], [78.0, 78.0], "label propagation", "the features") == ""
    assert needless([84.3], [90.0], "label propagation", "the features") == ""


def test_enough_seeds_make_the_interval_as_narrow_as_the_margin() -> None:
    rng = np.random.default_rng(0)
    differences = rng.normal(0.0, 6.0, 6)
    count = seeds_needed(differences)
    spread = np.std(differences, ddof=1)
    assert stats.t.ppf(0.975, count - 1) * spread / np.sqrt(count) <= MARGIN
    assert stats.t.ppf(0.975, count - 2) * spread / np.sqrt(count - 1) > MARGIN


def test_the_equivalence_test_keeps_its_level() -> None:
    """A gain of one point is called none in 5 % of 4,000 draws at most; chance exceeds 6.5 % once in 1e5."""
    rng = np.random.default_rng(1)
    gains = rng.normal(MARGIN, 0.7, (4000, 5))
    none = [verdict(80.0 + gain, [80.0] * 5).startswith("The private features do not help") for gain in gains]
    assert np.mean(none) < 0.065
