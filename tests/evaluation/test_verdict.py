from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from privet.evaluation.verdict import MARGIN, Alternative, half_width, needless, seeds_needed, summary, verdict


@pytest.mark.parametrize(
    ("private", "control", "beginning"),
    [
        ([80.0, 81.0, 80.5], [70.0, 71.2, 70.1], "The private features help"),
        ([70.0, 71.2, 70.1], [80.0, 81.0, 80.5], "The private features hurt"),
        ([80.0, 81.0, 79.0, 80.1], [80.2, 81.1, 79.2, 80.0], "The private features do not help by more than 1 point"),
        ([82.3, 80.1, 84.0], [78.0, 79.9, 77.0], "It cannot be told whether the private features help by 1 point or"),
        ([80.0], [70.0], "One seed cannot tell"),
        ([80.2, 81.2], [80.0, 81.0], "Two seeds cannot tell"),
        ([80.2, 81.2, 79.2], [80.0, 81.0, 79.0], "The private features do not help by more than 1 point: +0.2"),
        ([80.0, 81.0, 79.0], [80.2, 81.2, 79.2], "The private features do not help by more than 1 point: -0.2"),
        ([80.6, 81.9, 80.2], [80.0, 81.0, 79.0], "It cannot be told whether the private features help by 1 point or"),
    ],
)
def test_one_sentence(private: list[float], control: list[float], beginning: str) -> None:
    sentence = verdict(private, control)
    assert sentence.startswith(beginning)
    assert "\n" not in sentence


def test_pairing_counts() -> None:
    """The seeds differ more among each other than the two methods do within a seed."""
    assert verdict([60.0, 70.0, 80.0], [58.0, 67.9, 78.1]).startswith("The private features help")


def test_less_data_that_does_as_well_is_named() -> None:
    assert needless([80.0, 81.0, 80.5], [70.0, 71.0, 70.5], "label propagation", "the features") == ""
    sentence = needless([70.0, 71.0, 70.5], [70.1, 71.2, 70.4], "label propagation", "the features")
    assert sentence.endswith("the features need not be collected for this.")


def test_not_significant_is_no_proof_of_no_help() -> None:
    """82.3 against 78.0 on average: nobody knows, and the sentence says how many seeds would do."""
    sentence = verdict([84.3, 80.3, 90.0], [78.0, 78.0, 78.0])
    assert sentence.startswith("It cannot be told")
    assert sentence.endswith(": measure 5 seeds.")
    assert needless([84.3, 80.3, 90.0], [78.0, 78.0, 78.0], "label propagation", "the features") == ""
    assert needless([84.3], [90.0], "label propagation", "the features") == ""
    assert needless([84.3, 84.3], [90.0, 90.0], "label propagation", "the features") == ""


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


STRONG = Alternative(
    "the structure alone (no private data)", [80.0, 81.0, 80.5], "the private data", "the private data"
)
WEAK = Alternative("structure only (noise)", [70.0, 71.0, 70.5], "the private features")
LABELS = Alternative("label propagation (no features)", [82.0, 83.0, 82.5], None, "the features")


def sentences(text: str) -> int:
    return len([each for each in text.split(". ") if each])


def test_the_strongest_control_decides() -> None:
    assert summary([90.0, 91.1, 90.6], [WEAK, STRONG]) == (
        "The private data help: 10.1 +- 0.1 points above the structure alone (95 % confidence, 3 seeds)."
    )


def test_data_that_do_not_help_need_not_be_collected() -> None:
    assert summary([60.0, 61.1, 60.6], [WEAK, STRONG]) == (
        "The private data hurt: 19.9 +- 0.1 points below the structure alone (95 % confidence, 3 seeds): the private "
        "data need not be collected for this."
    )


def test_a_second_sentence_names_less_data_that_do_as_well() -> None:
    assert summary([82.0, 83.1, 82.6], [WEAK, STRONG, LABELS]).endswith(
        "3 seeds). But label propagation gives 82.5: the features need not be collected for this."
    )
    unclear = summary([79.0, 85.0, 82.0], [WEAK, STRONG])
    assert unclear.startswith("It cannot be told whether the private data help by 1 point or more (+1.5 +- ")
    assert sentences(unclear) == 1  # the lead over the weaker control is no claim


def test_one_seed_is_one_sentence() -> None:
    found = [Alternative(each.title, each.values[:1], each.subject, each.spares) for each in (WEAK, STRONG, LABELS)]
    assert summary([48.2], found) == (
        "One seed cannot tell whether the private data help (-31.8 points against the structure alone): "
        "measure 5 seeds."
    )


@pytest.mark.parametrize("level", range(60, 95, 5))
def test_a_verdict_has_two_sentences_at_most(level: int) -> None:
    private = [level + 0.0, level + 3.0, level - 2.5]
    assert 1 <= sentences(summary(private, [STRONG, WEAK, LABELS])) <= 2


def test_without_a_question_nothing_is_said() -> None:
    assert summary([80.0, 81.0], []) == ""
    assert summary([80.0, 81.0, 80.0], [LABELS]) == ""


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """Of 4,000 intervals 95 % hold it: 0.34 % standard error, so a correct program fails with probability 1e-4."""
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4_000, 4))
    held = np.mean([abs(row.mean() - 3.0) <= half_width(row.tolist()) for row in draws])
    assert abs(held - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4_000)
    assert half_width([84.0, 85.0, 86.0]) == pytest.approx(4.302653 / math.sqrt(3), abs=1e-5)  # t for 2 degrees


def test_one_value_has_no_interval() -> None:
    assert half_width([5.0]) is None
