from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.advice.candidates import SPLITS, Candidate, candidates, featureless, without
from privet.advice.topology import stated_topology
from privet.advice.worlds import World
from privet.data import Graph, Schema
from privet.errors import InvalidParameter
from privet.systems import LPGNN, RGNN

SMALL = Schema.categorical([2, 2, 3], classes=2)
PUBLIC = Graph.from_edges(np.empty((2, 0), dtype=np.int64), 20, schema=SMALL)


def price(candidate: Candidate) -> float:
    """The parts together; both ends of a relationship may report it."""
    return sum(value * (2 if part == "edges" else 1) for part, value in candidate.epsilons.items())


def told(candidate: Candidate, protect: str) -> float:
    """What features and a relationship, or everything on one device, lose."""
    found = candidate.system.guarantee(PUBLIC)
    both = protect == "features,edges" and "person" in candidate.epsilons
    return found.relationship_epsilon if both else found.epsilon


@pytest.mark.parametrize("protect", SPLITS)
@pytest.mark.parametrize("budget", [0.1, 1.0, 0.7])
def test_no_candidate_spends_more_than_the_budget(protect: str, budget: float) -> None:
    found = candidates(protect, budget, SMALL)
    for each in found:
        shares = [each.with_share(protect, budget, share) for share in SPLITS[protect]]
        ways = [way for options in without([each, *found], protect, budget).values() for way in options]
        for candidate in (*shares, *ways):
            assert 0 <= price(candidate) <= budget
        assert told(each, protect) == pytest.approx(budget)
        for candidate in shares:
            assert told(candidate, protect) == pytest.approx(budget)


@given(st.floats(0.05, 20.0), st.sampled_from(["features,labels", "features,edges"]))
def test_rounding_does_not_exceed_the_budget(budget: float, protect: str) -> None:
    first = candidates(protect, budget, SMALL)[0]
    for share in SPLITS[protect]:
        assert first.with_share(protect, budget, share).system.guarantee(PUBLIC).epsilon <= budget


def test_a_control_gets_the_whole_budget() -> None:
    options = without(candidates("features,labels", 2.0, SMALL), "features,labels", 2.0)
    assert [way.epsilons for way in options["features"]] == [{"labels": 2.0}] * 2
    assert [way.mechanism for way in options["features"]] == ["none"] * 2
    private = candidates("features,edges", 8.0, SMALL)
    assert without(private, "features,edges", 8.0)["edges"][0].epsilons == {"features": 8.0}
    assert without(candidates("features", 1.0, SMALL), "features", 1.0)["features"][0].epsilons == {}


@pytest.mark.parametrize(
    ("protect", "name", "epsilons"),
    [
        ("features", "structure", {}),
        ("features,labels", "structure", {"labels": 2.0}),
        ("features,edges", "inquiry", {"edges": 1.0}),
        ("person", "inquiry", {"person": 2.0}),
    ],
)
def test_collecting_nothing_is_a_way_too(protect: str, name: str, epsilons: dict[str, float]) -> None:
    (way,) = featureless(protect, 2.0, SMALL)
    assert (way.name, way.epsilons, way.mechanism) == (name, epsilons, "none")
    assert {"features": {"inquiry", "lpgnn"}, "features,labels": {"inquiry", "lpgnn"}}.get(
        protect, {"inquiry"} if protect == "person" else {"inquiry", "solitude"}
    ) <= {each.name for each in candidates(protect, 2.0, SMALL)}


def test_systems_of_categories_need_categories() -> None:
    kinds = [{type(each.system) for each in candidates("features", 1.0, schema)} for schema in (SMALL, _numbers())]
    assert RGNN in kinds[0]
    assert RGNN not in kinds[1]
    assert LPGNN in kinds[1]


@pytest.mark.parametrize(("protect", "budget"), [("edges", 1.0), ("features,labels,edges", 1.0), ("features", -1.0)])
def test_what_cannot_be_asked(protect: str, budget: float) -> None:
    with pytest.raises(InvalidParameter):
        candidates(protect, budget, SMALL)


def test_everything_on_a_device_is_asked_in_one_wave_or_two_and_compared_with_either_part() -> None:
    found = candidates("person", 3.0, SMALL)
    assert [(each.epsilons, each.system.waves) for each in found] == [({"person": 3.0}, 1), ({"person": 3.0}, 2)]
    options = without(found, "person", 3.0)
    assert [each.control.key for each in options["edges"]] == ["features_only"]
    (friends,) = featureless("person", 3.0, SMALL)
    assert friends.system.reads == "friends"
    beside = [each for each in candidates("features,edges", 3.0, SMALL) if "person" in each.epsilons]
    assert [each.epsilons for each in beside] == [{"person": 1.5}]  # a relationship is on two devices


def test_reports_without_information_do_not_depend_on_the_features() -> None:
    people = World("high", "strong").people(stated_topology(200, 6.0).graph, SMALL, 0)
    other = people.replace(features=people.features[::-1].copy())
    controls = without(candidates("features,labels", 2.0, SMALL), "features,labels", 2.0)["features"]
    for way in (*controls, *featureless("features,labels", 2.0, SMALL)):
        assert (way.trained(people, 0).probabilities == way.trained(other, 0).probabilities).all()


def _numbers() -> Schema:
    return Schema.numeric(3, 0.0, 1.0, classes=2)
