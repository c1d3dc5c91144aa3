"""Rounds follow from public data by a rule: the same for everybody, and found out if somebody changes it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.operator import rounds
from privet.collection.operator.declaration import declare
from privet.collection.operator.export.public_record import copy_record, open_record
from privet.collection.operator.received import Received, planned_system
from privet.collection.operator.rounds import NoMoreRounds, next_round, recompute
from privet.collection.operator.training import train
from privet.collection.server.store.store import Store
from privet.collection.study.forms import OpenForm
from privet.data import Graph, social_graph
from privet.errors import InvalidData, PrivetError
from privet.mechanisms import SeededBits
from privet.release import PrivateData
from privet.release.blobs import array_digest, salt_of
from privet.systems import LPGNN, Inquiry, PrivGE, Structure, UnsuitableRelease

NOW = datetime.now(UTC).replace(microsecond=0)
PERIOD = (NOW - timedelta(hours=1), NOW + timedelta(days=1))
ABOUT = {
    "title": "Rounds",
    "purpose": "To be tested.",
    "operator": "privet developers",
    "eligible": "Simulated people.",
    "nodes": 160,
    "opens": PERIOD[0].isoformat(),
    "closes": PERIOD[1].isoformat(),
}
PANEL, ASKED = np.arange(0, 30), np.arange(30, 100)


@pytest.fixture(scope="module")
def graph():
    return social_graph(
        160, classes=3, average_degree=6, homophily=0.5, features=12, active_features=4, feature_signal=0.8, seed=1
    )


def play(store, graph):
    """Let everybody whom the store's round asks answer, without a network."""
    form, features = store.form, graph.features.toarray()
    others = np.setdiff1d(form.everybody(), form.panel)
    private = PrivateData.of(graph, others)
    bodies = form.release.wire.pack(form.release.perturb(private, SeededBits(3))) if form.release.questions else []
    open_form, row = OpenForm.of(store.study), graph.adjacency
    friends = [row.indices[row.indptr[node] : row.indptr[node + 1]].tolist() for node in form.panel]
    shown = [
        open_form.pack(features[node], int(graph.labels[node]), listed, int(node))
        for node, listed in zip(form.panel, friends, strict=True)
    ]
    store.insert([*others.tolist(), *form.panel.tolist()], [*bodies, *shown])


def opened(society, system, **given):
    first = declare(ABOUT, society.schema, system, **given)
    store = Store.open(":memory:", first.study)
    store.publish(*first.public)
    store.publish_asks(*first.asks)
    play(store, society)
    return store


@pytest.fixture(scope="module")
def played(graph):
    """A study of two rounds that everybody answered: labels and panel, then resemblance."""
    system = Inquiry(epsilon_features=3.0, epsilon_labels=3.0, panel=0.2, seed=0)
    store = opened(graph, system, graph=Graph(graph.adjacency), panel=PANEL, people=ASKED)
    second = next_round(store, *PERIOD)
    play(store.at(second), graph)
    return store, second


def test_the_second_round_follows_from_the_first(played, graph):
    store, second = played
    assert [question.name for question in second.release.questions] == ["resemblance"]
    assert second.earlier == (store.study.id,)
    assert store.is_closed()
    form = store.at(second).form
    assert not np.isin(form.people, PANEL).any()  # they have shown what is asked
    assert np.isin(np.arange(100, 160), form.people).mean() > 0.5
    collected = Received.at(store).collected(planned_system(second, store))
    assert collected.shown.users.tolist() == PANEL.tolist()
    assert collected.answers["label"].users.tolist() == ASKED.tolist()
    assert not collected.validation[PANEL].any()


def test_who_withdraws_while_the_next_round_is_computed_is_not_in_it(graph, monkeypatch):
    """Everybody's reported class is published for the count of friends; the erased person's must not be."""
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    store = opened(private, Inquiry(epsilon_labels=3.0, epsilon_edges=3.0, seed=0), people=ASKED)
    original, victim = rounds._drawn_up, int(ASKED[5])

    def slowly(*arguments):
        drawn_up = original(*arguments)
        store.forget(victim, "participant")
        return drawn_up

    monkeypatch.setattr(rounds, "_drawn_up", slowly)
    second = store.at(next_round(store, *PERIOD))
    table = second.form.release.question("friends").ask.attachment("table")
    assert (table[victim], table[ASKED[4]] >= 0) == (-1, True)
    store.dispose()


def test_a_study_whose_questions_are_all_asked_stays_open(played):
    store, second = played
    with pytest.raises(NoMoreRounds, match="train on the answers"):
        next_round(store, *PERIOD)
    assert not store.at(second).is_closed()


def test_anybody_computes_the_same_round(played):
    store, second = played
    (found,) = recompute(store)
    assert (found.study, found.differing) == (second, ())


def test_a_round_that_is_not_what_the_rule_says_is_found(played, graph):
    store, second = played
    copy = Store.open(":memory:", store.study)
    copy.publish_from(store)
    nodes, bodies = store.reports()
    features = graph.features.toarray()[nodes[0]]
    bodies[0] = OpenForm(store.study.declared).pack(features, (int(graph.labels[nodes[0]]) + 1) % 3)  # another class
    copy.insert(nodes, bodies)
    changed = copy.at(second)
    changed.publish_from(store.at(second))
    (found,) = recompute(copy)
    assert "resemblance.scorer" in found.differing


def test_a_model_of_all_rounds(played, graph):
    store, _ = played
    model = train(Received.at(store))
    assert [each.round for each in model.chain.rounds] == [1, 2]
    assert model.fitted.guarantee.epsilon == pytest.approx(6.0)
    assert model.facts.respondents == len(
        Received.at(store).collected(planned_system(store.study, store)).answered().nonzero()[0]
    )
    others = np.arange(100, 160)
    assert (model.fitted.predict() == graph.labels)[others].mean() > 0.5
    assert "private answers" in " ".join(model.summary())


def test_friends_are_asked_in_two_rounds_and_charged_once(graph):
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    labels = np.where(np.arange(160) < 100, graph.labels, -1)
    store = opened(private, Inquiry(epsilon_edges=2.0, seed=0), labels=labels)
    assert [question.name for question in store.study.release.questions] == ["friends"]
    second = next_round(store, *PERIOD)
    assert [question.name for question in second.release.questions] == ["friends-again"]
    play(store.at(second), private)
    chain = store.chain()
    assert chain.price.epsilon == store.study.price.epsilon == 4.0
    assert train(Received.at(store)).fitted.guarantee.epsilon == 4.0


@pytest.mark.parametrize("reads", ["friends", "everything"])
def test_everything_on_a_device_is_asked_in_two_waves_and_charged_once(graph, reads):
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    labels = np.where(np.arange(160) < 100, graph.labels, -1)
    panel = {"panel": PANEL} if reads == "everything" else {}
    system = Inquiry(epsilon_person=3.0, reads=reads, waves=2, seed=0, **({"panel": 0.2} if panel else {}))
    store, people = opened(private, system, labels=labels, **panel), []
    for name in ("person", "person-again"):
        if not store.study.release.asks(name):
            store = store.at(next_round(store, *PERIOD))
            play(store, private)
        people.append(store.form.release.question(name).ask.people())
    assert min(map(len, people)) > 20
    assert not np.intersect1d(*people).size
    assert not np.intersect1d(np.concatenate(people), PANEL if panel else []).size
    chain = store.chain()
    assert (chain.price.epsilon, chain.guarantee().relationship_epsilon) == (3.0, 6.0)
    tables = [store.at(each).form.release.questions[0].ask.attachment("table") for each in chain.rounds[-2:]]
    unlabelled = np.setdiff1d(people[0], np.arange(100))
    assert not tables[0][unlabelled].any()
    assert tables[1][unlabelled].any(axis=1).all()  # what the first wave's answers point to
    assert not tables[1][np.setdiff1d(people[1], np.arange(100))].any()
    shown = Received.at(store).collected(planned_system(store.study, store)).shown
    if panel:
        assert np.array_equal(shown.lists.toarray(), graph.adjacency[PANEL].toarray())
    assert [found.differing for found in recompute(store)] == [()] * (store.study.round - 1)
    model = train(Received.at(store))
    assert model.fitted.guarantee.unit == ("friend list" if reads == "friends" else "person")
    assert (model.fitted.predict() == graph.labels)[100:].mean() > 0.5


def test_a_pilot_is_drawn_by_lot(graph):
    labels = np.where(np.arange(160) < 100, graph.labels, -1)
    store = opened(graph, Inquiry(pilot=0.3, seed=0), graph=Graph(graph.adjacency), labels=labels)
    assert [question.name for question in store.study.release.questions] == ["features"]
    assert store.form.count == 48
    second = next_round(store, *PERIOD)
    assert not np.isin(store.at(second).form.people, store.form.people).any()


@pytest.mark.parametrize(
    ("system", "given", "words"),
    [
        ({"class_sums": 1.0}, {}, "needs a trusted aggregator or two servers, and a study has neither"),
        ({"server_sums": 1.0}, {}, "needs a trusted aggregator or two servers, and a study has neither"),
        ({"panel": 0.1}, {"panel": None}, "learns from a panel. Name the people"),
        ({"panel": 0.1, "epsilon_labels": 1.0}, {"labels": np.zeros(160, dtype=np.int64)}, "public labels"),
        ({"panel": 0.1, "epsilon_features": 1.0, "epsilon_edges": 1.0}, {}, "schema says that they are public"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(graph, system, given, words):
    given = {"graph": Graph(graph.adjacency), "panel": PANEL, "labels": None, **given}
    if "epsilon_labels" not in system and given["labels"] is None:
        given["labels"] = np.zeros(160, dtype=np.int64)
    with pytest.raises(InvalidData, match=words):
        declare(ABOUT, graph.schema, Inquiry(**system), **given)


def test_a_study_without_a_plan_has_one_round():
    store = Store.open(":memory:", make_study())
    with pytest.raises(NoMoreRounds, match="one round only"):
        next_round(store, *PERIOD)
    assert not store.is_closed()


def test_the_public_record_does_not_name_who_was_erased(tmp_path, graph):
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    system = Inquiry(epsilon_features=2.0, epsilon_edges=2.0, epsilon_labels=3.0, panel=0.2, seed=0)
    store = opened(private, system, panel=PANEL, people=ASKED)
    next_round(store, *PERIOD)
    for node in (3, 41, 77):
        store.forget(node, "participant")
    copy_record(store, tmp_path / "record")
    record = open_record(tmp_path / "record")
    assert {each.minute for each in record.erasures()} == {0}
    with pytest.raises(InvalidData, match="leaves out the tables of later rounds"):
        record.array(record.chain().newest.release.question("friends").ask.table)
    assert "friends.table" in recompute(record)[0].differing
    record.dispose()


@pytest.mark.parametrize("epsilon_edges", [None, 2.0])
def test_a_guess_cannot_be_tried_out_on_the_hashes_of_a_record(tmp_path, graph, epsilon_edges):
    """Rows of tables have few values: without salts, one hash would tell whether a person had reported a class."""
    society = graph.replace(schema=replace(graph.schema, private_edges=epsilon_edges is not None))
    system = Inquiry(epsilon_features=2.0, epsilon_edges=epsilon_edges, epsilon_labels=3.0, panel=0.2, seed=0)
    topology = Graph(graph.adjacency) if epsilon_edges is None else None
    store = opened(society, system, graph=topology, panel=PANEL, people=ASKED)
    second = next_round(store, *PERIOD)
    ask = store.at(second).form.release.questions[0].ask
    guesses = {ask.sealed({}).digest(name) for name in ask.attachments()}  # all of them right
    salts = list(ask.salts.values())
    if second.people is not None:
        guesses.add(array_digest(store.array(second.people)))
        salts.append(salt_of(store.blob(second.people)))
    assert not any(guess in second.canonical().decode() for guess in guesses)
    assert len(guesses) == len(set(salts)) >= 2  # one for each table
    assert {len(salt) for salt in salts} == {16}
    assert recompute(store)[0].differing == ()  # whoever has the tables has the salts
    copy_record(store, tmp_path / "before")
    store.forget(41, "participant")
    copy_record(store, tmp_path / "after")
    before, after = ((tmp_path / name).read_bytes() for name in ("before", "after"))
    assert all(salt.hex().encode() in before for salt in salts)
    assert not any(salt.hex().encode() in after or salt in after for salt in salts)


def test_the_public_record_tells_nothing_of_a_panel_member_who_was_erased(tmp_path, graph):
    """A scorer beside the rest of the panel tells of what the erased one showed, and who is asked tells who it was."""
    system = Inquiry(epsilon_features=3.0, epsilon_labels=3.0, panel=0.2, seed=0)
    store = opened(graph, system, graph=Graph(graph.adjacency), panel=PANEL, people=ASKED)
    second = next_round(store, *PERIOD)
    ask = second.release.question("resemblance").ask
    made = [digest for digest in (ask.scorer, ask.offers, second.people) if digest is not None]
    copy_record(store, tmp_path / "before")
    store.forget(3, "participant")
    copy_record(store, tmp_path / "after")
    with_all, without = open_record(tmp_path / "before"), open_record(tmp_path / "after")
    assert len(made) >= 2
    assert all(with_all.blob(digest) is not None for digest in made)
    assert not any(without.blob(digest) is not None for digest in made)
    for digest in (store.study.panel, store.study.people, store.study.inputs.edges):  # known before anybody answered
        assert without.array(digest) is not None
    assert recompute(with_all)[0].differing == ()
    assert "resemblance.scorer" in recompute(without)[0].differing
    with_all.dispose()
    without.dispose()


def test_a_round_that_cannot_be_computed_leaves_the_last_one_open(graph):
    system = Inquiry(epsilon_features=3.0, epsilon_labels=3.0, panel=0.2, seed=0)
    first = declare(ABOUT, graph.schema, system, graph=Graph(graph.adjacency), panel=PANEL, people=ASKED)
    store = Store.open(":memory:", first.study)
    store.publish(*first.public)
    with pytest.raises(PrivetError):
        next_round(store, *PERIOD)  # nobody has answered yet: somebody clicked too early
    assert not store.is_closed()


def test_training_reads_answers_with_the_scorer_that_was_asked_with(graph):
    system = Inquiry(epsilon_features=3.0, epsilon_labels=3.0, panel=0.2, seed=0)
    store = opened(graph, system, graph=Graph(graph.adjacency), panel=PANEL, people=ASKED)
    second = next_round(store, *PERIOD)
    play(store.at(second), graph)
    store.forget(int(PANEL[0]), "participant")
    planned = planned_system(second, store)
    scorer, _ = planned._scorer(Received.at(store).collected(planned))
    bound = store.at(second).form.release.question("resemblance").ask.scorer
    assert np.array_equal(scorer.weights, bound)
    only = int(graph.labels[PANEL[0]])  # the panel loses a whole class
    for node in PANEL[graph.labels[PANEL] == only]:
        store.forget(int(node), "participant")
    assert train(Received.at(store), predict_erased=True).fitted.predicted().all()


def test_people_who_were_erased_are_not_predicted_unless_asked_for(graph):
    system = Inquiry(epsilon_features=3.0, epsilon_labels=3.0, panel=0.2, seed=0)
    store = opened(graph, system, graph=Graph(graph.adjacency), panel=PANEL, people=ASKED)
    play(store.at(next_round(store, *PERIOD)), graph)
    gone = [int(PANEL[1]), int(ASKED[3])]
    for node in gone:
        store.forget(node, "participant")
    left, kept = train(Received.at(store)), train(Received.at(store), predict_erased=True)
    assert np.flatnonzero(~left.fitted.predicted()).tolist() == sorted(gone)
    assert (left.facts.erasures, left.facts.erased_left_out, kept.facts.erased_left_out) == (2, 2, 0)
    assert kept.fitted.predicted().all()
    for model, words in ((left, "makes no prediction for 2 of them"), (kept, "predicts 2 of them all the same")):
        assert words in " ".join(model.summary())
        assert "has seen none of them" not in " ".join(model.summary())


def test_a_system_of_one_round_is_a_study_with_nothing_more_to_ask(graph):
    """Any system is declared in the same way; another one that asks the same may be trained in its place."""
    labels = np.where(np.arange(160) < 100, graph.labels, -1)
    system = LPGNN(epsilon_features=4.0, max_epochs=3, seed=0)
    store = opened(graph, system, graph=Graph(graph.adjacency), labels=labels)
    assert [question.name for question in store.study.release.questions] == ["features"]
    assert not store.study.in_rounds
    with pytest.raises(NoMoreRounds, match="one round only"):
        next_round(store, *PERIOD)
    assert recompute(store) == []
    received = Received.at(store)
    assert received.system == system
    assert train(received).fitted.system == "lpgnn"
    other = Structure(seed=0)
    with pytest.raises(UnsuitableRelease, match="asks other questions"):
        train(received, other)
    chosen = PrivGE.from_release(store.study.release, max_epochs=3, seed=0)
    assert train(received, chosen).fitted.system == "privge"
    with pytest.raises(InvalidData, match="binds the public topology"):
        train(received, graph=Graph(graph.adjacency))
    store.dispose()


def test_public_data_of_one_round_may_be_given_when_the_model_is_trained(graph):
    store = opened(graph, LPGNN(epsilon_features=4.0, max_epochs=3, seed=0))
    labels = np.where(np.arange(160) < 100, graph.labels, -1)
    assert train(Received.at(store), graph=Graph(graph.adjacency), labels=labels).facts.respondents == 160
    with pytest.raises(InvalidData, match="Give the public topology"):
        train(Received.at(store), labels=labels)
    with pytest.raises(InvalidData, match="rounds are computed from the public topology"):
        declare(ABOUT, graph.schema, Inquiry(pilot=0.3, seed=0), labels=labels)
    store.dispose()
