from __future__ import annotations

import numpy as np
import pytest
from village import village

from privet.auditing.attacks.coalition import Coalition, fake_accounts, recruit
from privet.errors import InvalidParameter
from privet.systems import LPGNN, Solitude


def test_liars_know_their_own_data_and_what_is_public() -> None:
    graph = village()
    coalition = Coalition.of(graph, LPGNN().release(graph), np.array([7, 3]))
    assert coalition.users.tolist() == [3, 7]
    assert len(coalition.private) == 2
    assert coalition.public.features is None
    assert (coalition.labels[graph.split.test] == -1).all()
    assert coalition.own.tolist() == graph.labels[[3, 7]].tolist()


def test_private_lists_are_not_public() -> None:
    graph = village()
    assert Coalition.of(graph, Solitude().release(graph), np.array([1])).public.adjacency.nnz == 0


def test_hubs_have_most_friends_and_a_victims_friends_come_first() -> None:
    graph = village()
    degrees = np.diff(graph.adjacency.indptr)
    hubs = recruit(graph, 0.1, seed=0, choice="hubs")
    assert len(hubs) == 6
    assert degrees[hubs].min() >= np.sort(degrees)[-6]
    assert {50, 51} <= set(recruit(graph, 0.1, seed=0, first=np.array([50, 51])).tolist())
    assert not len(recruit(graph, 0.0, seed=0))


@pytest.mark.parametrize("wrong", [{"share": 1.5}, {"share": 0.1, "choice": "best"}])
def test_wrong_recruits_are_refused(wrong: dict) -> None:
    with pytest.raises(InvalidParameter):
        recruit(village(), **{"seed": 0, **wrong})


def test_accounts_belong_to_nobody() -> None:
    graph = village()
    larger = fake_accounts(graph, 4)
    assert larger.num_nodes == 64
    assert (larger.labels[:4] == -1).all()
    assert not (larger.split.train | larger.split.validation | larger.split.test)[:4].any()
    assert larger.adjacency[:4].nnz == 0
    assert (larger.adjacency[4:, 4:] != graph.adjacency).nnz == 0
