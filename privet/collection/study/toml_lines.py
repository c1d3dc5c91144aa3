"""The lines on which the keys of a TOML document stand, which tomllib does not tell."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

__all__ = ["KeyPath", "lines_of"]

KeyPath = tuple[str | int, ...]
"""The names that lead to a value; a number is a place in a list, such as ("questions", 0, "low")."""

_ENDS = ("]", "}", '"""', "'''")  # one of them stands on the last line of a value of several lines


def lines_of(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1 on, on which each table and each key begins.

    Args:
        text: A document that tomllib reads without an error.

    >>> lines_of('[people]\\nnodes = 3\\n\\n[[questions]]\\nlow = 0\\n')[("questions", 0, "low")]
    5
    """
    lines, found = text.replace("\r\n", "\n").split("\n"), dict[KeyPath, int]()
    lengths: dict[KeyPath, int] = {}  # of the lists of tables so far
    table: KeyPath = ()
    number = 0
    while number < len(lines):
        start, statement = number, lines[number].strip()
        number += 1
        if not statement or statement.startswith("#"):
            continue
        if statement.startswith("["):
            table = _table(tomllib.loads(statement), lengths)
            _note(found, table, start + 1)
            continue
        value = _parsed(statement)
        while value is None and number < len(lines):
            statement += "\n" + lines[number]
            value = _parsed(statement) if any(end in lines[number] for end in _ENDS) else None
            number += 1
        for path in _paths(value):
            _note(found, (*table, *path), start + 1)
    return found


def _parsed(statement: str) -> dict[str, Any] | None:
    """Read one statement; None if it goes on in the next line."""
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None


def _table(header: dict[str, Any], lengths: dict[KeyPath, int]) -> KeyPath:
    """Return the path of a table that a header opens, and count the tables of a list."""
    path: KeyPath = ()
    inside: Any = header
    while inside:
        ((name, inside),) = inside.items()
        path = (*path, name)
        if isinstance(inside, list):
            lengths[path] = lengths.get(path, 0) + 1
            inside = None
        if path in lengths:
            path = (*path, lengths[path] - 1)
    return path


def _paths(value: Any, before: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the paths of all that is inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (*before, name)
        yield from _paths(inner, (*before, name))


def _note(found: dict[KeyPath, int], path: KeyPath, line: int) -> None:
    for length in range(1, len(path) + 1):
        found.setdefault(path[:length], line)
