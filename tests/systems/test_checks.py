from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from privet.errors import InvalidParameter
from privet.systems.base import check_choices


@dataclass
class Painted:
    colour: str


def test_only_the_literals_of_a_type_are_allowed() -> None:
    choices = {"colour": Literal["red", "green"]}
    check_choices(Painted("red"), choices)
    with pytest.raises(InvalidParameter, match=r"colour must be one of red, green, not blue"):
        check_choices(Painted("blue"), choices)
