"""Checks that every system must pass: its trust boundary, its promise, and its way from and to a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.auditing.attacks import KINDS, Coalition, Lies, aim_at, recruit
from privet.auditing.central.replay import replay
from privet.auditing.local.leaks import find_leaks
from privet.data import Graph
from privet.errors import InvalidData
from privet.mechanisms import SeededBits
from privet.privacy import Unit
from privet.release import Answers, LocalRelease, PrivateData
from privet.systems import CentralSystem, Collected, Fitted, LocalSystem
from privet.systems.collected import Shown, labelled, public_view
from privet.testing.mechanisms import require

__all__ = [
    "check_central_system",
    "check_collection",
    "check_liars",
    "check_local_system",
    "check_promise",
    "check_release",
    "check_rounds",
    "check_seeds",
    "check_test_labels",
    "check_trust_boundary",
]


def check_local_system(system: LocalSystem, graph: Graph) -> None:
    """Run every check on a local system.

    Args:
        system: The system, with settings that train in a moment; its seed is replaced.
        graph: A small graph with everything that the system needs. It is not changed.
    """
    seeded = replace(system, seed=0)
    fitted = check_promise(seeded, graph)
    check_release(seeded, graph)
    check_trust_boundary(seeded, graph, fitted)
    check_rounds(seeded, graph, fitted)
    check_test_labels(seeded, graph, fitted)
    check_collection(seeded, graph)
    check_seeds(seeded, graph)
    check_liars(seeded, graph)


def check_promise(system: LocalSystem, graph: Graph) -> Fitted:
    """Compare the promise before collection with that of the release, of the answers and of the result.

    Returns:
        The result for the first seed, which other checks compare theirs with.
    """
    collected = system.collect(graph, SeededBits(0))
    release = system.release(graph)
    require(collected.release.matches(release), f"{system.name} collects answers to another release than it states")
    promised, fitted = release.guarantee(), system.fit(collected)
    for found, where in (
        (system.guarantee(graph), "before collection"),
        (collected.guarantee(), "of its answers"),
        (fitted.guarantee, "of its result"),
    ):
        require(found == promised, f"the promise of {system.name} {where} is {found}, and of its release {promised}")
    require(collected.answers.checked() is not None, "answers that devices could not have sent")
    return fitted


def check_release(system: LocalSystem, graph: Graph) -> None:
    """Make the system again from its release, and pack and read the answers of some people."""
    release, kind = system.release(graph), type(system)
    settings = {k: v for k, v in system.settings().items() if k not in kind.decided_by(release)}
    again = kind.from_release(release, **settings)
    require(again.release(graph).matches(release), f"{system.name} made from its own release asks something else")
    collected = system.collect(graph, SeededBits(1))
    for question in collected.release.questions:  # nobody need be asked everything, so each has bodies of its own
        alone, answer = LocalRelease((question,), release.population), collected.answers[question.name]
        part = answer.take(np.arange(min(5, len(answer))))
        bodies = alone.wire.pack(Answers(alone, {question.name: part}))
        read = alone.wire.unpack(part.users, bodies)
        require(alone.wire.pack(read) == bodies, f"answers to {system.name} are others after a round trip")


def check_trust_boundary(system: LocalSystem, graph: Graph, fitted: Fitted | None = None) -> None:
    """Replace every private field by NaN after collection: what is learned must stay the same.

    Features and classes that some people show were copied while they were collected, or this check finds out.

    Args:
        graph: The graph; it is not changed.
        fitted: The result for the first seed (default: fit it).
    """
    before, mine = _fitted(system, graph) if fitted is None else fitted, _copy(graph)
    collected = system.collect(mine, SeededBits(0))
    _spoil(mine, system.release(graph))
    same = _equal(system.fit(collected), before)
    require(same, f"{system.name} reads private fields after they were collected")
    require(collected.public.features is None, f"{system.name} hands raw features to the server")


def check_rounds(system: LocalSystem, graph: Graph, fitted: Fitted | None = None) -> None:
    """Give every round the private fields that it asks for, of those whom it asks: nothing may come out otherwise.

    All other features are NaN, all other classes false and all other lists empty. A round that reads a field before or
    after the round that asks for it, or of somebody else, is found.

    Args:
        graph: The graph; it is not changed.
        fitted: The result for the first seed (default: fit it).
    """
    before, whole = _fitted(system, graph) if fitted is None else fitted, system.collect(graph, SeededBits(0))
    bits, showing, able = SeededBits(0), system.shows(graph), np.flatnonzero(labelled(graph))
    shown = None if showing is None else Shown.of(graph, showing)
    blind = system.opened(public_view(graph, system.release(graph)), shown, system.sums(graph, bits))
    while (release := system.next_round(blind)) is not None:
        asked = {question.name: system.asked(question, blind, able) for question in release.questions}
        blind = blind.joined(release.perturb(_seen_by(release, asked, graph), bits, asked))
    read = f"a round of {system.name} reads private fields that it does not ask for"
    require(list(whole.answers) == list(blind.answers) and _same_answers(whole, blind), read)
    for one, other in zip(whole.release.questions, blind.release.questions, strict=True):
        for name in one.ask.attachments():
            ours, theirs = getattr(one.ask, name), getattr(other.ask, name)
            require(ours is theirs or np.array_equal(ours, theirs), f"{read}: '{name}' of '{one.name}' differs")
    require(_equal(system.fit(blind), before), read)


def _seen_by(release: LocalRelease, asked: Mapping[str, NDArray[np.int64]], graph: Graph) -> PrivateData:
    """Return the private data of everybody with the fields that a round asks for, and nothing true besides."""

    def asks(unit: Unit) -> NDArray[np.bool_]:
        found = np.zeros(graph.num_nodes, dtype=np.bool_)
        for question in release.questions:
            if question.ask.unit.covers(unit):
                found[asked[question.name]] = True
        return found

    features, labels = graph.features, graph.labels
    if features is not None:
        rows = sp.csr_array(features).toarray().astype(np.float32)
        rows[~asks(Unit.FEATURES)] = np.nan
        features = sp.csr_array(rows)
    if labels is not None and graph.schema is not None:
        labels = np.where(asks(Unit.LABEL) | (labels < 0), labels, (labels + 1) % graph.schema.classes)
    lists = sp.csr_array(sp.diags_array(asks(Unit.NEIGHBOUR_BIT).astype(np.float32), format="csr") @ graph.adjacency)
    lists.eliminate_zeros()
    lists.sort_indices()
    return PrivateData(np.arange(graph.num_nodes), features, labels, lists)


def check_test_labels(system: LocalSystem, graph: Graph, fitted: Fitted | None = None) -> None:
    """Change the labels of test nodes: neither the answers nor what is learned may depend on them.

    Args:
        fitted: The result for the first seed (default: fit it).
    """
    if graph.labels is None or graph.split is None or graph.schema is None:
        return
    changed = np.where(graph.split.test, (graph.labels + 1) % graph.schema.classes, graph.labels)
    before = _fitted(system, graph) if fitted is None else fitted
    require(
        _equal(_fitted(system, graph.replace(labels=changed)), before),
        f"{system.name} depends on the labels of test nodes",
    )


def check_collection(system: LocalSystem, graph: Graph) -> None:
    """Simulate the collection with other private data and the same reports: the server must receive the same.

    A system with a trusted aggregator is not checked, since that one sees raw data.

    Args:
        graph: Topology, classes and split of the people; their private data are replaced.
    """
    if not system.release(graph).aggregated:
        found = find_leaks(system, graph)
        require(found.holds, found.problem)


def check_seeds(system: LocalSystem, graph: Graph) -> None:
    """Collect and fit twice with one seed and once with another: the first two agree, the third differs."""
    first, again, other = (replace(system, seed=seed) for seed in (0, 0, 1))
    collected = [each.collect(graph) for each in (first, again, other)]
    require(_same_answers(*collected[:2]), f"{system.name} collects other answers with the same seed")
    if len(collected[1].answers.users):
        require(not _same_answers(*collected[1:]), f"{system.name} collects the same answers with another seed")
    fits = [each.fit(data) for each, data in ((first, collected[0]), (again, collected[1]))]
    require(_equal(*fits), f"{system.name} learns something else with the same seed")


def check_liars(system: LocalSystem, graph: Graph) -> None:
    """Let some people lie in every way: devices could have sent what they send, and nobody else's answers change."""
    liars = recruit(graph, 0.2, seed=0)
    coalition = Coalition.of(graph, system.release(graph), liars)
    aim = aim_at("accuracy", coalition, graph.schema.classes if graph.schema is not None else 2)

    def checked(lies: Lies, answers: Answers) -> Answers:
        altered = lies(answers)
        altered.checked()
        for name, answer in answers.items():
            others = np.flatnonzero(~np.isin(answer.users, liars))
            same = altered[name].reports.take(others) == answer.reports.take(others)
            require(same, f"liars change the answers of honest people to {system.name}")
        return altered

    for kind in KINDS:
        lies = Lies(coalition, aim, kind)  # type: ignore[arg-type]
        system.collect(graph, SeededBits(0), altered=partial(checked, lies))


def _fitted(system: LocalSystem, graph: Graph) -> Fitted:
    return system.fit(system.collect(graph, SeededBits(0)))


def _copy(graph: Graph) -> Graph:
    parts: dict[str, Any] = {"adjacency": graph.adjacency.copy()}
    for name in ("features", "labels"):
        value = getattr(graph, name)
        parts[name] = None if value is None else value.copy()
    return graph.replace(**parts)


def _spoil(graph: Graph, release: LocalRelease) -> None:
    """Overwrite the memory of every private field; public edges are not private."""
    private = [graph.features] if graph.features is not None else []
    if release.asks_about(Unit.NEIGHBOUR_BIT):
        private.append(graph.adjacency)
        _writeable(graph.adjacency.indices)[:] = 0
    for matrix in private:
        _writeable(matrix if isinstance(matrix, np.ndarray) else matrix.data)[:] = np.nan
    if graph.labels is not None:
        _writeable(graph.labels)[:] = 10**6


def _writeable(array: Any) -> Any:
    array.flags.writeable = True
    return array


def _equal(one: Fitted, other: Fitted) -> bool:
    return np.array_equal(one.predict_proba(), other.predict_proba(), equal_nan=True)


def _same_answers(one: Collected, other: Collected) -> bool:
    return all(
        np.array_equal(one.answers[name].users, other.answers[name].users)
        and one.answers[name].reports == other.answers[name].reports
        for name in one.answers
    )


def check_central_system(system: CentralSystem, graph: Graph, *, nodes: int = 3, seed: int = 0) -> None:
    """Replay the training without some nodes, one at a time: sums, control flow and results must allow for it.

    Args:
        system: The system, with a noise multiplier and settings that train in a moment; its seed is replaced.
        graph: A small graph with everything that the system needs. It is not changed.
        nodes: The number of training nodes to try, those of the largest degrees (default 3).
        seed: The seed of coins and noise (default 0).
    """
    if graph.split is None:
        raise InvalidData("This graph has no split, so there is no training node to leave out. Use split_nodes.")
    candidates = np.flatnonzero(graph.split.train)
    tried = candidates[np.argsort(-graph.degrees[candidates], kind="stable")][:nodes]
    for node in tried:
        found = replay(system, graph, int(node), seed)
        require(found.holds, f"{system.name} does not protect node {node}: {'; '.join(found.problems)}")
        require(any(move.moved for move in found.moves), f"node {node} never took part in {system.name}: nothing shown")
