"""Findings: what can be told of few people, of nobody, and how exact it is."""

import math

import numpy as np
import pytest

from privet.estimation.statistics.findings import Scale, find, find_within
from privet.estimation.statistics.readings import Reading, read_answers, read_open
from privet.mechanisms import MultiBit, RandomizedResponse, SampledResponse, SeededBits

YES_NO = Scale(("no", "yes"), shares=True)


def hot(codes, count=2):
    return read_open(np.arange(len(codes)), np.eye(count)[codes])


def test_open_answers_are_as_exact_as_they_are_many():
    found = find(hot([0] * 30 + [1] * 70), YES_NO)
    assert [each.value for each in found.estimates] == pytest.approx([0.3, 0.7])
    assert found.as_open == 100


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_randomised_answers_are_as_exact_as_the_known_fraction_of_open_ones(epsilon):
    response, people = RandomizedResponse(epsilon=epsilon, classes=3), 30_000
    reports = response.perturb(np.arange(people) % 3, SeededBits(0))
    (reading,) = read_answers(np.arange(people), reports, response, (3,))
    found = find(reading, Scale(("a", "b", "c"), shares=True))
    assert found.as_open == pytest.approx(people * (response.keep - response.flip) ** 2, rel=0.01)


def test_shares_are_possible_and_intervals_are_never_empty():
    response = RandomizedResponse(epsilon=0.5, classes=4)
    for seed in range(40):
        reports = response.perturb(np.zeros(30, dtype=np.int64), SeededBits(seed))
        (reading,) = read_answers(np.arange(30), reports, response, (4,))
        found = find(reading, Scale(("a", "b", "c", "d"), shares=True))
        assert sum(each.value for each in found.estimates) == pytest.approx(1)
        for each in found.estimates:
            assert 0 <= each.low <= each.value <= each.high <= 1
            assert each.low < each.high


def test_a_reading_leaves_out_who_was_not_asked():
    mechanism = MultiBit(epsilon=1.0, dimension=4, low=0.0, high=2.0, sample=1)
    reports = mechanism.perturb(np.full((200, 4), 2.0), SeededBits(1))
    readings = list(read_answers(np.arange(200), reports, mechanism, (1,) * 4))
    assert sum(map(len, readings)) == 200
    assert sorted(np.concatenate([each.users for each in readings]).tolist()) == list(range(200))
    for column, each in enumerate(readings):
        assert (reports.coordinates[each.users] == column).any(axis=1).all()
        # -1 and 1 stand for one range to either side of the middle, divided by the slope; there is no factor d / m.
        assert each.scale[0] == pytest.approx(1 / mechanism.slope)


def test_the_average_reading_is_the_estimate_of_a_mechanism_that_asks_for_everything():
    mechanism = SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=2, fill="none")
    reports = mechanism.perturb(np.tile([[1.0, 2.0]], (50, 1)), SeededBits(2))
    means = [each.estimates.mean(axis=0) for each in read_answers(np.arange(50), reports, mechanism, (2, 3))]
    assert np.concatenate(means) == pytest.approx(mechanism.estimate(reports).mean(), rel=1e-5)


def test_groups_of_open_answers_are_exact():
    group, answers = hot([0, 0, 0, 1, 1]), hot([0, 1, 1, 1, 1])
    members = Reading(group.users, group.symbols[:, :1], group.scale[:1], group.offset[:1])
    found = find_within(members, answers, YES_NO)
    assert [each.unbiased for each in found.estimates] == pytest.approx([1 / 3, 2 / 3])
    assert found.people == 5


@pytest.mark.parametrize("people", [0, 1])
def test_too_few_people_tell_nothing(people):
    found = find(Reading(np.arange(people), np.ones((people, 1)) * 0.5, np.ones(1), np.zeros(1)), Scale(high=4.0))
    assert not found.told
    assert (found.estimates[0].low, found.estimates[0].high) == (0.0, 4.0)


def test_people_who_answered_only_one_of_two_questions_tell_nothing_about_both():
    answers = read_open(np.arange(5, 8), np.eye(2)[[0, 1, 1]])
    found = find_within(read_open(np.arange(3), np.ones((3, 1))), answers, YES_NO)
    assert found.people == 0
    assert math.isnan(found.estimates[0].value)
    assert not found.told
