"""A study in one file: everything that its operator decides, as ``study.toml`` says it.

The file is checked whole. Every problem is one sentence with the line on which it stands, and all of them are told at
once. What a device is shown, and what the study's id is made of, is the manifest that is drawn up from the file
(:mod:`privet.collection.operator.new_study`).
"""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from privet.collection.study.manifest import MOST_FEATURES, MOST_NODES, Text
from privet.collection.study.retention import DEFAULT_DAYS
from privet.collection.study.toml_lines import KeyPath, lines_of
from privet.data import Categories, Interval, Schema
from privet.data.schema import Feature
from privet.errors import InvalidData, must_be

__all__ = ["Declaration", "InvalidStudyFile", "StudyFile", "template"]

_BLANK = "..."  # what the template leaves to be filled in
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


def _filled(text: str) -> str:
    if text == _BLANK:
        raise ValueError("is still to be filled in")
    return text


def _names_or_count(value: Any) -> Any:
    if isinstance(value, list) and len(value) > 1 and len({str(each) for each in value}) == len(value):
        if all(isinstance(each, str) and each.strip() and each.isprintable() for each in value):
            return tuple(value)
    elif type(value) is int and value > 1:
        return value
    raise ValueError("must be a list of at least two different texts, or their number")


def _share_or_file(value: Any) -> Any:
    if type(value) is float and 0 < value < 1:
        return value
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("must be a share of people above 0 and below 1, or a CSV file with the column node")


def _days_or_never(value: Any) -> Any:
    if value == "never" or (type(value) is int and 1 <= value <= 36_600):
        return value
    raise ValueError('must be a number of days from 1 to 36600, or "never"')


def _zoned(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("must be a time with its zone, such as 2026-03-01T12:00:00Z")
    return moment.astimezone(UTC)


Words = Annotated[Text, AfterValidator(_filled)]
Answers = Annotated[Any, BeforeValidator(_names_or_count)]
Some = Annotated[Any, BeforeValidator(_share_or_file)]
Budget = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Days = Annotated[float, Field(ge=0.001, le=3650)]
Moment = Annotated[datetime, AfterValidator(_zoned)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Operator(_Section):
    """The operator of a study, who asks.

    Attributes:
        name: The person or body that asks.
        contact: How to reach them.
    """

    name: Words
    contact: Words


class People(_Section):
    """The people of a study, who are asked.

    Attributes:
        nodes: The number of people, whose ids are 0 to nodes - 1; a directory says it, too.
        directory: A CSV file of all participants (node, name), which the manifest binds; people then pick names.
        panel: Who shows features and class as they are: a share of people, or a CSV file with the column node.
        ask_class: Who is asked for the class in the first round: a share, or a file (default: all but the panel).
        eligible: Who may take part.
    """

    nodes: Annotated[int, Field(ge=2, le=MOST_NODES)] | None = None
    directory: Words | None = None
    panel: Some = None
    ask_class: Some = None
    eligible: Words = "Holders of an enrolment token."

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if self.nodes is None and self.directory is None:
            raise ValueError("needs nodes, the number of people, or a directory of them")
        return self


class Question(_Section):
    """One feature, or several that have the same answers.

    Attributes:
        ask: The words of the question.
        low: The smallest number that can be answered.
        high: The largest one.
        answers: The categories instead of numbers: their names, or how many there are.
        ordered: True if the categories have an order, so that a mechanism for numbers may read them as 0, 1, 2.
        repeat: The number of features that are asked for in this way.
    """

    ask: Words | None = None
    low: float | None = None
    high: float | None = None
    answers: Answers = None
    ordered: bool = False
    repeat: Annotated[int, Field(ge=1, le=MOST_FEATURES)] = 1

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        numbers = [each for each in (self.low, self.high) if each is not None]
        if (self.answers is not None) == bool(numbers) or len(numbers) == 1:
            raise ValueError("needs low and high for a number, or answers for categories")
        if numbers and not (math.isfinite(numbers[1] - numbers[0]) and numbers[0] < numbers[1]):
            raise ValueError(f"must have a low below its high, not {numbers[0]:g} and {numbers[1]:g}")
        if self.ordered and self.answers is None:
            raise ValueError("is about a number, which has an order; ordered is for answers")
        return self

    @property
    def feature(self) -> Feature:
        """The declared domain."""
        if self.answers is not None:
            return Categories.of(self.answers)
        return Interval(float(self.low or 0), float(self.high or 0))

    @property
    def texts(self) -> list[str]:
        """The words of each feature; empty if there are none."""
        if self.ask is None:
            return []
        return [self.ask] if self.repeat == 1 else [f"{self.ask} ({i + 1})" for i in range(self.repeat)]


class ClassQuestion(_Section):
    """The class that is predicted.

    Attributes:
        ask: The words in which people are asked for it.
        answers: The names of the classes, or how many there are.
    """

    ask: Words | None = None
    answers: Answers


class Budgets(_Section):
    """The epsilon of everything that is asked; what has no budget is not asked for.

    Attributes:
        features: The true budget of the answer about the features.
        labels: The budget of the class; without it the operator knows some classes.
        edges: The budget of one bit of a friend list; without it the edges are public.
        delta: The delta of the mechanism analytic-gaussian.
        high_cost: True to go beyond the lifetime limit that participants' devices start with.
    """

    features: Budget | None = None
    labels: Budget | None = None
    edges: Budget | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    high_cost: bool = False


class FeatureMechanism(_Section):
    """The randomisation of answers in a study without a system.

    Attributes:
        name: The mechanism of the features.
        sample: The number of features in a report (default: the best number).
        one_sided: True if one end of each pair reports it, False if both do.
    """

    name: str = "multi-bit"
    sample: Annotated[int, Field(ge=1)] | None = None
    one_sided: bool = True


class SystemChoice(_Section):
    """The system whose questions are asked, in as many rounds as it needs.

    Attributes:
        name: Its name, such as inquiry.
        settings: Its settings, apart from budgets and panel.
    """

    name: str
    settings: dict[str, Any] = {}


class Schedule(_Section):
    """When reports are taken, and when they are deleted.

    Attributes:
        opens: The first moment at which reports are taken (default: now).
        days: How long the study, or its first round, stays open.
        closes: The moment at which it closes, instead of days.
        later_rounds: How many days each later round stays open.
        delete_after: The days after closing after which the collector deletes reports, or "never".
    """

    opens: Moment | None = None
    days: Days | None = None
    closes: Moment | None = None
    later_rounds: Days = 30.0
    delete_after: Annotated[Any, BeforeValidator(_days_or_never)] = DEFAULT_DAYS

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.days is not None and self.closes is not None:
            raise ValueError("has days and closes, which say the same thing; keep one of them")
        return self

    def times(self, now: datetime) -> tuple[datetime, datetime]:
        """Return when the first round opens and closes.

        Args:
            now: The present, for a study that does not say when it opens.
        """
        opens = self.opens or now
        return opens, self.closes or opens + timedelta(days=30.0 if self.days is None else self.days)


class PublicData(_Section):
    """Files of what the operator knows without asking anybody, relative to the study's file.

    Attributes:
        edges: A CSV or Parquet file with the columns source and target.
        labels: A CSV or Parquet file with the columns node and label.
    """

    edges: Words | None = None
    labels: Words | None = None


class Declaration(_Section):
    """The content of a study's file.

    Attributes:
        title: The first words that participants see.
        purpose: Why the data are asked for.
        language: The language of these words, in which the participants' page opens; None for the browser's.
        version: The study's own version number.
        operator: Who asks.
        people: Who is asked.
        questions: The features.
        classes: The class (``class`` in the file).
        budgets: The epsilons.
        mechanism: How answers are randomised, without a system.
        system: The system whose questions are asked; None for one round with a mechanism.
        schedule: The times.
        public: Files of public data.
    """

    title: Words
    purpose: Words
    language: Literal["en", "de", "fr", "es"] | None = None
    version: Annotated[int, Field(ge=1)] = 1
    operator: Operator
    people: People
    questions: Annotated[tuple[Question, ...], Field(strict=False)]
    classes: ClassQuestion | None = Field(default=None, alias="class")
    budgets: Budgets
    mechanism: FeatureMechanism | None = None
    system: SystemChoice | None = None
    schedule: Schedule = Schedule()
    public: PublicData = PublicData()

    def conflicts(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield what does not fit together, each with the place where it is told."""
        budgets, planned = self.budgets, self.system is not None
        if not self.questions:
            yield ("questions",), "is empty. Ask for at least one feature."
        worded = [bool(each.texts) for each in self.questions]
        if any(worded) and not all(worded):
            yield ("questions", worded.index(False)), "has no words. Give every question its ask, or none."
        if budgets.labels is not None and self.classes is None:
            yield ("budgets", "labels"), "needs a [class] with its answers."
        if not planned and budgets.features is budgets.labels is budgets.edges is None:
            yield ("budgets",), "asks for nothing. Give features, labels or edges an epsilon."
        if planned and self.mechanism is not None:
            yield ("mechanism",), "is for studies without a [system], which has mechanisms of its own."
        alone = {
            ("people", "panel"): self.people.panel,
            ("people", "ask_class"): self.people.ask_class,
            ("public", "edges"): self.public.edges,
            ("public", "labels"): self.public.labels,
        }
        for path, value in alone.items():
            if value is not None and not planned:
                yield path, "is for studies with a [system]. Name one, or leave this out."

    @property
    def declared(self) -> Schema:
        """The public facts about the answers; edges are private if, and only if, they have a budget."""
        features = [each.feature for each in self.questions for _ in range(each.repeat)]
        named = self.classes is not None and isinstance(self.classes.answers, tuple)
        count = 0 if self.classes is None else len(self.classes.answers) if named else self.classes.answers
        names = self.classes.answers if self.classes is not None and named else None
        return Schema(tuple(features), count, self.budgets.edges is not None, names)

    def document(self, now: datetime) -> dict[str, Any]:
        """Return the fields of the manifest that the file says by itself.

        Args:
            now: The present, for a study that does not say when it opens.
        """
        texts = [text for each in self.questions for text in each.texts]
        opens, closes = self.schedule.times(now)
        kept = self.schedule.delete_after
        return {
            "title": self.title,
            "purpose": self.purpose,
            "operator": f"{self.operator.name}, {self.operator.contact}",
            "eligible": self.people.eligible,
            "version": self.version,
            "schema": self.declared,
            "questions": texts or None,
            "class_question": None if self.classes is None else self.classes.ask,
            "delete_after": None if kept == "never" else kept,
            "opens": opens.isoformat(),
            "closes": closes.isoformat(),
        }


@dataclass(frozen=True)
class StudyFile:
    """A study's file that was read and found valid.

    Attributes:
        path: The file.
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
            path: The file.
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
            _change(document, key, value)
        try:
            declaration = Declaration.model_validate(document)
        except ValidationError as error:
            found = [_problem(each, document) for each in error.errors(include_url=False)]
            raise _invalid(path, lines, changes, found) from None
        file = cls(path, _written(document) if changes else text, declaration, lines, changes)
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


def template() -> str:
    """Return a file with comments in which ``...`` is to be filled in."""
    return (Path(__file__).parent / "template.toml").read_text(encoding="utf-8")


def _change(document: dict[str, Any], key: str, value: Any) -> None:
    """Put a value into a document; a number in the key is a place in a list."""
    *names, last = key.split(".")
    inside: Any = document
    for name in names:
        inside = (
            inside[int(name)]
            if _is_place(inside, name)
            else inside.setdefault(name, {})
            if isinstance(inside, dict)
            else None
        )
        if not isinstance(inside, dict | list):
            raise InvalidStudyFile([f"--set {key}: there is no table {'.'.join(names)} to change."])
    if _is_place(inside, last):
        inside[int(last)] = value
    elif isinstance(inside, dict):
        inside[last] = value
    else:
        raise InvalidStudyFile([f"--set {key}: the list {'.'.join(names)} has no such entry."])


def _written(document: Mapping[str, Any]) -> str:
    """Write a document as TOML: plain values first, then a table for each section."""
    plain = [f"{key} = {_value(value)}\n" for key, value in document.items() if not _is_section(value)]
    for key, value in document.items():
        if _is_section(value):
            header = f"\n[{key}]\n" if isinstance(value, dict) else f"\n[[{key}]]\n"
            plain += [header + _written_inside(each) for each in ([value] if isinstance(value, dict) else value)]
    return "".join(plain)


def _written_inside(section: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in section.items())


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


def _problem(error: ErrorDetails, document: dict[str, Any]) -> tuple[KeyPath, str]:
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


def _kinds(annotation: Any) -> Iterator[type[_Section]]:
    """Yield the sections that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, _Section):
        yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)
