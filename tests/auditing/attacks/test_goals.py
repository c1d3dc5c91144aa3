from __future__ import annotations

import numpy as np
import pytest
from village import village

from privet.auditing.attacks.coalition import Coalition
from privet.auditing.attacks.goals import aim_at, victim
from privet.errors import InvalidData, InvalidParameter
from privet.systems import LPGNN


def test_members_of_a_class_pass_for_the_next_one() -> None:
    graph = village()
    coalition = Coalition.of(graph, LPGNN().release(graph), np.arange(10))
    assert aim_at("accuracy", coalition, 3).wanted.tolist() == ((graph.labels[:10] + 1) % 3).tolist()


def test_a_class_and_a_person_are_pulled_to_one_class() -> None:
    graph = village()
    coalition = Coalition.of(graph, LPGNN().release(graph), np.arange(10))
    assert set(aim_at("class", coalition, 3, 2).wanted.tolist()) == {0}
    person = victim(graph, 0)
    assert graph.split.test[person]
    friends = graph.adjacency[[person]].indices
    near = Coalition.of(graph, LPGNN().release(graph), friends)
    likely = np.bincount(graph.labels[friends], minlength=3).argmax()
    assert set(aim_at("person", near, 3, person).wanted.tolist()) == {(likely + 1) % 3}


def test_wrong_goals_are_refused() -> None:
    graph = village()
    coalition = Coalition.of(graph, LPGNN().release(graph), np.arange(3))
    with pytest.raises(InvalidParameter, match="one of accuracy"):
        aim_at("fame", coalition, 3)
    with pytest.raises(InvalidParameter, match="the class to attack"):
        aim_at("class", coalition, 3)
    with pytest.raises(InvalidData, match="has no split"):
        victim(graph.replace(split=None), 0)
