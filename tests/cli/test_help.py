"""Help texts: every summary is short enough to be shown whole, and long lists of options are in groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from privet.cli import app
from privet.cli.app import GROUPS


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in getattr(group, "commands", {}).items():
        yield f"{path}{name}", command
        yield from commands(command, f"{path}{name} ")


EVERY = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", EVERY)
def test_a_summary_has_at_most_60_characters(name: str) -> None:
    assert 0 < len(EVERY[name].get_short_help_str(limit=500)) <= 60


@pytest.mark.parametrize("name", EVERY)
def test_no_section_of_a_help_text_lists_more_than_fifteen_options(name: str) -> None:
    shown = CliRunner().invoke(app, [*name.split(), "--help"]).output
    for section in shown.split("\n\n"):
        assert sum(line.lstrip().startswith("-") for line in section.splitlines()) <= 15, section


def test_a_group_names_an_option_once_and_only_real_ones() -> None:
    names = [name for group in GROUPS.values() for name in group]
    known = {each.name for command in EVERY.values() for each in command.params}
    assert len(names) == len(set(names))
    assert set(names) <= known
