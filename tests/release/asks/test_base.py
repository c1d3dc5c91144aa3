from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any

import numpy as np
import pytest

from privet.errors import InvalidData
from privet.privacy import Unit
from privet.release import ASKS, Ask
from privet.release.asks._base import ATTACHED
from privet.release.asks.neighbours import Neighbours
from privet.release.blobs import array_digest as digest


@dataclass(frozen=True)
class Weighted(Neighbours):
    """Has a small parameter and a large public array."""

    radius: float = 1.0
    weights: Any = field(default=None, compare=False, repr=False, metadata=ATTACHED)


WEIGHTS = np.arange(6.0).reshape(2, 3)


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
    assert Weighted.parameters() == ("radius", "weights")
    assert Weighted.attachments() == ("weights",)
    assert Neighbours.parameters() == Neighbours.attachments() == ()


def test_a_manifest_names_an_array_by_its_digest() -> None:
    ready = Weighted(radius=2.0, weights=WEIGHTS)
    document = ready.to_dict()
    assert document == {"radius": 2.0, "weights": digest(WEIGHTS)}
    assert Weighted().to_dict() == {"radius": 1.0, "weights": None}
    again = Weighted(**document)
    assert again.to_dict() == document
    assert again.attach(weights=WEIGHTS).attachment("weights") is WEIGHTS


def test_a_salt_is_in_the_digest_and_in_no_manifest() -> None:
    table = np.arange(3, dtype=np.int32)
    one, other = Weighted(weights=table).sealed(), Weighted(weights=table).sealed()
    assert one == other
    assert len({one.digest("weights"), other.digest("weights"), digest(table)}) == 3
    document = one.to_dict()
    assert document == {"radius": 1.0, "weights": digest(table, one.salts["weights"])}
    again = Weighted(**document).attach(weights=one.blob("weights"))
    assert again.to_dict() == document
    assert again.attachment("weights").tolist() == table.tolist()
    for wrong in (table, other.blob("weights")):
        with pytest.raises(InvalidData, match="must be the one with digest"):
            Weighted(**document).attach(weights=wrong)


def test_another_array_than_the_declared_one_is_refused() -> None:
    named = Weighted(**Weighted(weights=WEIGHTS).to_dict())
    with pytest.raises(InvalidData, match=r"'weights' of the question 'neighbours' must be the one with digest"):
        named.attach(weights=WEIGHTS + 1)


def test_an_array_that_is_not_here_is_one_sentence() -> None:
    with pytest.raises(InvalidData, match=r"public 'weights' is not drawn up yet; attach it first\.$"):
        Weighted().attachment("weights")
    with pytest.raises(InvalidData, match=r"public 'weights' with digest sha256:\w+ was not downloaded"):
        Weighted(weights=digest(WEIGHTS)).attachment("weights")


def test_a_digest_depends_on_type_shape_and_content_but_not_on_the_layout() -> None:
    different = [WEIGHTS, WEIGHTS.ravel(), WEIGHTS.astype(np.float32), WEIGHTS + 1]
    assert len({digest(each) for each in different}) == len(different)
    assert digest(np.asfortranarray(WEIGHTS)) == digest(WEIGHTS.astype(">f8")) == digest(WEIGHTS)
    # Pinned: devices and servers of different versions must agree.
    assert (
        digest(np.array([1, -1], dtype=np.int32))
        == "sha256:53c2d07c23808131e20370e2b32ada5cb47fd5d1fa2d61b7e55331cd3fe6a7ac"
    )


def test_who_is_asked_is_left_to_the_system() -> None:
    assert Neighbours().people() is None
