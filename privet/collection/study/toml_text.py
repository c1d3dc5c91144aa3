"""TOML beyond tomllib: the lines on which keys stand, values in place of others, and documents as text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from privet.errors import InvalidData

__all__ = ["KeyPath", "change", "lines_of", "written"]

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


def change(document: dict[str, Any], key: str, value: Any) -> None:
    """Put a value into a document; a number in the key is a place in a list."""
    *names, last = key.split(".")
    inside: Any = document
    for name in names:
        if _is_place(inside, name):
            inside = inside[int(name)]
        else:
            inside = inside.setdefault(name, {}) if isinstance(inside, dict) else None
        if not isinstance(inside, dict | list):
            raise InvalidData(f"--set {key}: there is no table {'.'.join(names)} to change.")
    if _is_place(inside, last):
        inside[int(last)] = value
    elif isinstance(inside, dict):
        inside[last] = value
    else:
        raise InvalidData(f"--set {key}: the list {'.'.join(names)} has no such entry.")


def written(document: Mapping[str, Any]) -> str:
    """Write a document as TOML: plain values first, then a table for each section."""
    plain = [f"{key} = {_value(value)}\n" for key, value in document.items() if not _is_section(value)]
    for key, value in document.items():
        if _is_section(value):
            header = f"\n[{key}]\n" if isinstance(value, dict) else f"\n[[{key}]]\n"
            for section in [value] if isinstance(value, dict) else value:
                plain += [header, *(f"{name} = {_value(inner)}\n" for name, inner in section.items())]
    return "".join(plain)


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and all(isinstance(each, dict) for each in value))


def _value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _is_place(inside: Any, name: str) -> bool:
    return isinstance(inside, list) and name.isdecimal() and int(name) < len(inside)
