from __future__ import annotations

import io

import pytest
from rich.console import Console

from privet.cli.demo.everything import show_mechanisms, show_systems
from privet.data import social_graph
from privet.mechanisms import MECHANISMS
from privet.systems import SYSTEMS
from privet.systems.presets import demonstrated

pytestmark = pytest.mark.journey  # measures every mechanism and trains every system

WIDTH = 80


def test_every_mechanism_stands_in_one_table_of_80_columns() -> None:
    console = Console(file=io.StringIO(), width=WIDTH)
    show_mechanisms(console, social_graph(150, features=16, active_features=4, seed=1), 1, lambda text: None)
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert printed.count("expected ") == 1
    for name in set(MECHANISMS) - {"square-wave"}:
        assert printed.count(f" {name} ") == 1
    assert "broken" not in printed


def test_every_system_stands_in_one_of_two_tables_of_80_columns() -> None:
    console, graph = Console(file=io.StringIO(), width=WIDTH), social_graph(150, features=16, active_features=4, seed=1)
    results = show_systems(console, graph, 1, lambda text: None)
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert printed.count("true epsilon") == 2
    shown = [name for name in SYSTEMS if demonstrated(name, graph)]
    assert {"lpgnn", "heterpoisson"} < set(shown)
    assert [result.system for result in results] == [name for name in shown for _ in demonstrated(name, graph)]
    assert "F + R" in printed  # Solitude's units
    for result in results:
        assert result.system in printed
        for figures in result.controls.values():
            assert f"{figures.mean:.1f}" in printed
