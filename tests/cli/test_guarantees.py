from __future__ import annotations

import pytest

from privet.cli.app import BadOption
from privet.cli.guarantees import parameters_of


def test_options_become_parameters() -> None:
    options = {"nodes": 50, "sigma": 2.0, "one_sided": False, "categories": "2,3"}
    expected = {"num_nodes": 50, "noise_multiplier": 4.0, "one_sided": False, "categories": (2, 3)}
    assert parameters_of(options, None) == expected


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), ("2,3", (2, 3)), ("none", "none"), ("true", True), ("a=b", "a=b")]
)
def test_any_other_parameter_can_be_set(text: str, value: object) -> None:
    assert parameters_of({}, [f"some-name={text}"]) == {"some_name": value}


def test_bad_texts_are_named() -> None:
    with pytest.raises(BadOption, match="separated by commas"):
        parameters_of({"categories": "2;2"}, None)
    for text in ("name", "=3"):
        with pytest.raises(BadOption, match="NAME=VALUE"):
            parameters_of({}, [text])


@pytest.mark.parametrize("names", [("sigma", "noise_multiplier"), ("nodes", "num_nodes")])
def test_one_parameter_is_not_set_by_two_options(names: tuple[str, str]) -> None:
    with pytest.raises(BadOption, match="say the same thing in two ways"):
        parameters_of(dict.fromkeys(names, 1), None)
