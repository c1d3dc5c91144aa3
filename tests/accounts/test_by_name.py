from __future__ import annotations

import pytest

from privet.accounts.account import check_known, mechanism_from, system_kind
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS
from privet.systems import SYSTEMS


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_class_has_an_example_and_a_small_one(name: str) -> None:
    usual, small = (mechanism_from(MECHANISMS[name], {}, small=each) for each in (False, True))
    assert small.num_reports <= usual.num_reports
    assert mechanism_from(MECHANISMS[name], MECHANISMS[name].example) == usual


def test_an_unknown_parameter_lists_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="multi-bit has no parameter 'classes'; it has epsilon, dim"):
        mechanism_from(MECHANISMS["multi-bit"], {"classes": 3})
    with pytest.raises(InvalidParameter, match="this has no parameter 'b'"):
        check_known("this", ["a", "b"], ["a"])


def test_names_of_systems_are_found_and_others_listed() -> None:
    for name, kind in SYSTEMS.items():
        assert system_kind(name) is kind
        assert system_kind(name.upper()) is kind
    with pytest.raises(InvalidParameter, match=r"multi-bit.*lpgnn.*heterpoisson"):
        system_kind("gcn", MECHANISMS)
