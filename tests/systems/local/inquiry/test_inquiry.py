"""Inquiry: what each round reads, whom it asks, what it promises, what it refuses, and that answers help."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter, InvalidReports
from privet.evaluation import evaluate
from privet.mechanisms import Counts, Reports, SeededBits
from privet.release import Answer, Answers, PrivateData, Question
from privet.release.asks import friends
from privet.release.asks.friends import Friends
from privet.release.asks.resemblance import Resemblance
from privet.systems.collected import labelled, public_view
from privet.systems.local.inquiry import Inquiry
from privet.testing.systems import check_rounds

WIDTH, CLASSES = 12, 3


@cache
def make_graph(num_nodes: int = 160, private_edges: bool = False) -> Graph:
    graph = social_graph(
        num_nodes, classes=CLASSES, average_degree=8, homophily=0.8, features=WIDTH, feature_signal=0.9, seed=0
    )
    schema = replace(graph.schema, private_edges=private_edges)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0), schema=schema)


def graph_for(system: Inquiry, num_nodes: int = 160) -> Graph:
    return make_graph(num_nodes, system.hides_edges)


def inquiry(**settings: Any) -> Inquiry:
    asked = {} if "epsilon_person" in settings else {"epsilon_features": 2.0}
    return Inquiry(**{**asked, "seed": 0, **settings})


WEIGHTS = np.vstack([np.arange(WIDTH)[:, None] % CLASSES == np.arange(CLASSES), np.zeros(CLASSES)]).astype(np.int32)


def by_function(features: Any) -> NDArray[np.float64]:
    return np.tanh(np.asarray(features @ WEIGHTS[:-1]) - 1)


FRIENDS_ONLY = {"epsilon_edges": 1.0, "epsilon_features": None}
KINDS: dict[str, dict[str, Any]] = {
    "panel": {"panel": 0.3},
    "pilot": {"pilot": 0.3},
    "class sums": {"class_sums": 2.0},
    "sums by two servers": {"server_sums": 2.0},
    "given matrix": {"scorer": WEIGHTS},
    "given function": {"scorer": by_function},
    "everybody": {"panel": 0.3, "everybody": True},
    "friends": FRIENDS_ONLY,
    "friends and public features": {**FRIENDS_ONLY, "public_features": True},
    "both": {"epsilon_edges": 1.0, "panel": 0.3},
    "both with a pilot": {"epsilon_edges": 1.0, "pilot": 0.3},
    "private labels": {"panel": 0.3, "epsilon_labels": 3.0},
    "everything private": {"epsilon_edges": 1.0, "epsilon_labels": 3.0, "pilot": 0.3},
    "subsets": {"panel": 0.3, "subsets": True},
    "person": {"epsilon_person": 2.0, "panel": 0.3},
    "person in two waves": {"epsilon_person": 2.0, "panel": 0.3, "waves": 2},
    "person, features alone": {"epsilon_person": 2.0, "panel": 0.3, "reads": "features"},
    "person, friends alone": {"epsilon_person": 2.0, "reads": "friends", "waves": 2, "subsets": True},
    "person, friends and public features": {"epsilon_person": 2.0, "reads": "friends", "public_features": True},
    "person, given matrix": {"epsilon_person": 2.0, "scorer": WEIGHTS},
    "person, given function": {"epsilon_person": 2.0, "scorer": by_function},
    "person, private labels": {"epsilon_person": 2.0, "panel": 0.3, "epsilon_labels": 3.0},
}


# The boundary of every round


@pytest.mark.parametrize("kind", KINDS)
def test_each_round_reads_nothing_but_what_it_asks_of_those_whom_it_asks(kind: str) -> None:
    system = inquiry(**KINDS[kind])
    check_rounds(system, graph_for(system))


@pytest.mark.parametrize("kind", KINDS)
def test_what_some_people_show_is_copied(kind: str) -> None:
    system = inquiry(**KINDS[kind])
    graph = graph_for(system)
    collected = system.collect(graph, SeededBits(0))
    assert collected.public.features is None
    assert (collected.public.labels[graph.split.test] == -1).all()
    assert (collected.seen_labels()[graph.split.test] == -1).all()
    if system.hides_edges:
        assert collected.public.adjacency.nnz == 0
    if collected.shown is not None:
        assert not np.shares_memory(collected.shown.features.data, graph.features.data)
        assert not np.shares_memory(collected.shown.labels, graph.labels)


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_answers_anything_twice(kind: str) -> None:
    system = inquiry(**KINDS[kind])
    collected = system.collect(graph_for(system), SeededBits(0))
    answers = collected.answers
    assert answers.checked() is not None
    assert set(answers) == {question.name for question in system.release(graph_for(system)).questions}
    if "person" in answers:
        unlabelled = np.flatnonzero(graph_for(system).split.test)
        waves = [answers[name].users for name in ("person", "person-again") if name in answers]
        assert np.isin(unlabelled, np.concatenate(waves)).any()
    if "person-again" in answers:
        first, second = answers["person"].users, answers["person-again"].users
        assert min(len(first), len(second)) > 0
        assert not np.intersect1d(first, second).size
    resemble = answers["resemblance"].users if "resemblance" in answers else np.zeros(0, dtype=int)
    if collected.shown is not None and not system.public_features:
        assert not np.intersect1d(answers.users, collected.shown.users).size or system.epsilon_edges is not None
        assert not np.intersect1d(resemble, collected.shown.users).size
        if system.epsilon_person is not None:
            assert not np.intersect1d(collected.answers["person"].users, collected.shown.users).size
    if system.pilot is not None:
        assert not np.intersect1d(resemble, answers["features"].users).size
    rounds = [collected.release.question(n).ask for n in ("friends", "friends-again") if n in answers]
    friends.check_rounds(rounds)
    for ask in rounds:
        assert np.array_equal(answers[ask.name].users, np.flatnonzero(ask.attachment("ranks") > 0))


# Whom it asks, and what it promises


def test_the_promise_by_unit() -> None:
    def promise(**settings: Any) -> tuple[float, float | None]:
        system = inquiry(**settings)
        found = system.guarantee(graph_for(system))
        return found.epsilon, found.relationship_epsilon

    assert promise(panel=0.2) == (2.0, None)
    assert promise(pilot=0.2) == (2.0, None)  # either a report or an answer
    assert promise(**FRIENDS_ONLY) == (2.0, 2.0)  # two rounds, one price, at both ends
    assert promise(**FRIENDS_ONLY, public_features=True) == (2.0, 2.0)
    assert promise(epsilon_edges=1.0, pilot=0.2, epsilon_labels=0.5) == (4.5, 2.0)
    assert Inquiry().epsilon_features == 1.0
    assert Inquiry(epsilon_edges=2.0).epsilon_features is None


def test_what_is_shown_is_said() -> None:
    def said(**settings: Any) -> str:
        system = inquiry(**settings)
        return " ".join(system.guarantee(graph_for(system)).unprotected)

    assert "features and classes of the panel (20 % of people), who agreed" in said(panel=0.2)
    assert "the panel (3 people)" in said(panel=(1, 2, 3))
    assert "everybody's features" in said(**FRIENDS_ONLY, public_features=True)
    assert "trusted aggregator" in said(class_sums=1.0)
    assert "both servers together" in said(server_sums=1.0)
    assert "aggregator" not in said(server_sums=1.0)
    for settings in ({"pilot": 0.2}, {"scorer": WEIGHTS}, FRIENDS_ONLY):
        assert "panel" not in said(**settings)


def test_class_sums_are_refused_where_labels_are_private() -> None:
    with pytest.raises(InvalidParameter, match="Class sums are made by true class, and labels are private"):
        inquiry(class_sums=1.0, epsilon_labels=1.0)
    with pytest.raises(InvalidParameter, match="Class sums are made by true class, and labels are private"):
        inquiry(server_sums=1.0, epsilon_labels=1.0)


def test_branches_of_a_round_learn_on_their_own() -> None:
    system, graph = inquiry(**FRIENDS_ONLY), graph_for(inquiry(**FRIENDS_ONLY))
    opened = system.opened(public_view(graph, system.release(graph)))
    first = system.next_round(opened)
    assert first is not None
    people = {question.name: system.invited(question, opened) for question in first.questions}
    tables = []
    for seed in (1, 2):
        joined = opened.joined(first.perturb(PrivateData.of(graph), SeededBits(seed), people))
        second = system.next_round(joined)
        assert second is not None
        tables.append(second.questions[0].ask.attachment("table"))
    assert not np.array_equal(*tables)


def test_nobody_is_asked_one_question_twice() -> None:
    system, graph = inquiry(), graph_for(inquiry())
    collected = system.collect(graph, SeededBits(0))
    users = collected.answers["resemblance"].users[:1]
    with pytest.raises(InvalidData, match="answered twice by one person"):
        collected.release.perturb(PrivateData.of(graph), SeededBits(0), {"resemblance": np.repeat(users, 3)})


def test_class_sums_have_a_central_line_of_their_own() -> None:
    system, graph = inquiry(class_sums=1.5), graph_for(inquiry())
    local, central = system.lines(graph)
    assert (local.epsilon, central.part) == (2.0, "class sums (central)")
    assert central.epsilon == pytest.approx(1.5, rel=1e-3)
    assert central.epsilon <= 1.5
    assert central.delta > 0
    promised = system.guarantee(graph)  # labelled people are in the sums and may answer: both prices
    assert promised.epsilon == pytest.approx(2.0 + central.epsilon)
    assert promised.delta == central.delta
    assert system.release(graph).price.epsilon == promised.epsilon
    collected = system.collect(graph, SeededBits(0))
    assert collected.lines() == system.fit(collected).lines == system.lines(graph)


def test_whoever_is_sure_and_has_no_open_neighbour_is_not_asked() -> None:
    graph = graph_for(inquiry(), 400)
    few, all_ = (
        inquiry(panel=0.2, everybody=everybody, epsilon_features=0.2).collect(graph, SeededBits(0))
        for everybody in (False, True)
    )
    unlabelled, shown = np.flatnonzero(graph.split.test), few.shown.users
    assert set(unlabelled) <= set(all_.answers["resemblance"].users)
    spared = np.setdiff1d(unlabelled, few.answers["resemblance"].users)
    assert len(spared) > 0
    prior = few.learned["prior"]
    gap = np.diff(np.sort(prior, axis=1)[:, -2:], axis=1).ravel()
    open_ = graph.split.test & (gap <= 0.4)
    for person in spared:
        assert not open_[person]
        assert not open_[np.flatnonzero(graph.adjacency[[person]].toarray().ravel())].any()
    assert not np.intersect1d(few.answers["resemblance"].users, shown).size
    system = inquiry(panel=0.2, epsilon_features=0.2)
    share = system.fit(few).facts["asked"]
    assert share == len(few.answers.users) / 400 < 1


def test_a_panel_is_a_share_a_mask_or_ids() -> None:
    graph = graph_for(inquiry())
    known = np.flatnonzero(labelled(graph))[::2]
    mask = np.zeros(graph.num_nodes, dtype=np.bool_)
    mask[known] = True
    by_ids, by_mask = inquiry(panel=known), inquiry(panel=mask)
    assert by_ids == by_mask
    assert by_ids.settings()["panel"] == known.tolist()
    assert np.array_equal(by_ids.collect(graph, SeededBits(0)).shown.users, known)
    drawn = inquiry(panel=0.25).collect(graph, SeededBits(0)).shown.users
    assert len(drawn) == 40
    assert graph.split.train[drawn].all()


def test_stored_figures_of_different_scorers_are_told_apart() -> None:
    def named(scorer: Any) -> str:
        found = inquiry(scorer=scorer).settings()["scorer"]
        assert isinstance(found, str)
        return found

    assert named(WEIGHTS) == named(WEIGHTS.copy()) != named(WEIGHTS + 1)
    assert named(by_function) != named(WEIGHTS)
    assert "by_function" in named(by_function)
    assert inquiry(panel=0.2).settings()["scorer"] is None


# What it refuses


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"panel": 0.1, "pilot": 0.1}, "Give panel or pilot, not both"),
        ({"scorer": WEIGHTS, "class_sums": 1.0}, "Give class_sums or scorer, not both"),
        ({"panel": 0.1, **FRIENDS_ONLY}, "panel makes a scorer for the question about features, which is not asked"),
        ({"public_features": True}, "Give epsilon_edges, or epsilon_person"),
        ({"public_features": True, "epsilon_edges": 1.0}, "only friends can be asked about"),
        ({"public_features": True, "epsilon_features": None}, "only friends can be asked about"),
        ({"panel": 1.0}, "a share of people between 0 and 1"),
        ({"panel": 0.0}, "a share of people between 0 and 1"),
        ({"pilot": -0.5}, "a share of people between 0 and 1"),
        ({"class_sums": 0.0}, "class_sums must be a number above 0"),
        ({"calibrators": 0.0}, "calibrators must be"),
        ({"cap": 0}, "cap must be"),
        ({"epsilon_edges": -1.0}, "epsilon_edges must be"),
    ],
)
def test_settings_that_contradict_each_other_are_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence) as refusal:
        inquiry(**settings)
    assert "\n" not in str(refusal.value)


class Untouched(SeededBits):
    """Bits of which none may be drawn."""

    def below(self, *_: Any) -> Any:
        pytest.fail("a refused collection asked somebody")


def one_class(graph: Graph) -> tuple[int, ...]:
    return tuple(np.flatnonzero(labelled(graph) & (graph.labels == 1)).tolist())


def unlabelled(graph: Graph) -> tuple[int, ...]:
    return (int(np.flatnonzero(graph.split.test)[0]),)


@pytest.mark.parametrize("lists", [None, 1.0], ids=["public lists", "private lists"])
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"panel": one_class}, r"A panel needs people of at least two classes and has people of one class\."),
        ({"panel": unlabelled}, "panel must be ids of training or validation nodes that have a class"),
        ({"panel": (10**6,)}, "panel must be ids of training or validation nodes"),
        ({"panel": (-1,)}, "panel must be ids of training or validation nodes"),
        ({"panel": ()}, "panel must be ids of training or validation nodes"),
        ({"pilot": 0.001}, "A pilot needs people of at least two classes"),
        ({"scorer": WEIGHTS[:-1]}, r"scorer must be \(12 features \+ 1 row"),
        ({"scorer": WEIGHTS[:, :2]}, r"x 3 classes, finite, not shape \(13, 2\)"),
        ({"scorer": np.full(WEIGHTS.shape, np.nan)}, "finite"),
    ],
)
def test_without_a_scorer_nobody_is_asked_anything(
    settings: dict[str, Any], sentence: str, lists: float | None
) -> None:
    (name, value), graph = *settings.items(), make_graph(160, lists is not None)
    system = inquiry(**{name: value(graph) if callable(value) else value}, epsilon_edges=lists)
    with pytest.raises((InvalidData, InvalidParameter), match=sentence):
        system.collect(graph, Untouched(0))


@pytest.mark.parametrize("settings", [{}, {"pilot": 0.2}, {"class_sums": 1.0}], ids=["panel", "pilot", "sums"])
def test_a_class_that_nobody_shows_is_never_offered_and_the_result_says_so(settings: dict[str, Any]) -> None:
    graph = graph_for(inquiry())
    rare = np.where(labelled(graph) & (graph.labels == 1), 0, graph.labels)  # nobody in training, some in the test
    system = inquiry(**settings, everybody=True)
    collected = system.collect(graph.replace(labels=rare), SeededBits(0))
    offers = collected.release.question("resemblance").ask.attachment("offers")
    assert set(np.unique(offers)) == {-1, 0, 2}
    fitted = system.fit(collected)
    assert fitted.facts["never_offered_1"] == 1.0
    assert np.isfinite(fitted.probabilities).all()


def test_a_panel_of_one_class_in_a_later_seed_is_found_before_anything_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = graph_for(inquiry())
    rare = np.where(np.arange(graph.num_nodes) % 4 == 3, 1, 0)  # some panels of four people have nobody of class 1
    given = graph.replace(labels=rare, split=None)
    panels = {seed: inquiry(panel=0.025, seed=seed) for seed in range(40)}
    views = {seed: given.replace(split=split_nodes(given, seed=seed)) for seed in panels}
    kinds = {seed: len(set(rare[system._panel(views[seed])].tolist())) for seed, system in panels.items()}
    good, bad = (next(seed for seed, kind in kinds.items() if kind == number) for number in (2, 1))
    monkeypatch.setattr(Inquiry, "fit", lambda *_, **__: pytest.fail("trained"))
    with pytest.raises(InvalidData, match="A panel needs people of at least two classes"):
        evaluate(inquiry(panel=0.025), given, [good, bad], controls=False)


def test_a_function_of_too_few_classes_is_refused_before_it_is_answered() -> None:
    system = inquiry(scorer=lambda rows: by_function(rows)[:, :2])
    with pytest.raises(InvalidData, match="offered classes must be classes below 2, which have a score"):
        system.collect(graph_for(system), Untouched(0))


def test_a_table_with_classes_outside_the_schema_is_refused() -> None:
    table, ranks = np.array([0, 3, -1]), np.array([0, 1, 2])
    with pytest.raises(InvalidParameter, match="table must be -1 or a class below 3"):
        Question(Friends(table, ranks), Counts(epsilon=1.0, classes=3))


def test_counts_above_the_cap_are_refused() -> None:
    system = inquiry(**FRIENDS_ONLY, cap=4)
    collected = system.collect(graph_for(system), SeededBits(0))
    part = collected.answers["friends"]
    symbols = part.reports.symbols.copy()
    symbols[3, 1] = 5
    strange = collected.answers.with_part("friends", Answer(part.users, Reports(3, symbols)))
    with pytest.raises(InvalidReports, match="cannot have sent"):
        strange.checked()
    with pytest.raises(InvalidReports, match="cannot have sent"):
        system.fit(replace(collected, answers=strange, learned={}))
    with pytest.raises(InvalidData, match=r"Counts takes counts from 0 to 4; row 0"):
        Counts(epsilon=1.0, classes=2, cap=4).perturb(np.array([[5, 0]]), Untouched(0))


def test_where_nobody_counts_friends_the_rest_is_used_or_it_is_said() -> None:
    def nobody(answers: Answers) -> Answers:
        return Answers(answers.release, {name: part.take(np.arange(0)) for name, part in answers.items()})

    system = inquiry(**FRIENDS_ONLY, public_features=True)
    collected = system.collect(graph_for(system), SeededBits(0), altered=nobody)
    np.testing.assert_allclose(system.fit(collected).predict_proba(), np.exp(collected.learned["features"]), atol=1e-6)
    alone = inquiry(**FRIENDS_ONLY)
    with pytest.raises(InvalidData, match="Nobody answered the friend question"):
        alone.collect(graph_for(alone), SeededBits(0), altered=nobody)


def test_answers_among_other_options_than_the_offered_ones_are_refused() -> None:
    system = inquiry(panel=0.3)
    graph = graph_for(system)
    collected = system.collect(graph, SeededBits(0))
    question, part = collected.release.question("resemblance"), collected.answers["resemblance"]
    answers = np.stack([np.zeros(len(part), dtype=np.int64), 5 - question.ask.options()[part.users]], axis=1)
    other = question.mechanism.perturb(answers, SeededBits(0))  # 2 in place of 3 options, and 3 in place of 2
    strange = replace(collected, answers=collected.answers.with_part("resemblance", Answer(part.users, other)))
    with pytest.raises(InvalidReports, match="'resemblance' with a class that they were not offered"):
        system.fit(strange)


def test_answers_of_another_system_and_directed_graphs_are_refused() -> None:
    from privet.systems import LPGNN

    graph = graph_for(inquiry())
    with pytest.raises(InvalidData, match="inquiry did not ask for features"):
        inquiry().fit(LPGNN(seed=0).collect(graph))
    system = inquiry(**FRIENDS_ONLY)
    directed = Graph.from_edges([[0, 1], [1, 2]], 160, directed=True)
    given = directed.replace(**{n: getattr(graph, n) for n in ("features", "labels", "split", "schema")})
    with pytest.raises(InvalidData, match="this graph is directed"):
        system.collect(given, Untouched(0))


def test_a_release_makes_the_system_again_and_the_scorer_is_not_taken_for_a_setting() -> None:
    graph, system = graph_for(inquiry()), inquiry(scorer=WEIGHTS)
    collected = system.collect(graph, SeededBits(0))
    for release in (system.release(graph), collected.release):
        again = Inquiry.from_release(release, scorer=WEIGHTS, seed=0)
        assert again.epsilon_features == 2.0
        assert again.scorer is WEIGHTS
    edges = inquiry(**FRIENDS_ONLY, cap=7)
    assert Inquiry.from_release(edges.release(graph_for(edges))).cap == 7


# That answers help


def accuracy(system: Inquiry, graph: Graph) -> float:
    return system.fit(system.collect(graph, SeededBits(0))).score(graph.labels, graph.split.test)


@pytest.mark.parametrize("source", [{"panel": 0.2}, {"scorer": WEIGHTS}, {"scorer": by_function}, {"class_sums": 8.0}])
def test_answers_help_where_the_graph_tells_little(source: dict[str, Any]) -> None:
    graph = social_graph(600, classes=3, average_degree=6, homophily=0.45, features=12, feature_signal=0.9, seed=1)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    weak, strong = (accuracy(inquiry(**source, epsilon_features=e), graph) for e in (0.05, 5.0))
    assert strong > weak + 0.15
    assert strong > 0.75


def test_friends_help_where_nothing_else_is_known() -> None:
    graph = make_graph(600, True)
    weak, strong = (accuracy(inquiry(**FRIENDS_ONLY | {"epsilon_edges": e}), graph) for e in (0.05, 4.0))
    assert strong > weak + 0.15
    both = accuracy(inquiry(epsilon_edges=4.0, epsilon_features=4.0, scorer=WEIGHTS), graph)
    assert both > strong


def test_resemblance_is_drawn_up_from_the_prior_by_then() -> None:
    system = inquiry(panel=0.3)
    collected = system.collect(graph_for(system), SeededBits(0))
    ask = collected.release.question("resemblance").ask
    assert isinstance(ask, Resemblance)
    likeliest = collected.learned["prior"].argmax(axis=1)
    asked = collected.answers["resemblance"].users
    assert all(likeliest[i] in ask.attachment("offers")[i] for i in asked)
