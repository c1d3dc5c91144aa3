"""The price of a round: what all answers of a study cost together, less what was charged."""

import pytest
from made_rounds import first_round, friends, friends_again, later_round, resemblance

from privet.collection.device.charges import Entry, Refusal, charge
from privet.collection.study.chain import Chain


def price(chain, entries, **shows):
    due = charge(chain, entries, **shows)
    return due.epsilon, due.delta


def entry(study, cost, *, shows=False):
    return Entry(study.id, 5, study.title, cost, 0.0, 1, None, None, study.chain, shows, None)


def test_a_round_costs_what_was_not_charged_before():
    first = first_round()
    second = later_round(first, friends())
    third = later_round(second, friends_again())
    chain = Chain((first, second, third))
    assert price(chain, []) == (2.0, 0.0)
    assert price(chain, [entry(second, 2.0)]) == (0.0, 0.0)  # other pairs, charged already
    assert price(chain, [entry(first, 1.0)]) == (2.0, 0.0)
    assert price(chain, [entry(second, 1.5)]) == (0.5, 0.0)
    assert charge(chain, [entry(first, 1.0)]).together.price.epsilon == 3.0


def test_what_a_panel_shows_is_not_counted():
    first = first_round()
    assert price(Chain((first,)), [], shows=True) == (0.0, 0.0)
    second = later_round(first, resemblance())
    assert price(Chain((first, second)), [entry(first, 0.0, shows=True)]) == (1.0, 0.0)


def test_other_branches_and_alternatives_are_refused():
    first = first_round()
    second, other = later_round(first, friends()), later_round(first, friends(), closes="2029-12-30T00:00:00Z")
    with pytest.raises(Refusal, match="does not follow"):
        price(Chain((first, second)), [entry(other, 2.0)])
    pilot = later_round(first, release=[{"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}])
    third = later_round(pilot, resemblance())
    with pytest.raises(Refusal, match="You have answered 'features'"):
        price(Chain((first, pilot, third)), [entry(pilot, 1.0)])
