"""What follows from Inquiry's settings before anybody is asked; wrong settings are in test_inquiry.py."""

from __future__ import annotations

import numpy as np
import pytest

from privet.data import social_graph
from privet.systems.local.inquiry import Inquiry

GRAPH = social_graph(60, classes=3, features=6, seed=0)


def test_one_question_is_asked_by_default_with_a_panel_behind_it() -> None:
    system = Inquiry()
    assert (system.epsilon_features, system.epsilon_edges, system.panel) == (1.0, None, 0.1)
    assert [question.name for question in system.release(GRAPH).questions] == ["resemblance"]


@pytest.mark.parametrize(
    ("settings", "names", "epsilon"),
    [
        ({"epsilon_features": 2.0, "pilot": 0.2}, ["features", "resemblance"], 2.0),
        ({"epsilon_edges": 2.0}, ["friends", "friends-again"], 4.0),
        ({"epsilon_edges": 2.0, "public_features": True}, ["friends"], 4.0),
        ({"epsilon_edges": 2.0, "epsilon_features": 1.0}, ["friends", "friends-again", "resemblance"], 5.0),
        ({"epsilon_features": 1.0, "epsilon_labels": 0.5}, ["label", "resemblance"], 1.5),
    ],
)
def test_each_setting_asks_its_questions_at_one_price(settings: dict, names: list[str], epsilon: float) -> None:
    """A relationship counts at both its ends."""
    release = Inquiry(**settings).release(GRAPH)
    assert [question.name for question in release.questions] == names
    assert release.guarantee().epsilon == epsilon


def test_a_mask_and_ids_name_the_same_panel() -> None:
    mask = np.zeros(60, dtype=np.bool_)
    mask[[3, 5]] = True
    assert Inquiry(panel=mask).panel == Inquiry(panel=[3, 5]).panel == (3, 5)
