"""One script from the modules of a page, so that a fresh browser asks once for what would be sixty files.

Each module becomes a function with a scope of its own, in the order of the imports. The modules stay files, which tests
and source maps read. It is done when a collector starts and needs nothing but Python; what it does not understand of a
module is an error then, and not in a browser.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Bundle", "bundle"]

_STATEMENT = re.compile(r"^(import|export)\b.*?(?=\n|$)", re.MULTILINE)
_FROM = re.compile(r'^(import|export) \{([^}]*)\} from "([^"]+)";', re.MULTILINE)
_BARE = re.compile(r'^import "([^"]+)";', re.MULTILINE)
_LISTED = re.compile(r"^export \{([^}]*)\};", re.MULTILINE)
_DECLARED = re.compile(r"^export (?=(?:async function|function|const|class)\*? (\w+))", re.MULTILINE)
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@dataclass(frozen=True)
class Bundle:
    """A script with the map of its lines.

    Attributes:
        script: The script's text, without a reference to the map.
        source_map: The map, in JSON; the sources are named by their addresses.
    """

    script: str
    source_map: str


def bundle(modules: Mapping[str, str], entry: str, base: str = "/web/") -> Bundle:
    """Put a module and all that it imports into one script.

    Args:
        modules: The text of each module by its path.
        entry: The path of the module that a page names.
        base: The address below which the modules are served, for the map.
    """
    order = list(_ordered(modules, entry, {}))
    numbers = {path: number for number, path in enumerate(order)}
    lines: list[str] = []
    origins: list[tuple[int, int] | None] = []
    for path in order:
        body, exported = _converted(path, modules[path], numbers)
        inside = body.split("\n")
        lines += [f"const m{numbers[path]} = (() => {{", *inside, f"return {{ {', '.join(exported)} }};", "})();"]
        origins += [None, *((numbers[path], line) for line in range(len(inside))), None, None]
    document = {"version": 3, "sources": [base + path for path in order], "names": [], "mappings": _mappings(origins)}
    return Bundle("\n".join(lines) + "\n", json.dumps(document))


def _ordered(modules: Mapping[str, str], path: str, seen: dict[str, bool]) -> Iterator[str]:
    """Yield a module after all that it imports, each once."""
    if path in seen:
        if not seen[path]:
            raise ValueError(f"{path} imports itself by way of others. Move what both need into a third module.")
        return
    if path not in modules:
        raise ValueError(f"{path} is imported, and there is no such module.")
    seen[path] = False
    for found in (*_FROM.finditer(modules[path]), *_BARE.finditer(modules[path])):
        yield from _ordered(modules, _resolved(path, found[found.lastindex or 0]), seen)
    seen[path] = True
    yield path


def _resolved(path: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def _converted(path: str, text: str, numbers: Mapping[str, int]) -> tuple[str, list[str]]:
    """Return a module as the body of a function, line for line, and the names that it exports."""
    exported: list[str] = []

    def taken(found: re.Match[str]) -> str:
        kind, names, other = found.groups()
        pairs = [re.sub(r"^(\w+) as (\w+)$", r"\1: \2", name) for name in _names(names)]
        if kind == "export":
            exported.extend(pair.rpartition(" ")[2] for pair in pairs)
        padding = "\n" * found[0].count("\n")
        return f"const {{ {', '.join(pairs)} }} = m{numbers[_resolved(path, other)]};{padding}"

    def listed(found: re.Match[str]) -> str:
        for name in _names(found[1]):
            own, _, given = name.partition(" as ")
            exported.append(f"{given}: {own}" if given else own)
        return "\n" * found[0].count("\n")

    def declared(found: re.Match[str]) -> str:
        exported.append(found[1])
        return ""

    text = _BARE.sub("", _FROM.sub(taken, text))
    text = _DECLARED.sub(declared, _LISTED.sub(listed, text))
    left = _STATEMENT.search(text)
    if left is not None:
        raise ValueError(
            f"{path} has a statement that is not understood: {left[0]}. Use import {{ a }} from and export."
        )
    return text, exported


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _mappings(origins: list[tuple[int, int] | None]) -> str:
    """Return the map of whole lines: for each its source and line, as differences in base 64 (VLQ)."""
    written, last = [], (0, 0)
    for origin in origins:
        if origin is None:
            written.append("")
            continue
        written.append(f"A{_vlq(origin[0] - last[0])}{_vlq(origin[1] - last[1])}A")
        last = origin
    return ";".join(written)


def _vlq(value: int) -> str:
    rest, digits = (-value << 1 | 1) if value < 0 else value << 1, ""
    while True:
        digit, rest = rest & 31, rest >> 5
        digits += _BASE64[digit | (32 if rest else 0)]
        if not rest:
            return digits
