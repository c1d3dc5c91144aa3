"""A study in one file: everything that its operator decides, as ``study.toml`` says it.

The file is checked whole. Every problem is one sentence with the line on which it stands, and all of them are told at
once. What a device is shown, and what the study's id is made of, is the manifest that is drawn up from the file
(:mod:`privet.collection.operator.new_study`).
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from privet.collection.study.sections import Declaration, Section
from privet.collection.study.toml_text import KeyPath, change, lines_of, written
from privet.errors import InvalidData, InvalidParameter, must_be

__all__ = ["InvalidStudyFile", "StudyFile", "template", "templates"]

_WORDS = {
    "a valid string": "a text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid tuple": "a list",
    "a valid datetime": "a time, such as 2026-03-01T12:00:00Z",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
}


class InvalidStudyFile(InvalidData):
    """A study's file with mistakes.

    Args:
        problems: One sentence for each, with its place.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class StudyFile:
    """A study's file that was read and found valid.

    Attributes:
        text: Its text; written anew, without comments, if values were changed.
        declaration: Its content.
        lines: The line of each key.
        changes: The values that were given in place of the file's.
    """

    path: Path
    text: str
    declaration: Declaration
    lines: Mapping[KeyPath, int] = field(repr=False)
    changes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, changes: Mapping[str, Any] | None = None) -> StudyFile:
        """Read and check a file; an error tells all its problems at once.

        Args:
            changes: Values in place of the file's, by their keys, such as ``{"budgets.features": 2.0}``.
        """
        changes = dict(changes or {})
        try:
            text = path.read_text(encoding="utf-8")
            document = tomllib.loads(text)
        except OSError as error:
            raise InvalidData(f"{path} cannot be read: {error.strerror}. 'privet study template' writes one.") from None
        except UnicodeDecodeError:
            raise InvalidData(f"{path} is no text in UTF-8. 'privet study template' writes one.") from None
        except tomllib.TOMLDecodeError as error:
            raise InvalidStudyFile([f"{path.name} is no TOML: {str(error).rstrip('.')}."]) from None
        lines = lines_of(text)
        for key, value in changes.items():
            change(document, key, value)
        try:
            declaration = Declaration.model_validate(document)
        except ValidationError as error:
            found = [_problem(each) for each in error.errors(include_url=False)]
            raise _invalid(path, lines, changes, found) from None
        file = cls(path, written(document) if changes else text, declaration, lines, changes)
        file.refuse(list(declaration.conflicts()))
        return file

    def refuse(self, problems: Sequence[tuple[KeyPath, str]]) -> None:
        """Raise an error if there are problems.

        Args:
            problems: Where each is, and a sentence about it, or the end of one about the key.
        """
        if problems:
            raise _invalid(self.path, self.lines, self.changes, problems)

    def beside(self, name: str) -> Path:
        """Return the path of a file that this one names."""
        return self.path.parent / name


TEMPLATES = Path(__file__).parent / "templates"


def template(name: str = "blank") -> str:
    """Return a study's file with comments: a real study by its name, or one in which ``...`` is to be filled in.

    Args:
        name: One of :func:`templates`, or "blank".
    """
    if name not in ("blank", *templates()):
        *others, last = "blank", *templates()
        raise InvalidParameter("template", f"{', '.join(others)} or {last}", name)
    return (TEMPLATES / f"{name}.toml").read_text(encoding="utf-8")


def templates() -> dict[str, str]:
    """Return the first sentence about each real study that there is a file of, by its name."""
    found = {}
    for path in sorted(TEMPLATES.glob("*.toml")):
        if path.stem != "blank":
            head = path.read_text(encoding="utf-8").split("\n\n")[0].replace("\n# ", " ").removeprefix("# ")
            found[path.stem] = f"{head.partition('. ')[0]}."
    return found


def _invalid(
    path: Path, lines: Mapping[KeyPath, int], changes: Mapping[str, Any], problems: Sequence[tuple[KeyPath, str]]
) -> InvalidStudyFile:
    """Return the error that tells some problems, in the order of the file."""
    told = []
    for key, sentence in problems:
        dotted = ".".join(map(str, key))
        known = next((lines[key[:length]] for length in range(len(key), 0, -1) if key[:length] in lines), 0)
        place = f"{path.name}, line {known}" if known else path.name
        if any(dotted == each or dotted.startswith(f"{each}.") for each in changes):
            known, place = 0, f"--set {dotted}"
        whole = sentence[:1].isupper() or not dotted
        told.append((known, f"{place}: {sentence if whole else f'{dotted} {sentence}'}"))
    return InvalidStudyFile([sentence for _, sentence in sorted(told, key=lambda each: each[0])])


def _problem(error: ErrorDetails) -> tuple[KeyPath, str]:
    """Return the place and the sentence of one thing that pydantic found."""
    path, kind = error["loc"], error["type"]
    if kind == "extra_forbidden":
        known = _keys_at(path[:-1])
        near = difflib.get_close_matches(str(path[-1]), known, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        return path, f"is no key of a study's file: {hint}"
    if kind == "missing":
        return path, "is missing."
    message = error["msg"].removeprefix("Value error, ").replace("String should", "must")
    if not message.startswith("Input should be"):
        return path, f"{message[:1].lower()}{message[1:].rstrip('.')}."
    expected = message.removeprefix("Input should be").strip()
    if kind in ("model_type", "dict_type"):
        expected = "a table"
    for words, better in _WORDS.items():
        expected = expected.replace(words, better)
    return path, must_be("", expected, error["input"]).strip()


def _keys_at(path: KeyPath) -> list[str]:
    """Return the keys that a table of a study's file can have."""
    kind: Any = Declaration
    for name in path:
        if isinstance(name, str):
            kind = next(each.annotation for key, each in kind.model_fields.items() if name in (key, each.alias))
            kind = next((one for one in _kinds(kind)), kind)
    return [each.alias or key for key, each in kind.model_fields.items()]


def _kinds(annotation: Any) -> Iterator[type[Section]]:
    """Yield the sections that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)
