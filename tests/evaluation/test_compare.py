from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scipy import stats

from privet.data import Graph
from privet.errors import InvalidData
from privet.evaluation import Comparison, Figures, Result, SplitFacts, compare, evaluate
from privet.privacy import Guarantee, Unit
from privet.systems import LPGNN, HeterPoisson

SPLIT = SplitFacts(120, 60, 60, "0" * 64)


def result(*values: float, **changes) -> Result:
    plain = {"system": "lpgnn", "dataset": "village", "task": "t", "metric": "accuracy (%)", "settings": {"hops": 4}}
    guarantee = Guarantee.local(Unit.FEATURES, 1.0)
    seeds = tuple(range(len(values)))
    facts = {**plain, "seeds": seeds, "figures": Figures(values), "controls": {}, "guarantee": guarantee}
    return Result(**facts | {"split": SPLIT} | changes)


def test_the_test_is_paired() -> None:
    """The seeds differ more among each other than the two systems do within a seed."""
    ours, theirs = (60.0, 70.0, 80.0, 90.0), (59.0, 68.9, 79.1, 89.0)
    found = compare(result(*ours), result(*theirs, system="privge"))
    expected = stats.ttest_rel(ours, theirs)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert found.interval == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx(1.0)
    assert "lpgnn on village is better than privge on village" in found.sentence


def test_equal_results_do_not_differ_and_one_seed_cannot_tell() -> None:
    assert compare(result(60.0, 70.0), result(60.0, 70.0)).p_value == 1.0
    assert compare(result(61.0, 71.0), result(60.0, 70.0)).p_value == 0.0
    assert compare(result(60.0), result(61.0)).p_value is None


def test_equal_names_are_told_apart_by_their_settings() -> None:
    found = compare(result(60.0, 70.0), result(61.0, 70.0, settings={"hops": 8}))
    assert (found.first, found.second) == ("lpgnn on village (hops 4)", "lpgnn on village (hops 8)")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (result(60.0), "same seeds"),
        (result(60.0, 61.0, metric="AUC (%)"), "same metric"),
        (result(60.0, 61.0, split=replace(SPLIT, sha256="1" * 64)), "same test nodes"),
        (result(60.0, 61.0, split=None), "Measure it again"),
    ],
)
def test_what_cannot_be_compared(other: Result, words: str) -> None:
    with pytest.raises(InvalidData, match=words):
        compare(result(60.0, 61.0), other)


def test_local_and_central_systems_have_the_same_test_nodes(graph: Graph) -> None:
    bare = graph.replace(split=None)
    central = HeterPoisson(noise_multiplier=2.0, batch_size=40, epochs=1.0, hidden_channels=8)
    one, two = (evaluate(each, bare, 2, controls=False) for each in (LPGNN(hops=1, max_epochs=2), central))
    assert compare(one, two).seeds == (0, 1)
    with pytest.raises(InvalidData, match="same test nodes"):
        compare(one, evaluate(central, bare, 2, controls=False, split=(0.8, 0.0)))


def test_the_sentence_states_training_size_epsilon_and_unit_of_both() -> None:
    central = Guarantee.local(Unit.LABEL, 4.0)
    other = result(60.0, 61.0, 62.5, system="gap", guarantee=central, split=replace(SPLIT, train=1800))
    found = compare(result(70.0, 71.0, 72.0), other)
    assert (
        "lpgnn on village: 120 training nodes, epsilon at most 1 for the feature vector (local model)."
        in found.sentence
    )
    assert "gap on village: 1,800 training nodes, epsilon at most 4 for the label (local model)." in found.sentence
    assert found.sentence.endswith("Their units differ, so that the two epsilons cannot be compared.")
    assert "units differ" not in compare(result(70.0, 71.0, 72.0), result(60.0, 61.0, 62.0)).sentence
    assert Comparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_two_seeds_are_no_claim() -> None:
    found = compare(result(71.0, 81.0), result(61.0, 71.1, system="privge"))
    assert "two seeds cannot tell whether they differ. Measure 5 seeds." in found.sentence
