"""What Inquiry's server makes of answers; the whole way is in test_inquiry.py."""

from __future__ import annotations

import numpy as np

from privet.data import social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems.local.inquiry import Inquiry
from privet.systems.local.inquiry.controls import dealt

PEOPLE = social_graph(1500, classes=3, average_degree=4, homophily=0.6, features=30, feature_signal=0.9, seed=0)
GRAPH = PEOPLE.replace(split=split_nodes(PEOPLE, 0.5, 0.25, seed=0))
SYSTEM = Inquiry(epsilon_features=3.0, panel=0.2, seed=0)


def test_answers_help_and_answers_of_other_people_do_no_harm() -> None:
    rng, right = np.random.default_rng(0), {}
    assert GRAPH.labels is not None
    assert GRAPH.split is not None
    for name, altered in (("own", lambda answers: answers), ("dealt", lambda answers: dealt(answers, rng))):
        collected = SYSTEM.collect(GRAPH, SeededBits(0), altered=altered)
        right[name] = SYSTEM.fit(collected).score(GRAPH.labels, GRAPH.split.test)
        prior = SYSTEM._prior(collected).argmax(axis=1)
        right["prior"] = float((prior == GRAPH.labels)[GRAPH.split.test].mean())
    assert right["own"] > right["prior"] + 0.05
    assert abs(right["dealt"] - right["prior"]) < 0.03  # of 375 people; the weights may still move a little


def test_a_prior_and_a_scorer_are_made_once() -> None:
    collected = SYSTEM.collect(GRAPH, SeededBits(0))
    assert SYSTEM._prior(collected) is SYSTEM._prior(collected)
    assert SYSTEM._scorer(collected)[0] is SYSTEM._scorer(collected)[0]
