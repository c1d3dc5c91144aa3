"""From answers to a model for each system, with people who did not answer; nothing private reaches the server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from privet.release import Answers
from privet.collection.models import TrainedModel
from privet.collection.operator.public_data import read_graph, read_labels
from privet.release import PrivateData
from privet.collection.study import Study
from privet.collection.training import collected_from, study_settings, systems_for, train_model
from privet.data import Graph, Schema, social_graph, write_edges
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits
from privet.privacy.statement import read_statement
from privet.systems import LPGNN, SYSTEMS, PrivGE, Solitude, System
from privet.systems.controls import features_only, label_propagation, shuffled_reports

NODES = 300
MECHANISMS = {"lpgnn": "multi-bit", "privge": "hds", "rgnn": "sampled-response", "solitude": "multi-bit"}


def a_graph(categorical: bool = False) -> Graph:
    graph = social_graph(NODES, features=16, average_degree=8, homophily=0.8, seed=0)
    return graph.replace(schema=Schema.categorical([2] * 16, classes=4)) if categorical else graph


def a_study(system: str = "lpgnn", *, labels: float | None = None, epsilon: float = 4.0, **changes: object) -> Study:
    lists = system == "solitude"
    schema = replace(a_graph(system == "rgnn").schema, private_edges=lists)
    features = {"mechanism": MECHANISMS[system], "epsilon": epsilon}
    features |= {"sample": 4} if system == "rgnn" else {}
    document = {
        "title": "Commuting",
        "purpose": "B",
        "operator": "C",
        "eligible": "D",
        "nodes": NODES,
        "schema": schema,
        "class_names": ["bus", "bike", "car", "train"],
        "features": features,
        "labels": None if labels is None else {"epsilon": labels},
        "neighbours": {"epsilon": 7.0} if lists else None,
        "opens": "2026-01-01T00:00:00Z",
        "closes": "2026-02-01T00:00:00Z",
    }
    return Study.read(document | changes)


def a_system(study: Study, name: str, **settings: object) -> System:
    return SYSTEMS[name](**study_settings(study, name), max_epochs=40, **settings)


def who_answers(rate: float) -> np.ndarray:
    return np.flatnonzero(np.random.default_rng(5).random(NODES) < rate)


def play(study: Study, rate: float = 1.0) -> tuple[Graph, Answers]:
    graph = a_graph(study.features.mechanism == "sampled-response")
    return graph, 
        study.release.perturb(PrivateData.of(graph, np.random.default_rng(0).permutation(who_answers(rate)), SeededBits(0))
    )


def public(graph: Graph, study: Study, share: float = 0.5) -> dict[str, object]:
    """What the operator has besides the answers."""
    known = np.random.default_rng(1).random(NODES) < share
    labels = None if study.labels is not None else np.where(known, graph.labels, -1)
    return {"graph": None if study.neighbours is not None else Graph(graph.adjacency), "labels": labels}


@pytest.mark.parametrize("rate", [1.0, 0.6])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_study_becomes_a_model(name: str, rate: float, tmp_path: Path) -> None:
    study = a_study(name)
    graph, answers = play(study, rate)
    model = train_model(study, answers, a_system(study, name), **public(graph, study))
    facts = model.fitted.facts
    assert facts["respondents"] == len(who_answers(rate)) == len(answers)
    assert facts["features_from_neighbours"] + facts["features_unknown"] == NODES - len(answers)
    assert model.fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45  # chance is 0.25
    assert ("validation_accuracy_others" in facts) == (rate < 1)
    assert all(isinstance(value, float | int) and np.isfinite(value) for value in facts.values())
    assert model.fitted.guarantee == study.guarantee()
    model.save(tmp_path / "model")
    again = TrainedModel.load(tmp_path / "model")
    assert again.study.id == study.id
    assert np.array_equal(again.fitted.probabilities, model.fitted.probabilities)
    assert again.summary() == model.summary()
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "arrays.safetensors",
        "fitted.json",
        "privacy.yaml",
        "study.json",
    ]


@pytest.mark.parametrize("name", ["lpgnn", "privge", "rgnn"])
def test_private_labels_come_with_the_answers(name: str) -> None:
    study = a_study(name, labels=3.0)
    graph, answers = play(study, 0.7)
    model = train_model(study, answers, a_system(study, name), graph=Graph(graph.adjacency))
    held = model.fitted.facts
    assert held["training_nodes"] + held["validation_nodes"] == len(answers)
    assert model.fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45
    assert model.fitted.guarantee.epsilon == 7.0
    collected = collected_from(study, answers, a_system(study, name), graph=Graph(graph.adjacency))
    assert (collected.labels == -1).all()  # what the server sees are reports, and it knows them for that
    agreement = (model.fitted.predict() == collected.seen_labels())[collected.validation].mean()
    response = study.label_mechanism
    assert held["validation_accuracy"] == pytest.approx((agreement - response.flip) / (response.keep - response.flip))
    with pytest.raises(InvalidData, match="this study collected private labels"):
        train_model(study, answers, a_system(study, name), graph=Graph(graph.adjacency), labels=graph.labels)


@pytest.mark.parametrize("name", MECHANISMS)
def test_fit_never_sees_private_fields(name: str) -> None:
    """Raw features, raw labels and (for solitude) raw edges are destroyed after the devices have answered."""
    study = a_study(name, labels=2.0 if name in ("lpgnn", "rgnn") else None)
    graph, answers = play(study, 0.7)
    known = public(graph, study)
    system = a_system(study, name)
    collected = collected_from(study, answers, system, **known)
    before = system.fit(collected).probabilities.copy()
    assert collected.graph.features is None
    assert collected.graph.labels is None
    graph.features.data[:] = np.nan
    graph.labels[:] = 10**6
    if study.neighbours is not None:
        graph.adjacency.data[:] = np.nan
    assert np.array_equal(system.fit(collected).probabilities, before)
    if known["labels"] is not None:
        hidden = collected.labels < 0
        assert (collected.labels[hidden] == -1).all()
        assert not (collected.train & hidden).any()
        assert not (collected.validation & hidden).any()


def test_if_everybody_answers_it_is_the_simulation_to_the_bit() -> None:
    study = a_study()
    graph, _ = play(study)
    system = a_system(study, "lpgnn")
    answers = study.release.perturb(PrivateData.of(graph), SeededBits(3))
    collected = collected_from(study, answers, system, **public(graph, study))
    simulated = system.collect(graph.replace(split=collected.graph.split), SeededBits(3))
    assert collected.respondents is None
    assert np.array_equal(system.fit(collected).probabilities, system.fit(simulated).probabilities)


def test_the_order_of_the_answers_does_not_matter() -> None:
    study = a_study("solitude")
    graph, answers = play(study, 0.6)
    order = np.argsort(answers.users)
    ordered = Answers(
        answers.users[order], answers.features.take(order), None, answers.neighbours.take(order.astype(np.int64))
    )
    one, two = (
        collected_from(study, each, a_system(study, "solitude"), **public(graph, study)) for each in (answers, ordered)
    )
    assert np.array_equal(one.estimate().dense(), two.estimate().dense())
    assert (one.graph.adjacency != two.graph.adjacency).nnz == 0


def test_silence_changes_the_features_of_the_silent_only() -> None:
    """Respondents keep theirs to the bit; others have the mean of their responding neighbours, and nobody zeros."""
    study = a_study()
    graph, answers = play(study, 0.5)
    collected = collected_from(study, answers, a_system(study, "lpgnn"), **public(graph, study))
    dense, own = collected.estimate().dense(), collected.reported().dense()
    answered = collected.answered()
    assert np.array_equal(dense[answered], own)
    reports = np.zeros_like(dense)
    reports[answered] = own
    near = graph.adjacency.toarray() * answered
    reached = ~answered & (near.sum(axis=1) > 0)
    assert np.allclose(dense[reached], (near[reached] @ reports) / near[reached].sum(axis=1, keepdims=True))
    middle = study.feature_mechanism.estimate(answers.features).offset
    assert not (dense == 0).all(axis=1).any()
    assert (dense[~answered] == middle).all(axis=1).mean() < 0.05  # bits of two neighbours may cancel


def test_controls_read_the_completed_features() -> None:
    study = a_study()
    graph, answers = play(study, 0.5)
    collected = collected_from(study, answers, a_system(study, "lpgnn"), **public(graph, study))
    alone = features_only(collected, max_epochs=20)
    silent = ~collected.answered()
    assert alone.probabilities.shape == (NODES, 4)
    assert (alone.probabilities[silent] == alone.probabilities[silent][0]).all()  # without the graph they are alike
    assert label_propagation(collected).probabilities.shape == (NODES, 4)
    other = shuffled_reports(collected, 0)
    assert sorted(map(bytes, other.features.symbols)) == sorted(map(bytes, collected.features.symbols))
    assert other.features != collected.features
    assert other.respondents is collected.respondents


def test_the_verdict_tells_useful_reports_from_useless_ones() -> None:
    """Without edges only the features can tell a class; with a tiny budget they cannot."""
    verdicts = []
    for epsilon in (40.0, 0.01):
        study = a_study(epsilon=epsilon)
        _, answers = play(study)
        labels = a_graph().labels
        nobody = Graph.from_edges(np.zeros((2, 0), dtype=np.int64), NODES)
        system = replace(a_system(study, "lpgnn", hops=0), max_epochs=100)
        verdicts.append(train_model(study, answers, system, graph=nobody, labels=labels).verdict())
    assert verdicts[0].startswith("The feature reports help: +")
    assert verdicts[1].startswith("The feature reports do not help beyond noise")


def test_the_statement_is_that_of_a_real_collection(tmp_path: Path) -> None:
    study = a_study("solitude")
    graph, answers = play(study, 0.6)
    train_model(study, answers, a_system(study, "solitude"), **public(graph, study)).save(tmp_path / "model")
    document = read_statement(tmp_path / "model")
    assert document["collection"] == "real"
    assert study.id in document["dataset"]
    assert f"{len(answers)} of 300 people answered" in document["dataset"]
    assert document["epsilon"] == study.guarantee().epsilon == 11.0
    assert [entry["part"] for entry in document["budget"]] == ["features", "neighbour list"]
    assert "simulation" not in yaml.safe_dump(document)
    fitted = json.loads((tmp_path / "model" / "fitted.json").read_text())
    assert fitted["guarantee"]["epsilon"] == 11.0
    assert fitted["facts"]["response_rate"] == len(answers) / NODES
    assert fitted["study"] == study.id
    (tmp_path / "model" / "study.json").write_bytes(a_study("solitude", epsilon=1.0).canonical())
    with pytest.raises(InvalidData, match="trained from the study beside it"):
        TrainedModel.load(tmp_path / "model")
    (tmp_path / "model" / "study.json").unlink()
    with pytest.raises(InvalidData, match="with its study's manifest"):
        TrainedModel.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("mechanism", "fitting"),
    [
        ("multi-bit", ("lpgnn", "privge")),
        ("hds", ("privge",)),
        ("piecewise", ("privge",)),
        ("laplace", ("lpgnn", "privge")),
    ],
)
def test_each_mechanism_has_its_systems(mechanism: str, fitting: tuple[str, ...]) -> None:
    study = a_study(features={"mechanism": mechanism, "epsilon": 4.0})
    assert systems_for(study) == fitting
    for name in fitting:
        assert a_system(study, name).feature_mechanism(study.declared) == study.feature_mechanism
    with pytest.raises(InvalidParameter, match=", ".join(fitting)):
        study_settings(study, "rgnn")


def test_lists_are_for_solitude_and_only_with_public_labels() -> None:
    assert systems_for(a_study("solitude")) == ("solitude",)
    assert systems_for(a_study("rgnn")) == ("rgnn",)
    with pytest.raises(InvalidParameter, match="private labels and neighbour lists: there is none"):
        study_settings(a_study("solitude", labels=1.0), "solitude")
    with pytest.raises(InvalidParameter, match="solitude"):
        study_settings(a_study("solitude"), "lpgnn")
    with pytest.raises(InvalidParameter, match="lpgnn, privge"):
        study_settings(a_study(), "heterpoisson")


def test_what_does_not_fit_the_study_is_refused() -> None:
    study, lists = a_study(), a_study("solitude")
    graph, answers = play(study)
    known = public(graph, study)
    system = a_system(study, "lpgnn")
    cases = [
        ("manifest says, 4.0", replace(system, epsilon_features=8.0), answers, known),
        ("this study did not collect neighbour lists", system, answers, known | {"graph": None}),
        ("this study did not collect labels", system, answers, known | {"labels": None}),
        ("of the study's 300 nodes", system, answers, known | {"graph": social_graph(20, features=0, seed=0)}),
        ("one for training and one for validation", system, answers, known | {"labels": np.full(NODES, -1)}),
        ("one of 4 classes", system, answers, known | {"labels": np.full(NODES, 4)}),
        ("at least one node", system, replace(answers, nodes=np.zeros(0, dtype=np.int64)), known),
        ("different ids", system, replace(answers, nodes=np.zeros(NODES, dtype=np.int64)), known),
        ("with neighbour lists if the manifest", system, replace(answers, neighbours=play(lists)[1].neighbours), known),
    ]
    for message, chosen, given, rest in cases:
        with pytest.raises((InvalidData, InvalidParameter), match=message):
            train_model(study, given, chosen, **rest)
    private = a_system(lists, "solitude")
    with pytest.raises(InvalidData, match="this study collected private neighbour lists"):
        train_model(lists, play(lists)[1], private, **known)
    with pytest.raises(InvalidParameter, match="no lengths of lists"):
        train_model(lists, play(lists)[1], replace(private, degrees="reported"), labels=known["labels"])
    with pytest.raises(InvalidParameter, match="validation_share"):
        train_model(study, answers, system, **known, validation_share=1.0)


def test_hidden_edges_do_not_describe_the_silent() -> None:
    """Link prediction embeds over some of the edges: features are completed over the same and no others."""
    study = a_study("privge")
    graph, answers = play(study, 0.5)
    system = a_system(study, "privge")
    assert isinstance(system, PrivGE)
    collected = collected_from(study, answers, system, **public(graph, study))
    nobody = Graph.from_edges(np.zeros((2, 0), dtype=np.int64), NODES)
    silent = ~collected.answered()
    embedded = system.embed(collected, nobody).dense()[torch.from_numpy(silent)]
    assert (embedded == embedded[0]).all()
    assert not (system.embed(collected).dense()[torch.from_numpy(silent)] == embedded[0]).all(1).any()


@pytest.mark.parametrize("one_sided", [True, False])
def test_solitude_reads_counted_degrees_of_some_lists(one_sided: bool) -> None:
    study = a_study("solitude", neighbours={"epsilon": 7.0, "one_sided": one_sided})
    graph, answers = play(study, 0.6)
    system = a_system(study, "solitude", degrees="counted")
    assert isinstance(system, Solitude)
    fitted = system.fit(collected_from(study, answers, system, **public(graph, study)))
    assert fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45


def test_the_split_is_seeded_and_of_labelled_nodes() -> None:
    study = a_study()
    graph, answers = play(study)
    known = public(graph, study)
    one, same, other = (
        collected_from(study, answers, a_system(study, "lpgnn"), **known, seed=seed).validation for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.sum() == round(0.25 * (known["labels"] >= 0).sum())
    assert isinstance(a_system(study, "lpgnn"), LPGNN)


def test_public_files(tmp_path: Path) -> None:
    study = a_study()
    write_edges(tmp_path / "edges.csv", np.array([[0, 1, 1, 5], [1, 0, 2, 5]]))
    graph = read_graph(tmp_path / "edges.csv", study)
    assert (graph.num_nodes, graph.edges.tolist()) == (NODES, [[0, 1], [1, 2]])
    for text, expected in (("node,label\n3,2\n0,1\n", [1, 2]), ("node,label\n3,car\n0,bike\n", [1, 2])):
        (tmp_path / "labels.csv").write_text(text)
        labels = read_labels(tmp_path / "labels.csv", study)
        assert labels[[0, 3]].tolist() == expected
        assert (labels >= 0).sum() == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node,label\n300,1\n", "300 in row 0"),
        ("node,label\n3,4\n", "4 in row 0"),
        ("node,label\n3,1\n3,2\n", "3 again in row 1"),
        ("node,label\n3,1\n4,\n", "nothing in row 1"),
        ("node,label\n3,tram\n", "bus, bike, car, train"),
        ("node,class\n3,1\n", "label"),
        ("", "labels.csv"),
    ],
)
def test_labels_that_do_not_fit_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InvalidData, match=message):
        read_labels(tmp_path / "labels.csv", a_study())
