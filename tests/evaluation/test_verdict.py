from __future__ import annotations

import pytest

from privet.evaluation.verdict import needless, verdict


@pytest.mark.parametrize(
    ("private", "control", "beginning"),
    [
        ([80.0, 81.0, 80.5], [70.0, 71.2, 70.1], "The private features help"),
        ([70.0, 71.2, 70.1], [80.0, 81.0, 80.5], "The private features hurt"),
        ([80.0, 81.0, 79.0], [80.5, 80.5, 79.2], "The private features do not help"),
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
