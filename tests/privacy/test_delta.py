from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.privacy.delta import chosen_delta, delta_warning


@pytest.mark.parametrize("people", [2, 100, 2_000, 22_470, 10**9])
def test_by_default_a_tenth_of_a_person_is_exposed_on_average(people: int) -> None:
    delta = chosen_delta(None, people)
    assert people * delta == pytest.approx(0.1)
    assert delta_warning(delta, people) == ()


def test_the_paper_s_is_chosen_by_name() -> None:
    assert chosen_delta("paper", 22_470) == 22_470**-1.1
    (warning,) = delta_warning(2_000**-1.1, 2_000)
    assert "times 2,000 people is 0.47, so" in warning
    assert warning.endswith("choose a delta of at most 5e-05")


@pytest.mark.parametrize("wrong", [0.0, 1.0, -1e-5, "papers", float("nan")])
def test_what_is_no_delta_is_refused(wrong: float | str) -> None:
    with pytest.raises(InvalidParameter, match="delta must be above 0 and below 1, or 'paper'"):
        chosen_delta(wrong, 100)  # type: ignore[arg-type]
