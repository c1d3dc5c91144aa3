from __future__ import annotations

import io
import itertools

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from privet.cli.render.screen import print_whole

NAMES = ("mechanism", "protects", *(f"control {number}" for number in range(9)))
ROWS = [
    (f"a-rather-long-name-{row}", "a feature vector and a label", *(f"{10 * row + k}.5 +- 0.1" for k in range(9)))
    for row in range(3)
]


def table() -> Table:
    made = Table(title="Figures", title_justify="left", box=box.SIMPLE_HEAD)
    for name in NAMES:
        made.add_column(name, no_wrap=name != "protects")
    for row in ROWS:
        made.add_row(*row)
    return made


def printed(width: int, keys: int) -> str:
    out = io.StringIO()
    print_whole(Console(file=out, width=width), table(), keys)
    return out.getvalue()


@pytest.mark.parametrize(("width", "keys"), [*itertools.product((80, 120, 400), (1, 2))])
def test_every_cell_is_readable_at_every_width(width: int, keys: int) -> None:
    shown = printed(width, keys)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    for cell in (*NAMES, *(cell for row in ROWS for cell in row if "vector" not in cell)):
        assert cell in shown


def test_a_part_repeats_what_names_the_rows_and_no_figure() -> None:
    parts, whole = printed(80, 1), printed(400, 1)
    for row in ROWS:
        assert parts.count(row[0]) == parts.count("mechanism") > 1 == whole.count(row[0])
        assert all(parts.count(f" {cell} ") == 1 for cell in row[2:])
    assert parts.count("Figures") == 1


def test_a_word_that_is_wider_than_the_terminal_is_folded() -> None:
    out, wide = io.StringIO(), Table("name", "value")
    wide.add_row("x", "y" * 90)
    print_whole(Console(file=out, width=40), wide)
    assert out.getvalue().count("y") == 90
