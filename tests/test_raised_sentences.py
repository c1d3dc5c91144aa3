"""Every sentence that privet raises, read from its source: none ends in words that tell nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "privet"
SHORT_FORM = {"InvalidParameter", "InvalidData", "InvalidReports", "must_be"}
TELLS_NOTHING = re.compile(
    r"(an?other|others?|one|ones|none|some|both|neither|nothing|something|somebody|fewer|more|otherwise|alone"
    r"|a larger one)\b(?! of\b)(?!\w)"
)
OLD_FORM = re.compile(r"\bGot\b|The '.*' parameter of|\binstead\.$")


def texts(node: ast.expr | None, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Yield the texts that an expression may be; what is only known when it runs is written as {}."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.IfExp(body=body, orelse=other):
            yield from (*texts(body, known), *texts(other, known))
        case ast.BoolOp(values=values):
            yield from (text for value in values for text in texts(value, known))
        case ast.Name(id=name):
            yield from (text for value in known.get(name, []) for text in texts(value, {}))


def assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    """Return by name the expressions that a function assigns to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def faults(source: str) -> list[str]:
    """Return the raised texts of a module that a reader learns nothing from, each with its line."""
    found = set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        known = assigned(function)
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in SHORT_FORM:
                given = call.args[2] if len(call.args) > 2 else None
                found |= {f"{call.lineno}: {text}" for text in texts(given, known) if TELLS_NOTHING.match(text)}
                whole = [text for argument in call.args for text in texts(argument, known)]
                found |= {f"{call.lineno}: {text}" for text in whole if OLD_FORM.search(text)}
    return sorted(found)


MODULES = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_a_raised_sentence_says_what_was_found(module: str) -> None:
    assert not faults((PACKAGE / module).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "call",
    [
        'InvalidData("reporting nodes", "different ids", "others")',
        'InvalidParameter("pairs", "at least one pair", "none" if True else 3)',
        'InvalidData("graph", "with a split", "one without")',
        """InvalidParameter("The 'x' parameter of Y must be Z.")""",
        'InvalidParameter("Epsilon must be above 0. Got -1 instead.")',
    ],
)
def test_old_forms_are_found(call: str) -> None:
    assert faults(f"def check():\n    raise {call}\n")
    assert faults('def check(x):\n    found = "another" if x else "b"\n    raise InvalidData("a", "b", found)\n')
    assert not faults('def check():\n    raise InvalidParameter("epsilon", "above 0", -1)\n')
