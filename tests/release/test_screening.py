from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_releases import POPULATIONS, people, releases

from privet.errors import InvalidParameter
from privet.mechanisms import Counts, Mechanism, MultiBit, RandomizedResponse, Reports, SeededBits
from privet.release import LocalRelease
from privet.release.answers import Answer
from privet.release.screening import KINDS, Finding, Screening, one_in, screen, screen_reports

PEOPLE = 1500


def screened(mechanism: Mechanism, reports: Reports, **known: int) -> Screening:
    tests, alone = screen_reports("question", mechanism, Answer(np.arange(len(reports)), reports), PEOPLE, **known)
    return Screening(tuple(tests), 0.001, KINDS, len(reports), {"question": alone})


def labels() -> tuple[Mechanism, Reports]:
    mechanism = RandomizedResponse(epsilon=1.0, classes=4)
    return mechanism, mechanism.perturb(np.zeros(PEOPLE, dtype=np.int64), SeededBits(0))


def features() -> tuple[Mechanism, Reports]:
    mechanism = MultiBit(epsilon=8.0, dimension=30, low=0.0, high=1.0)
    return mechanism, mechanism.perturb(np.zeros((PEOPLE, 30)), SeededBits(0))


def counts() -> tuple[Mechanism, Reports]:
    mechanism = Counts(epsilon=1.0, classes=3, cap=16)
    values = np.random.default_rng(0).poisson(2.0, (PEOPLE, 3))
    return mechanism, mechanism.perturb(values, SeededBits(0))


@pytest.mark.parametrize("honest", [labels, features, counts])
def test_honest_reports_of_extreme_people_pass(honest: Callable[[], tuple[Mechanism, Reports]]) -> None:
    found = screened(*honest())
    assert not found.alarm
    assert "look like reports of honest devices" in found.in_words()


def test_a_symbol_without_noise_is_found() -> None:
    mechanism, reports = labels()
    reports.symbols[:] = 0
    found = screened(mechanism, reports)
    assert found.alarm
    assert min(found.tests, key=lambda test: test.p_value).name == "symbols"
    assert "honest devices in fewer than 1 of" in found.in_words()


def test_a_chosen_feature_is_found() -> None:
    mechanism, reports = features()
    assert reports.indices is not None
    reports.indices[:150] = np.arange(reports.indices.shape[1])
    found = screened(mechanism, reports)
    assert {test.name for test in found.tests if test.p_value < 1e-6} >= {"drawn"}


def test_copies_are_found_and_left_out() -> None:
    mechanism = MultiBit(epsilon=40.0, dimension=200, low=0.0, high=1.0)
    reports = mechanism.perturb(np.zeros((PEOPLE, 200)), SeededBits(0))
    assert not screened(mechanism, reports).alarm
    assert reports.indices is not None
    reports.symbols[:5], reports.indices[:5] = reports.symbols[9], reports.indices[9]
    found = screened(mechanism, reports)
    assert found.alarm
    assert np.flatnonzero(found.p_values["question"] < 1e-6).tolist() == [0, 1, 2, 3, 4, 9]


def test_a_spike_of_counts_is_found_among_its_neighbours() -> None:
    mechanism, reports = counts()
    reports.symbols[:40, 1] = 12
    assert screened(mechanism, reports).alarm


def test_invented_friends_are_found_if_their_number_is_bounded() -> None:
    mechanism, reports = counts()
    liars = mechanism.perturb(np.full((30, 3), 9), SeededBits(3))
    reports.symbols[:30] = liars.symbols
    assert not screened(mechanism, reports).alarm
    bounded = screened(mechanism, reports, most_friends=12)
    assert bounded.alarm
    assert (bounded.p_values["question"][:30] < 1e-3).mean() > 0.5


def test_all_questions_share_one_rate() -> None:
    found = Screening((Finding("a", "x", "something", 8e-5), Finding("b", "y", "else", 0.5)), 0.001, 10, 7, {})
    assert found.p_value == pytest.approx(8e-4)
    assert found.alarm
    assert "1 of 1,200 rounds" in found.in_words()
    assert found.to_dict()["tests"][0]["p_value"] == 8e-5


def test_the_price_of_a_test_does_not_grow_from_look_to_look() -> None:
    mechanism, reports = labels()
    few = Answer(np.arange(1), reports.take(np.arange(1)))
    early, _ = screen_reports("label", mechanism, few, PEOPLE)
    late = screened(mechanism, reports)
    assert len(early) < len(late.tests) <= KINDS  # so only a number that is fixed in advance covers all looks
    assert late.possible == KINDS


@given(release=releases(), seed=st.integers(0, 50))
def test_answers_to_any_release_are_screened(release: LocalRelease, seed: int) -> None:
    population = release.population
    answers = release.perturb(people(population, seed), SeededBits(seed))
    found = screen(answers)
    assert found.reports == sum(map(len, answers.values()))
    assert {test.question for test in found.tests} <= {question.name for question in release.questions}
    assert found.p_value > 1e-4  # fails once in 10^4
    assert found.kept(answers, rate=0.0).keys() == answers.keys()
    assert not any(len(part) for part in found.kept(answers, rate=1.0).values())


def test_rates_must_be_rates() -> None:
    release = LocalRelease((), POPULATIONS["numeric"])
    answers = release.perturb(people(POPULATIONS["numeric"], 0), SeededBits(0))
    assert screen(answers).in_words().startswith("Reports were not screened")
    with pytest.raises(InvalidParameter, match="rate"):
        screen(answers, rate=1.0)
    with pytest.raises(InvalidParameter, match="most_friends"):
        screen(answers, most_friends=-1)


def test_small_probabilities_are_rounded_towards_caution() -> None:
    assert one_in(0.001) == "1 of 1,000"
    assert one_in(1 / 12_999) == "1 of 12,000"
    assert one_in(0.0) == "1 of 1,000,000,000,000"
