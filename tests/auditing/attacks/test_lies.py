from __future__ import annotations

import numpy as np
import pytest
from village import village

from privet.auditing.attacks import KINDS, Coalition, Lies, aim_at
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.systems import LPGNN, Inquiry, LocalSystem, Solitude

SYSTEMS = [LPGNN(), Solitude(epsilon_edges=3.0), Inquiry(epsilon_edges=2.0)]
LIARS = np.arange(0, 60, 5)


def lies(system: LocalSystem, kind: str, **rest: object) -> tuple[Lies, Coalition]:
    graph = village()
    coalition = Coalition.of(graph, system.release(graph), LIARS)
    return Lies(coalition, aim_at("accuracy", coalition, 3), kind, **rest), coalition


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "system", [LPGNN(), Solitude(epsilon_edges=3.0), Inquiry(epsilon_edges=2.0)], ids=lambda s: s.name
)
def test_lies_are_possible_and_touch_nobody_else(system: LocalSystem, kind: str) -> None:
    told, _ = lies(system, kind)
    graph = village()
    honest, altered = (system.collect(graph, SeededBits(0), altered=each) for each in (lambda a: a, told))
    altered.answers.checked()
    first = next(iter(honest.answers))  # later rounds depend on what was answered before
    others = np.flatnonzero(~np.isin(honest.answers[first].users, LIARS))
    assert altered.answers[first].reports.take(others) == honest.answers[first].reports.take(others)


@pytest.mark.parametrize("kind", ["report", "input"])
def test_liars_read_nobody_elses_data(kind: str) -> None:
    graph, system = village(), LPGNN()
    features = graph.features.toarray()
    features[np.setdiff1d(np.arange(60), LIARS)] = 0.0
    other = graph.replace(features=features)
    found = []
    for each in (graph, other):
        coalition = Coalition.of(each, system.release(each), LIARS)
        told = Lies(coalition, aim_at("accuracy", coalition, 3), kind)
        answers = system.collect(each, SeededBits(0), altered=told).answers["features"]
        found.append(answers.reports.take(LIARS))
    assert found[0] == found[1]


def test_counts_claim_friends_everywhere_but_in_the_own_class() -> None:
    system = Inquiry(epsilon_edges=2.0, cap=6)
    told, coalition = lies(system, "report")
    answer = system.collect(village(), SeededBits(0), altered=told).answers["friends"]
    rows = np.flatnonzero(np.isin(answer.users, LIARS))
    own = coalition.own[np.searchsorted(LIARS, answer.users[rows])]
    assert len(rows)
    assert (answer.reports.symbols[rows] == 6 * (1 - np.eye(3, dtype=int)[own])).all()


def test_sleepers_of_public_class_say_what_is_true() -> None:
    told, coalition = lies(Inquiry(epsilon_edges=2.0), "sleeper")
    public = coalition.labels[LIARS] >= 0
    wanted = told._wanted(np.arange(len(LIARS)))
    assert (wanted[public] == coalition.own[public]).all()
    assert (wanted[~public] == (coalition.own[~public] + 1) % 3).all()


def test_accounts_name_few_people() -> None:
    system = Solitude(epsilon_edges=3.0, one_sided=False)
    told, _ = lies(system, "accounts", friends=4)
    reports = system.collect(village(), SeededBits(0), altered=told).answers["neighbours"].reports
    assert set(np.diff(reports.indptr)[LIARS].tolist()) == {4}


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="one of report"):
        lies(LPGNN(), "rumour")
    with pytest.raises(InvalidParameter, match="at least 1"):
        lies(LPGNN(), "friends", friends=0)
