"""Whom a round asks and why, from its public tables."""

import numpy as np
import pytest
from rehearsed_rounds import ASKED, CLASSES, DIMENSION, NODES, PANEL, add_second_round, first_round, people
from simulated_studies import make_study

from privet.collection.study.asking import Group, groups, in_words
from privet.collection.study.chain import Chain
from privet.collection.study.forms import RoundForm
from privet.data import Schema
from privet.data.population import Population
from privet.mechanisms import Counts
from privet.release import Question
from privet.release.asks.friends import Friends
from privet.release.asks.resemblance import Resemblance


def test_everybody_is_in_one_group_of_a_round(tmp_path):
    store = first_round(tmp_path / "study", people()).store()
    second = add_second_round(store)
    first = [
        Group(40, "show their features and class as they are (the panel)", True),
        Group(96, "are asked for their class", True),
        Group(64, "are not asked in this round", False),
    ]
    assert groups([store.form]) == first
    found = groups([store.form, second.form])
    others = np.setdiff1d(np.arange(NODES), PANEL)
    assert found == [
        Group(50, "are offered 2 classes, by what is public of them", True),
        Group(30, "are offered 3 classes, by what is public of them", True),
        Group(40, "were asked to show their features in an earlier round", False),
        Group(
            len(np.setdiff1d(ASKED, others[:80])),
            "are not asked, because their class is public or was asked for",
            False,
        ),
        Group(64, "are not asked, because their answer could not matter", False),
    ]
    assert sum(group.people for group in found) == NODES
    public = np.where(np.arange(NODES) >= 190, 1, -1)
    assert groups([store.form, second.form], public)[-1].people == 64 - 8  # two of the ten are in the panel
    store.dispose()


def test_people_who_count_friends():
    study = make_study(
        nodes=10, schema=Schema.numeric(2, 0.0, 1.0, classes=2, private_edges=True), neighbours={"epsilon": 1.0}
    )
    table, ranks = np.array([0, 1, 0, 1] + [-1] * 6), np.array([0, 0, 0, 1] + [2] * 5 + [0])
    question = Question(Friends(table=table, ranks=ranks), Counts(epsilon=1.0, classes=2, cap=4))
    form = RoundForm(study, type(study.release)((question,), study.population), people=question.ask.people())
    assert groups([form]) == [
        Group(6, "count their friends in each published group", True),
        Group(3, "are counted by others, and count nobody", False),
        Group(1, "are not asked in this round", False),
    ]


def test_words_are_about_others():
    assert in_words(Resemblance()) == "the class that they resemble most, of a few"
    assert in_words(Friends()) == "the number of their friends in each group"


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon_labels": 1.0, "epsilon_features": 1.0, "panel": 0.2},
        {"epsilon_features": 1.0, "pilot": 0.3},
        {"epsilon_labels": 1.0, "epsilon_edges": 1.0},
        {"epsilon_edges": 1.0, "epsilon_features": 1.0, "panel": 0.2},
    ],
)
def test_the_plan_s_questions_are_those_of_its_system(settings):
    from privet.systems.local.inquiry import Inquiry

    system = Inquiry(**settings, seed=0)
    kept = {name: value for name, value in system.settings().items() if value is not None}
    population = Population(Schema.numeric(DIMENSION, 0.0, 1.0, classes=CLASSES), NODES)
    private = {"private_edges": "epsilon_edges" in settings}
    label = {"ask": "label", "mechanism": "randomized-response", "epsilon": 1.0}
    others = [each.declared() for each in system.questions(population) if each.name != "label"]
    planned = [label, *others]
    study = make_study(
        schema=Schema.numeric(DIMENSION, 0.0, 1.0, classes=CLASSES, **private),
        release=[label],
        plan={"system": "inquiry", "settings": kept, "questions": planned},
    )
    assert [each.name for each in Chain((study,)).planned] == [each["ask"] for each in others]
    assert Chain((make_study(),)).planned == ()
