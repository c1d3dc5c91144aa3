"""A model's directory, and the sentences about it: a figure where one can be told, and none where it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from simulated_studies import make_study, two_rounds

from privet.collection.operator.facts import Accuracy, Facts
from privet.collection.operator.models import TrainedModel
from privet.collection.operator.received import Received
from privet.collection.operator.training import train
from privet.collection.study.chain import Chain
from privet.data import Graph, social_graph
from privet.errors import InvalidData
from privet.mechanisms import SeededBits
from privet.privacy.prose import as_text
from privet.privacy.statement import read_statement
from privet.release import PrivateData
from privet.systems import LPGNN, Fitted

PEOPLE = 200


def trained(
    epsilon: float, epsilon_labels: float | None = None, people: int = PEOPLE, **settings: object
) -> TrainedModel:
    """A model of a study in which everybody answered; without edges only the features can tell a class."""
    graph = social_graph(people, classes=3, features=16, average_degree=8, homophily=0.8, seed=0)
    labels = None if epsilon_labels is None else {"epsilon": epsilon_labels}
    study = make_study(
        nodes=people, schema=graph.schema, features={"mechanism": "multi-bit", "epsilon": epsilon}, labels=labels
    )
    answers = study.release.perturb(PrivateData.of(graph), SeededBits(0))
    system = LPGNN.from_release(study.release, **{"hops": 0, "max_epochs": 60, "seed": 0, **settings})
    nobody = Graph.from_edges(np.zeros((2, 0), dtype=np.int64), people)
    return train(Received.of(study, answers), system, graph=nobody, labels=None if labels else graph.labels)


def said_of(one_class: bool = False, gain: float = 0.0, margin: float = 0.05, labels: int = 600) -> TrainedModel:
    """A model with given facts."""
    accuracy = Accuracy.of(np.arange(labels) < labels // 2)
    facts = Facts(
        *(1000, 1000, 0, 0, labels, labels, accuracy, None, None, accuracy, accuracy),
        gain=gain,
        gain_margin=margin,
        classes_predicted=1 if one_class else 3,
    )
    study = make_study(nodes=1000)
    return TrainedModel(
        Chain((study,)), Fitted("lpgnn", study.guarantee(), np.ones((1000, 3), dtype=np.float32)), facts
    )


@pytest.mark.parametrize(
    ("model", "beginning"),
    [
        (said_of(gain=0.2), "The feature reports help: +20.0 +- 5.0 points"),
        (said_of(gain=-0.2), "The feature reports hurt: -20.0"),
        (said_of(gain=0.01), "The feature reports do not help by more than 6.0 points: +1.0 +- 5.0"),
        (said_of(gain=0.0, margin=0.15, labels=50), "Whether the feature reports help cannot be told from 50 labels"),
        (said_of(one_class=True, gain=0.5), "Whether the feature reports help cannot be told from a model"),
    ],
)
def test_the_verdict_says_no_more_than_is_known(model: TrainedModel, beginning: str) -> None:
    assert model.verdict().startswith(beginning)


def test_useful_reports_are_told_from_useless_ones() -> None:
    assert trained(40.0, people=400).verdict().startswith("The feature reports help: +")
    assert "help: +" not in trained(0.01).verdict()


def test_two_hundred_people_with_private_labels_give_no_figure() -> None:
    """The study that printed 82.4 % for a model that was right for a third."""
    text = "\n".join(trained(2.0, 1.0).summary())
    assert "cannot be told from 50 labels" in text
    assert "with 95 % confidence" in text
    assert "+- 0.0" not in text
    assert "need not be collected" not in text


def test_one_class_for_everybody_is_warned_of() -> None:
    text = "\n".join(said_of(one_class=True).summary())
    assert "Warning: the model predicts the same class for everybody" in text
    assert "need not be collected" not in text
    assert "Warning" not in "\n".join(said_of().summary())


def test_people_who_did_not_answer_are_classified_too_and_it_says_so() -> None:
    model = said_of()
    silent = replace(model, facts=replace(model.facts, respondents=400, features_from_neighbours=600))
    assert "The model classifies the 600 others, too." in "\n".join(silent.summary())


def test_erasures_before_the_training_are_told(tmp_path: Path) -> None:
    model = said_of()
    assert "erased" not in "\n".join(model.summary())
    later = replace(model, facts=replace(model.facts, erasures=3))
    assert "The reports of 3 people had been erased" in "\n".join(later.summary())
    assert "Tables of later rounds" not in "\n".join(later.summary())
    in_rounds = replace(later, chain=Chain(two_rounds()))
    assert "Tables of later rounds that were made before an erasure" in "\n".join(in_rounds.summary())
    later.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "facts.json").read_text())["erasures"] == 3
    assert "the reports of 3 had been erased before the training" in read_statement(tmp_path / "model")["dataset"]
    assert TrainedModel.load(tmp_path / "model").facts.erasures == 3


@pytest.fixture
def saved(tmp_path: Path) -> tuple[TrainedModel, Path]:
    model = trained(4.0)
    model.save(tmp_path / "model")
    return model, tmp_path / "model"


def test_the_statement_is_that_of_a_real_collection(saved: tuple[TrainedModel, Path]) -> None:
    model, path = saved
    document = read_statement(path)
    assert document["collection"] == "real"
    assert model.study.id in document["dataset"]
    assert "200 of 200 people answered" in document["dataset"]
    assert document["epsilon"] == 4.0
    assert "simulation" not in yaml.safe_dump(document)
    assert document["unprotected"] == list(model.study.guarantee().unprotected)


def test_the_statement_claims_nothing_that_the_server_cannot_know(saved: tuple[TrainedModel, Path]) -> None:
    text = " ".join(as_text(read_statement(saved[1])).split())
    assert "took part with the Python client need not trust the operator" in text
    assert "used the page must trust that the server delivered an honest page" in text
    assert "The server cannot know what a device ran" in text
    assert "classifies people who did not answer" in text
    assert "need not be trusted" not in text
    assert "Every device drew" not in text


def test_a_model_is_read_with_its_own_study_only(saved: tuple[TrainedModel, Path]) -> None:
    model, path = saved
    again = TrainedModel.load(path)
    assert (again.study, again.facts, again.summary()) == (model.study, model.facts, model.summary())
    (path / "study.json").write_bytes(make_study(nodes=PEOPLE).canonical())
    with pytest.raises(InvalidData, match="trained from the study beside it"):
        TrainedModel.load(path)
    (path / "study.json").unlink()
    with pytest.raises(InvalidData, match="with its study's manifest"):
        TrainedModel.load(path)
