from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.evaluation.choosing import combined, system_for


def test_unknown_systems_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="lpgnn, privge, rgnn, solitude, heterpoisson"):
        system_for("gcn", "cora", {})


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("lpgnn", {"hops": "abc"}, "of type int"),
        ("lpgnn", {"hidden_channels": 2.5}, "of type int"),
        ("lpgnn", {"hops": True}, "of type int"),
        ("lpgnn", {"batch_norm": "maybe"}, "of type bool"),
        ("lpgnn", {"epsilon_labels": "abc"}, "of type none or float"),
        ("lpgnn", {"backbone": 3}, "a word"),
        ("privge", {"alpha": "x"}, "of type float"),
        ("heterpoisson", {"epsilon": "x"}, "of type none or float"),
        ("heterpoisson", {"epsilon": 2.0, "target_epsilon": 3.0}, "no other option"),
    ],
)
def test_settings_have_the_type_of_their_field(name: str, options: dict, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        system_for(name, "none", options)


def test_whole_numbers_are_numbers_and_none_is_nothing() -> None:
    assert system_for("privge", "none", {"weight_decay": 0}).settings()["weight_decay"] == 0
    assert system_for("solitude", "none", {"epsilon_edges": "none"}).settings()["epsilon_edges"] is None


def test_nothing_is_given_twice() -> None:
    with pytest.raises(InvalidParameter, match="hops"):
        combined({"hops": 2}, {"hops": 3})
