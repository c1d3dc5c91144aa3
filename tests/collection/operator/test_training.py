"""From answers to a model for each system, with people who did not answer; nothing private reaches the server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from simulated_studies import asked

from privet.collection.operator.models import TrainedModel
from privet.collection.operator.received import Received
from privet.collection.operator.training import systems_for, train
from privet.collection.study.manifest import Study
from privet.data import Graph, Schema, social_graph
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import SeededBits
from privet.release import Answers, PrivateData
from privet.systems import SYSTEMS, LocalSystem, PrivGE, Solitude, UnsuitableRelease
from privet.systems.controls import features_only, label_propagation, shuffled_reports

NODES = 300
MECHANISMS = {"lpgnn": "multi-bit", "privge": "hds", "rgnn": "sampled-response", "solitude": "multi-bit"}


NAMES = ("bus", "bike", "car", "train")


def a_graph(categorical: bool = False) -> Graph:
    graph = social_graph(NODES, features=16, average_degree=8, homophily=0.8, seed=0)
    return graph.replace(schema=Schema.categorical([2] * 16, classes=4)) if categorical else graph


def a_study(
    system: str = "lpgnn",
    *,
    labels: float | None = None,
    epsilon: float = 4.0,
    mechanism: str | None = None,
    one_sided: bool = True,
) -> Study:
    lists = system == "solitude"
    schema = replace(a_graph(system == "rgnn").schema, private_edges=lists, class_names=NAMES)
    features = {"mechanism": mechanism or MECHANISMS[system], "epsilon": epsilon}
    features |= {"sample": 4} if system == "rgnn" else {}
    document = {
        "title": "Commuting",
        "purpose": "B",
        "operator": "C",
        "eligible": "D",
        "nodes": NODES,
        "schema": schema,
        "release": asked(
            features,
            None if labels is None else {"epsilon": labels},
            {"epsilon": 7.0, "one_sided": one_sided} if lists else None,
        ),
        "opens": "2026-01-01T00:00:00Z",
        "closes": "2026-02-01T00:00:00Z",
    }
    return Study.read(document)


def a_system(study: Study, name: str, **settings: object) -> LocalSystem:
    return SYSTEMS.find(name).from_release(study.release, **{"max_epochs": 40, "seed": 0, **settings})


def who_answers(rate: float) -> np.ndarray:
    return np.flatnonzero(np.random.default_rng(5).random(NODES) < rate)


def play(study: Study, rate: float = 1.0) -> tuple[Graph, Answers]:
    graph = a_graph(study.release.question("features").mechanism.name == "sampled-response")
    people = np.random.default_rng(0).permutation(who_answers(rate))
    return graph, study.release.perturb(PrivateData.of(graph, people), SeededBits(0))


def public(graph: Graph, study: Study, share: float = 0.5) -> dict[str, object]:
    """What the operator has besides the answers."""
    known = np.random.default_rng(1).random(NODES) < share
    labels = None if study.release.asks("label") else np.where(known, graph.labels, -1)
    return {"graph": None if study.release.asks("neighbours") else Graph(graph.adjacency), "labels": labels}


@pytest.mark.parametrize("rate", [1.0, 0.6])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_study_becomes_a_model(name: str, rate: float, tmp_path: Path) -> None:
    study = a_study(name)
    graph, answers = play(study, rate)
    model = train(Received.of(study, answers), a_system(study, name), **public(graph, study))
    facts = model.facts
    assert facts.respondents == len(who_answers(rate)) == len(answers.users)
    assert facts.features_from_neighbours + facts.features_unknown == NODES - len(answers.users)
    assert model.fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45  # chance is 0.25
    assert (facts.accuracy_others is not None) == (rate < 1)
    assert model.fitted.guarantee == study.guarantee()
    model.save(tmp_path / "model")
    again = TrainedModel.load(tmp_path / "model")
    assert again.study.id == study.id
    assert np.array_equal(again.fitted.probabilities, model.fitted.probabilities)
    assert again.summary() == model.summary()
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "arrays.safetensors",
        "facts.json",
        "fitted.json",
        "privacy.yaml",
        "study.json",
    ]


@pytest.mark.parametrize("name", ["lpgnn", "privge", "rgnn"])
def test_private_labels_come_with_the_answers(name: str) -> None:
    study = a_study(name, labels=3.0)
    graph, answers = play(study, 0.7)
    model = train(Received.of(study, answers), a_system(study, name), graph=Graph(graph.adjacency))
    held = model.facts
    assert held.training_nodes + held.validation_nodes == held.respondents == len(answers.users)
    assert model.fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45
    assert model.fitted.guarantee.epsilon == 7.0
    collected = Received.of(study, answers).collected(a_system(study, name), graph=Graph(graph.adjacency))
    assert (collected.public.labels == -1).all()  # what the server sees are reports, and it knows them for that
    agreement = (model.fitted.predict() == collected.seen_labels())[collected.validation].mean()
    response = study.release.question("label").mechanism
    assert held.accuracy.estimate == pytest.approx((agreement - response.flip) / (response.keep - response.flip))
    with pytest.raises(InvalidData, match="This study collected private labels"):
        train(Received.of(study, answers), a_system(study, name), graph=Graph(graph.adjacency), labels=graph.labels)


@pytest.mark.parametrize("name", MECHANISMS)
def test_fit_never_sees_private_fields(name: str) -> None:
    """Raw features, raw labels and (for solitude) raw edges are destroyed after the devices have answered."""
    study = a_study(name, labels=2.0 if name in ("lpgnn", "rgnn") else None)
    graph, answers = play(study, 0.7)
    known = public(graph, study)
    system = a_system(study, name)
    collected = Received.of(study, answers).collected(system, **known)
    before = system.fit(collected).probabilities.copy()
    assert collected.public.features is None
    graph.features.data[:] = np.nan
    graph.labels[:] = 10**6
    if study.release.asks("neighbours"):
        graph.adjacency.data[:] = np.nan
    assert np.array_equal(system.fit(collected).probabilities, before)
    if known["labels"] is not None:
        hidden = collected.public.labels < 0
        assert not (collected.train & hidden).any()
        assert not (collected.validation & hidden).any()


def test_if_everybody_answers_it_is_the_simulation_to_the_bit() -> None:
    study = a_study()
    graph, _ = play(study)
    system = a_system(study, "lpgnn")
    answers = study.release.perturb(PrivateData.of(graph), SeededBits(3))
    collected = Received.of(study, answers).collected(system, **public(graph, study))
    simulated = system.collect(graph.replace(split=collected.split), SeededBits(3))
    assert collected.answered().all()
    assert np.array_equal(system.fit(collected).probabilities, system.fit(simulated).probabilities)


def test_the_order_of_the_answers_does_not_matter() -> None:
    study = a_study("solitude")
    graph, answers = play(study, 0.6)
    order = np.argsort(answers.users)
    ordered = Answers(study.release, {name: part.take(order) for name, part in answers.items()})
    system = a_system(study, "solitude")
    one, two = (Received.of(study, each).collected(system, **public(graph, study)) for each in (answers, ordered))
    assert not np.array_equal(answers.users, answers["features"].users)  # the reports came in another order
    assert np.array_equal(one.reported().dense(), two.reported().dense())
    assert (system.topology(one).adjacency != system.topology(two).adjacency).nnz == 0


def test_silence_changes_the_features_of_the_silent_only() -> None:
    """Respondents keep theirs to the bit; others have the mean of their responding neighbours, and nobody zeros."""
    study = a_study()
    graph, answers = play(study, 0.5)
    collected = Received.of(study, answers).collected(a_system(study, "lpgnn"), **public(graph, study))
    dense, own = collected.estimate().dense(), collected.reported().dense()
    answered = collected.answered()
    assert np.array_equal(dense[answered], own)
    reports = np.zeros_like(dense)
    reports[answered] = own
    near = graph.adjacency.toarray() * answered
    reached = ~answered & (near.sum(axis=1) > 0)
    assert np.allclose(dense[reached], (near[reached] @ reports) / near[reached].sum(axis=1, keepdims=True))
    middle = study.release.question("features").mechanism.estimate(answers["features"].reports).offset
    assert not (dense == 0).all(axis=1).any()
    assert (dense[~answered] == middle).all(axis=1).mean() < 0.05  # bits of two neighbours may cancel


def test_controls_read_the_completed_features() -> None:
    study = a_study()
    graph, answers = play(study, 0.5)
    collected = Received.of(study, answers).collected(a_system(study, "lpgnn"), **public(graph, study))
    alone = features_only(collected, max_epochs=20)
    silent = ~collected.answered()
    assert alone.probabilities.shape == (NODES, 4)
    assert (alone.probabilities[silent] == alone.probabilities[silent][0]).all()  # without the graph they are alike
    assert label_propagation(collected).probabilities.shape == (NODES, 4)
    other = shuffled_reports(collected, 0)
    dealt, before = (each.answers["features"].reports.symbols for each in (other, collected))
    assert sorted(map(bytes, dealt)) == sorted(map(bytes, before))
    assert not np.array_equal(dealt, before)
    assert np.array_equal(other.answers.users, collected.answers.users)


@pytest.mark.parametrize(
    ("mechanism", "fitting"),
    [
        ("multi-bit", ["lpgnn", "privge"]),
        ("hds", ["privge"]),
        ("piecewise", ["privge"]),
        ("laplace", ["lpgnn", "privge"]),
    ],
)
def test_each_mechanism_has_its_systems(mechanism: str, fitting: list[str]) -> None:
    study = a_study(mechanism=mechanism)
    assert set(fitting) <= set(systems_for(study))
    for name in fitting:
        assert a_system(study, name).release(study).matches(study.release)
    assert "rgnn" not in systems_for(study)


def test_lists_are_for_solitude_and_only_with_public_labels() -> None:
    assert systems_for(a_study("solitude")) == ["solitude"]
    assert systems_for(a_study("rgnn")) == ["rgnn"]
    for study, name in (
        (a_study("solitude", labels=1.0), "solitude"),
        (a_study("solitude"), "lpgnn"),
    ):
        with pytest.raises(UnsuitableRelease, match=f"{name} cannot learn"):
            SYSTEMS.find(name).from_release(study.release)


def test_what_does_not_fit_the_study_is_refused() -> None:
    study, lists = a_study(), a_study("solitude")
    graph, answers = play(study)
    known = public(graph, study)
    system = a_system(study, "lpgnn")
    twice = replace(answers["features"], users=np.zeros(NODES, dtype=np.int64))
    cases = [
        ("asks other questions than the study did", replace(system, epsilon_features=8.0), answers, known),
        ("This study did not collect neighbour lists", system, answers, known | {"graph": None}),
        ("This study did not collect labels", system, answers, known | {"labels": None}),
        ("the study has 300", system, answers, known | {"graph": social_graph(20, features=0, seed=0)}),
        ("one for training and one for validation", system, answers, known | {"labels": np.full(NODES, -1)}),
        ("one of 4 classes", system, answers, known | {"labels": np.full(NODES, 4)}),
        ("Nobody has reported", system, study.release.wire.unpack([], []), known),
        ("different ids", system, answers.with_part("features", twice), known),
        (
            "must answer features; they answer features, neighbours",
            system,
            answers.with_part("neighbours", play(lists)[1]["neighbours"]),
            known,
        ),
    ]
    for message, chosen, given, rest in cases:
        with pytest.raises(PrivetError, match=message):
            train(Received.of(study, given), chosen, **rest)
    private = a_system(lists, "solitude")
    with pytest.raises(InvalidData, match="This study collected private neighbour lists"):
        train(Received.of(lists, play(lists)[1]), private, **known)
    with pytest.raises(UnsuitableRelease, match="asks other questions"):
        train(Received.of(lists, play(lists)[1]), replace(private, degrees="reported"), labels=known["labels"])
    with pytest.raises(InvalidParameter, match="validation_share"):
        train(Received.of(study, answers), system, **known, validation_share=1.0)


def test_hidden_edges_do_not_describe_the_silent() -> None:
    """Link prediction embeds over some of the edges: features are completed over the same and no others."""
    study = a_study("privge")
    graph, answers = play(study, 0.5)
    system = a_system(study, "privge")
    assert isinstance(system, PrivGE)
    collected = Received.of(study, answers).collected(system, **public(graph, study))
    nobody = Graph.from_edges(np.zeros((2, 0), dtype=np.int64), NODES)
    silent = ~collected.answered()
    embedded = system.embed(collected, nobody).dense()[torch.from_numpy(silent)]
    assert (embedded == embedded[0]).all()
    assert not (system.embed(collected).dense()[torch.from_numpy(silent)] == embedded[0]).all(1).any()


@pytest.mark.parametrize("one_sided", [True, False])
def test_solitude_reads_counted_degrees_of_some_lists(one_sided: bool) -> None:
    study = a_study("solitude", one_sided=one_sided)
    graph, answers = play(study, 0.6)
    system = a_system(study, "solitude", degrees="counted")
    assert isinstance(system, Solitude)
    fitted = system.fit(Received.of(study, answers).collected(system, **public(graph, study)))
    assert fitted.score(graph.labels, np.ones(NODES, dtype=bool)) > 0.45


def test_the_split_is_seeded_and_of_labelled_nodes() -> None:
    study = a_study()
    graph, answers = play(study)
    known = public(graph, study)
    one, same, other = (
        Received.of(study, answers).collected(a_system(study, "lpgnn", seed=seed), **known).validation
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.sum() == round(0.25 * (known["labels"] >= 0).sum())
