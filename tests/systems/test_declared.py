from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from privet.errors import InvalidParameter
from privet.systems.declared import Declared, declared_kinds

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Painted(Declared):
    colour: Literal["red", "green"] = "red"
    coats: int | None = None
    gloss: float | Literal["matt"] = 0.5
    dry: bool = False
    layers: tuple[str, ...] = ()
    anything: Any = None

    def __post_init__(self) -> None:
        self.check_types()


@dataclass(frozen=True)
class Hidden(Declared):
    where: Path


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"colour": "blue"}, "colour must be one of red, green, not blue"),
        ({"coats": 1.5}, "coats must be None or an integer, not 1.5"),
        ({"coats": True}, "coats must be None or an integer, not True"),
        ({"dry": "yes"}, "dry must be true or false, not yes"),
        ({"layers": "two"}, "layers must be words, not two"),
    ],
)
def test_a_value_of_another_type_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        Painted(**given)


def test_numbers_of_numpy_and_words_are_taken() -> None:
    Painted(colour="green", coats=np.int64(2), gloss=1, dry=True, layers=("a", "b"), anything=object())
    Painted(gloss=np.float32(0.5), coats=None)
    Painted(gloss="matt")
    Painted(gloss="shiny")  # the owner's to refuse


def test_names_that_only_type_checkers_know_allow_anything() -> None:
    assert declared_kinds(Hidden) == {"where": (Any,)}
