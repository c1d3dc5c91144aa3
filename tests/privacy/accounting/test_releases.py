"""Composed Gaussian releases against a closed form and dp_accounting."""

from __future__ import annotations

import math

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from scipy.stats import norm

from privet.errors import InvalidParameter
from privet.privacy.accounting.releases import GaussianReleases, composed_losses


def composed_epsilon(releases: list[GaussianReleases], delta: float) -> float:
    return max(side.epsilon(delta) for side in composed_losses(releases))


def repeated(noise_multiplier: float, rate: float, count: int, delta: float) -> float:
    return composed_epsilon([GaussianReleases(noise_multiplier, rate, count)], delta)


def test_one_gaussian_release_has_a_closed_form() -> None:
    found = composed_epsilon([GaussianReleases(2.0)], 1e-5)
    delta = norm.cdf(0.25 - 2 * found) - math.exp(found) * norm.cdf(-0.25 - 2 * found)
    assert delta == pytest.approx(1e-5, rel=1e-2)


def reference(noise_multiplier: float, rate: float, count: int, delta: float) -> float:
    """dp_accounting's own accountant, composing in a loop: its counts are not to be trusted for every event."""
    release = dp_accounting.GaussianDpEvent(noise_multiplier)
    accountant = PLDAccountant()
    for _ in range(count):
        accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, release) if rate < 1 else release)
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize("rate", [1.0, 0.2])
def test_composing_n_times_equals_looping_n_times(rate: float) -> None:
    looped = reference(2.0, rate, 6, 1e-4)
    assert looped * (1 - 1e-6) <= repeated(2.0, rate, 6, 1e-4) <= looped * 1.002
    together = composed_epsilon([GaussianReleases(2.0, rate)] * 6, 1e-4)
    assert together == pytest.approx(repeated(2.0, rate, 6, 1e-4), rel=1e-6)


def test_why_nothing_is_priced_through_randomised_response_events() -> None:
    """dp_accounting 0.6.0 ignores how often this event is composed; when it no longer does, this test says so."""
    event = dp_accounting.dp_event.RandomizedResponseDpEvent(0.5, 2)
    once, often = (PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE) for _ in range(2))
    once.compose(event)
    often.compose(event, 5)
    assert often.get_epsilon(1e-6) == once.get_epsilon(1e-6)


def test_several_releases_cost_more_than_one_of_them_and_less_than_their_sum() -> None:
    once, often = GaussianReleases(3.0), GaussianReleases(1.0, 0.2, 10)
    together = composed_epsilon([once, often], 1e-5)
    apart = [composed_epsilon([each], 1e-5) for each in (once, often)]
    assert max(apart) < together < sum(apart)
    assert composed_epsilon([often, once], 1e-5) == pytest.approx(together, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"), [("noise_multiplier", (0.0,)), ("rate", (1.0, 0.0)), ("count", (1.0, 0.5, 0))]
)
def test_bad_releases_are_one_sentence(name: str, arguments: tuple[float, ...]) -> None:
    with pytest.raises(InvalidParameter, match=f"{name} must be"):
        GaussianReleases(*arguments)  # type: ignore[arg-type]
