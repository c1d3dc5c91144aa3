from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import pytest

from privet.privacy import Unit
from privet.release import ASKS, Ask
from privet.release.asks.neighbours import Neighbours


@pytest.mark.parametrize("name", ASKS)
def test_every_ask_says_what_a_manifest_a_ledger_and_its_owner_need(name: str) -> None:
    ask = ASKS[name]()
    assert isinstance(ask, Ask)
    assert ask.name == name
    assert isinstance(ask.unit, Unit)
    assert ask.part
    assert ask.budget.startswith("epsilon_")
    assert ask.subject.split()[0] in ("your", "the")
    with pytest.raises(FrozenInstanceError):
        ask.other = 1  # type: ignore[attr-defined]


def test_parameters_are_the_fields() -> None:
    @dataclass(frozen=True)
    class Near(Neighbours):
        radius: float = 1.0

    assert Near.parameters() == ("radius",)
    assert Neighbours.parameters() == ()
