from __future__ import annotations

import pytest
from some_advice import advice

from privet.advice.words import advice_paragraph


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([0.0, 0.1, -3.0], "Collect nothing. The structure alone does as well: in none of the 3 worlds"),
        ([0.0, 0.1, 4.0], "worth it in 1 of 3 worlds (strong signal with low homophily), where they gain 4.0 points"),
        ([2.0, 3.0, 4.0], "worth it in all 3 worlds: they gain 2.0 to 4.0 points"),
    ],
)
def test_it_says_plainly_whether_to_collect(gains: list[float], words: str) -> None:
    text = advice_paragraph(advice(gains))
    assert words in text
    assert ("They need not be collected at all." in text) == (max(gains) < 1)
    assert text.startswith("Collect nothing") == (max(gains) < 1)
    assert "One other setting is within noise of the best" in text
    assert "in up to 8 of 100 simulations" in text


def test_many_worlds_are_named_by_the_few_that_are_not_among_them() -> None:
    text = advice_paragraph(advice([0.0, 3.0, 4.0]))
    assert "worth it in 2 of 3 worlds (all but weak signal with high homophily), where they gain 3.0 to 4.0" in text


def test_too_small_a_simulation_says_so() -> None:
    found = advice([0.0, 0.1, 0.2], noise=3.0)
    assert found.collect == {"features": "unclear"}
    text = advice_paragraph(found)
    assert "the simulation is too small to exclude it (over all worlds the gain is +0.1 ±" in text
    assert "more seeds" in text
    assert "Do not collect" not in text


def test_single_worlds_that_stay_open_are_counted() -> None:
    text = advice_paragraph(advice([-9.0, -9.0, 0.0], noise=1.5))
    assert "in none of the 3 worlds (in 1 of them a gain of that size cannot be excluded)" in text
