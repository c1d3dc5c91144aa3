from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import thorough

from privet.errors import IncompatibleGuarantees, InvalidParameter
from privet.privacy import Guarantee, Unit, compose, joint


def test_composition_adds_within_one_unit() -> None:
    total = Guarantee.local(Unit.FEATURES, 1.0, 1e-5) + Guarantee.local(Unit.FEATURES, 0.5, 1e-6)
    assert total.epsilon == 1.5
    assert total.delta >= 1.1e-5
    assert total.unit == Unit.FEATURES


@thorough
@given(st.lists(st.floats(0, 50), min_size=1, max_size=20))
def test_the_sum_is_never_rounded_down(epsilons: list[float]) -> None:
    total = compose(Guarantee.local(Unit.LABEL, epsilon) for epsilon in epsilons)
    exact = sum(map(Fraction, epsilons))
    assert Fraction(total.epsilon) >= exact
    assert total.epsilon <= math.fsum(epsilons) * (1 + 1e-12)


def test_mixing_units_is_an_error_and_not_a_number() -> None:
    with pytest.raises(IncompatibleGuarantees, match="unit"):
        Guarantee.local(Unit.FEATURES, 1.0) + Guarantee.local(Unit.LABEL, 1.0)


def test_mixing_models_and_adjacencies_is_an_error() -> None:
    central = Guarantee("central", Unit.NODE, "add or remove one node", 1.0, 1e-5)
    local = Guarantee("local", Unit.NODE, "add or remove one node", 1.0)
    with pytest.raises(IncompatibleGuarantees, match="model"):
        central + local
    with pytest.raises(IncompatibleGuarantees, match="adjacency"):
        central + Guarantee("central", Unit.NODE, "replace one node", 1.0)


def test_a_guarantee_is_not_added_to_a_number() -> None:
    with pytest.raises(TypeError):
        Guarantee.local(Unit.LABEL, 1.0) + 1.0  # type: ignore[operator]


def test_joint_names_both_units() -> None:
    both = joint(Guarantee.local(Unit.FEATURES, 1.0, published_epsilon=0.3), Guarantee.local(Unit.LABEL, 2.0))
    assert both.epsilon == 3.0
    assert both.published_epsilon == pytest.approx(2.3)
    assert both.unit == "feature vector and label"
    with pytest.raises(InvalidParameter, match="different units"):
        joint(Guarantee.local(Unit.LABEL, 1.0), Guarantee.local(Unit.LABEL, 1.0))
    with pytest.raises(InvalidParameter, match="at least two"):
        joint(both)


def test_published_claims_and_unprotected_facts_are_kept() -> None:
    one = Guarantee.local(Unit.LABEL, 1.0, published_epsilon=0.5, unprotected=("a", "b"))
    two = Guarantee.local(Unit.LABEL, 1.0, unprotected=("b", "c"))
    assert (one + two).published_epsilon == 1.5
    assert (one + two).unprotected == ("a", "b", "c")
    assert (two + two).published_epsilon is None


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf, "1", None, True])
def test_a_bad_epsilon_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Guarantee.local(Unit.LABEL, epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"model": "shuffle"}, "model"),
        ({"unit": " "}, "unit"),
        ({"delta": 1.5}, "delta"),
        ({"adjacency": ""}, "adjacency"),
    ],
)
def test_other_bad_fields_are_refused(changes: dict[str, object], name: str) -> None:
    fields = {"model": "local", "unit": "label", "adjacency": "any two classes", "epsilon": 1.0}
    with pytest.raises(InvalidParameter, match=f"^{name} must be"):
        Guarantee(**(fields | changes))  # type: ignore[arg-type]


def test_json_round_trip() -> None:
    guarantee = Guarantee.local(Unit.FEATURES, 1.0, 1e-6, published_epsilon=0.2, unprotected=("that they took part",))
    assert Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict()))) == guarantee
    with pytest.raises(InvalidParameter, match=r"^A guarantee is an object with model, unit"):
        Guarantee.from_dict({"epsilon": 1.0})


def test_words_speak_of_odds_and_unit() -> None:
    assert "by at most 2.72" in Guarantee.local(Unit.FEATURES, 1.0).in_words()
    assert "feature vector" in Guarantee.local(Unit.FEATURES, 1.0).in_words()
    assert "at most 2.72 times as likely" in Guarantee.local(Unit.FEATURES, 1.0, 1e-6).in_words()
    assert "plus 1e-06" in Guarantee.local(Unit.FEATURES, 1.0, 1e-6).in_words()
    assert "e^1000" in Guarantee.local(Unit.LABEL, 1000.0).in_words()


@thorough
@given(st.floats(1e-6, 30))
def test_the_factor_in_words_is_rounded_up(epsilon: float) -> None:
    factor = float(Guarantee.local(Unit.LABEL, epsilon).in_words().rstrip(".").rsplit(" ", 1)[1])
    assert math.exp(epsilon) * (1 - 1e-9) <= factor <= math.exp(epsilon) * 1.011


def test_absurd_fields_end_in_one_sentence() -> None:
    with pytest.raises(InvalidParameter, match="too large for a number"):
        Guarantee.local(Unit.LABEL, 1e308) + Guarantee.local(Unit.LABEL, 1e308)
    with pytest.raises(InvalidParameter, match=r"^delta must be"):
        Guarantee.local(Unit.LABEL, 1.0, "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"^A guarantee is an object with model, unit"):
        Guarantee.from_dict(None)  # type: ignore[arg-type]


def test_an_empty_composition_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="one Guarantee or more"):
        compose([])


def prices(guarantee: Guarantee) -> list[str]:
    return [text for text in guarantee.unprotected if "relationship costs" in text]


def test_a_price_stays_true_under_composition() -> None:
    once = Guarantee.of_list_bit(1.0)
    twice = once + once
    assert (once.relationship_epsilon, twice.relationship_epsilon) == (2.0, 4.0)
    assert ["an epsilon of 4;" in text for text in prices(twice)] == [True]
    assert "an epsilon of 2;" not in " ".join(twice.unprotected)
    assert compose([once] * 5).relationship_epsilon == 10.0


def test_people_whom_it_does_not_cover_are_named_and_survive_composition_and_json() -> None:
    shown = Guarantee.local(Unit.LABEL, 1.0, exempt=("the panel",))
    assert (shown + shown).exempt == ("the panel",)
    assert Guarantee.from_dict(json.loads(json.dumps(shown.to_dict()))) == shown
    assert shown.in_words().endswith("This does not hold for the panel.")


def test_a_promise_that_needs_an_aggregator_is_not_called_local() -> None:
    sums = Guarantee("hybrid", Unit.FEATURES, "any two", 1.0, 1e-6)
    assert "aggregator" in sums.trust
    assert "aggregator's noisy sums" in sums.in_words()
    with pytest.raises(IncompatibleGuarantees):
        _ = sums + Guarantee("local", Unit.FEATURES, "any two", 1.0)


def test_a_promise_by_two_servers_says_so() -> None:
    sums = Guarantee("two servers", Unit.FEATURES, "any two", 1.0, 1e-6)
    assert sums.trust == "model of two servers that do not work together"
    assert "report, as one of the two servers gets it, and of the noisy sums" in sums.in_words()
    assert Guarantee.from_dict(sums.to_dict()) == sums
    with pytest.raises(IncompatibleGuarantees):
        _ = sums + Guarantee("local", Unit.FEATURES, "any two", 1.0)
    with pytest.raises(InvalidParameter, match="not three servers"):
        Guarantee("three servers", Unit.FEATURES, "any two", 1.0)  # type: ignore[arg-type]


def test_a_joint_guarantee_has_the_price_of_its_lists() -> None:
    features = Guarantee.local(Unit.FEATURES, 4.0)
    lists = Guarantee.of_list_bit(3.0)
    whole = joint(features, lists + lists)
    assert whole.epsilon == 10.0
    assert whole.relationship_epsilon == 12.0
    assert ["an epsilon of 12;" in text for text in prices(whole)] == [True]
    assert joint(features, Guarantee.local(Unit.LABEL, 1.0)).relationship_epsilon is None


def test_a_price_survives_json_and_cannot_be_a_stale_sentence() -> None:
    lists = Guarantee.of_list_bit(3.0)
    assert Guarantee.from_dict(lists.to_dict()) == lists
    cheaper = replace(lists, relationship_epsilon=3.0)
    assert len(prices(cheaper)) == 1
    assert "an epsilon of 3;" in prices(cheaper)[0]
    assert not prices(replace(lists, relationship_epsilon=None))
