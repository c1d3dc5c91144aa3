from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from privet.cli import app

OURS = ("demo", "run", "sweep", "compare", "table", "report", "statement", "advise")


@pytest.mark.parametrize("name", OURS)
def test_help_in_80_columns_has_whole_options_and_an_example(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"], terminal_width=80, env={"COLUMNS": "80"}).output
    command: Any = get_command(app).commands[name]
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert all(option in shown for option in parameter.opts), parameter.opts
    assert f"For example:\n    privet {name}" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_run_has_the_options_that_sweep_has() -> None:
    commands: Any = get_command(app).commands
    run, sweep = ({parameter.name for parameter in commands[name].params} for name in ("run", "sweep"))
    assert sweep - run == {"of"}
