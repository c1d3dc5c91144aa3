"""The sections of a study's file: its keys, their values, and what does not fit together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, model_validator

from privet.collection.study.manifest import MOST_FEATURES, MOST_NODES, Text
from privet.collection.study.toml_text import KeyPath
from privet.data import Categories, Interval, Schema, Several
from privet.data.schema import Feature, Needs

__all__ = ["Declaration", "FeatureMechanism", "Section", "SystemChoice"]

DEFAULT_DAYS = 90
"""The days after closing for which a new study keeps reports unless its operator says otherwise.

Long enough to train a model, to check it and to train it again after an erasure; short enough that data whose purpose
is fulfilled do not lie about because nobody thought of them.
"""
BLANK = "..."  # what the template leaves to be filled in


def _filled(text: str) -> str:
    if text == BLANK:
        raise ValueError("is still to be filled in")
    return text


def _names_or_count(value: object) -> tuple[str, ...] | int:
    if isinstance(value, list) and len(value) > 1 and len({str(each) for each in value}) == len(value):
        if all(isinstance(each, str) and each.strip() and each.isprintable() for each in value):
            return tuple(value)
    elif type(value) is int and value > 1:
        return value
    raise ValueError("must be a list of at least two different texts, or their number")


def _share_or_file(value: object) -> float | str:
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
Answers = Annotated[tuple[str, ...] | int, PlainValidator(_names_or_count)]
Some = Annotated[float | str, PlainValidator(_share_or_file)]
Budget = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Days = Annotated[float, Field(ge=0.001, le=3650)]
Moment = Annotated[datetime, AfterValidator(_zoned)]


class Section(BaseModel):
    """A table of a study's file, which has the keys that are declared, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Operator(Section):
    """The operator of a study, who asks.

    Attributes:
        name: The person or body that asks.
        contact: How to reach them.
    """

    name: Words
    contact: Words


class People(Section):
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
    panel: Some | None = None
    ask_class: Some | None = None
    eligible: Words = "Holders of an enrolment token."

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if self.nodes is None and self.directory is None:
            raise ValueError("needs nodes, the number of people, or a directory of them")
        return self


class OnlyIf(Section):
    """The answer to an earlier question without which a question is not asked.

    Attributes:
        question: The number of the earlier question, from 1 on.
        answers: Those of its answers with which this one is asked.
    """

    question: Annotated[int, Field(ge=1)]
    answers: Annotated[tuple[str | int, ...], Field(strict=False, min_length=1)]


class Question(Section):
    """One feature, or several that have the same answers.

    Attributes:
        ask: The words of the question.
        low: The smallest number that can be answered.
        high: The largest one.
        answers: The categories instead of numbers: their names, or how many there are.
        ordered: True if the categories have an order, so that a mechanism for numbers may read them as 0, 1, 2.
        several: True if any number of the answers may be chosen.
        skip: True if "prefer not to say" is an answer of its own.
        only_if: The answer to an earlier question without which the device does not ask; that it did not is an answer
            of its own, and is reported as every other one.
        repeat: The number of features that are asked for in this way.
    """

    ask: Words | None = None
    low: float | None = None
    high: float | None = None
    answers: Answers | None = None
    ordered: bool = False
    several: bool = False
    skip: bool = False
    only_if: OnlyIf | None = None
    repeat: Annotated[int, Field(ge=1, le=MOST_FEATURES)] = 1

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        numbers = [each for each in (self.low, self.high) if each is not None]
        if (self.answers is not None) == bool(numbers) or len(numbers) == 1:
            raise ValueError("needs low and high for a number, or answers for categories")
        if numbers and not (math.isfinite(numbers[1] - numbers[0]) and numbers[0] < numbers[1]):
            raise ValueError(f"must have a low below its high, not {numbers[0]:g} and {numbers[1]:g}")
        if self.several and self.answers is None:
            raise ValueError("is about a number; several is for answers")
        if self.several and len(self.answers if isinstance(self.answers, tuple) else range(self.answers or 0)) > 30:
            raise ValueError("has more than 30 answers, of which several may be chosen; offer fewer")
        if self.several and self.ordered:
            raise ValueError("has several answers, which have no order; leave ordered out")
        if self.ordered and self.answers is None:
            raise ValueError("is about a number, which has an order; ordered is for answers")
        return self

    def feature(self, needs: Needs | None = None) -> Feature:
        """Return the declared domain.

        Args:
            needs: The condition under which it is asked, by codes.
        """
        if self.answers is None:
            return Interval(float(self.low or 0), float(self.high or 0), skip=self.skip, needs=needs)
        names = self.answers if isinstance(self.answers, tuple) else None
        count = self.answers if isinstance(self.answers, int) else len(self.answers)
        kind = Several if self.several else Categories
        return kind(count, names, skip=self.skip, needs=needs)

    @property
    def texts(self) -> list[str]:
        """The words of each feature; empty if there are none."""
        if self.ask is None:
            return []
        return [self.ask] if self.repeat == 1 else [f"{self.ask} ({i + 1})" for i in range(self.repeat)]


class ClassQuestion(Section):
    """The class that is predicted.

    Attributes:
        ask: The words in which people are asked for it.
        answers: The names of the classes, or how many there are.
    """

    ask: Words | None = None
    answers: Answers


class Budgets(Section):
    """The epsilon of everything that is asked; what has no budget is not asked for.

    Attributes:
        features: The true budget of the answer about the features.
        labels: The budget of the class; without it the operator knows some classes.
        edges: The budget of one bit of a friend list; without it, and without the next one, the edges are public.
        person: The budget of one answer about everything on the device, features and friend list together.
        delta: The delta of the mechanism analytic-gaussian.
        high_cost: True to go beyond the lifetime limit that participants' devices start with.
    """

    features: Budget | None = None
    labels: Budget | None = None
    edges: Budget | None = None
    person: Budget | None = None
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    high_cost: bool = False


class FeatureMechanism(Section):
    """The randomisation of answers in a study without a system.

    Attributes:
        name: The mechanism of the features.
        sample: The number of features in a report (default: the best number).
        one_sided: True if one end of each pair reports it, False if both do.
    """

    name: str = "multi-bit"
    sample: Annotated[int, Field(ge=1)] | None = None
    one_sided: bool = True


class SystemChoice(Section):
    """The system whose questions are asked, in as many rounds as it needs.

    Attributes:
        name: Its name, such as inquiry.
        settings: Its settings, apart from budgets and panel.
    """

    name: str
    settings: dict[str, Any] = {}


class Schedule(Section):
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
    delete_after: Annotated[int | Literal["never"], PlainValidator(_days_or_never)] = DEFAULT_DAYS

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


class PublicData(Section):
    """Files of what the operator knows without asking anybody, relative to the study's file.

    Attributes:
        edges: A CSV or Parquet file with the columns source and target.
        labels: A CSV or Parquet file with the columns node and label.
    """

    edges: Words | None = None
    labels: Words | None = None


class Declaration(Section):
    """The content of a study's file.

    Attributes:
        title: The first words that participants see.
        purpose: Why the data are asked for.
        language: The language of these words, in which the participants' page opens; None for the browser's.
        version: The study's own version number.
        publish_results: True to show everybody what people answered, as estimates, once the study has closed.
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
    publish_results: bool = False
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
        yield from self._conditions()
        worded = [bool(each.texts) for each in self.questions]
        if any(worded) and not all(worded):
            yield ("questions", worded.index(False)), "has no words. Give every question its ask, or none."
        if budgets.labels is not None and self.classes is None:
            yield ("budgets", "labels"), "needs a [class] with its answers."
        if budgets.person is not None and not planned:
            yield ("budgets", "person"), "needs a [system] that asks the person question, such as inquiry."
        elif not planned and budgets.features is budgets.labels is budgets.edges is None:
            yield ("budgets",), "asks for nothing. Give features, labels, edges or person an epsilon."
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

    def _conditions(self) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is wrong with conditions on other questions."""
        for place, each in enumerate(self.questions):
            if each.only_if is None:
                continue
            where: KeyPath = ("questions", place, "only_if")
            number = each.only_if.question
            other = self.questions[number - 1] if number <= place else None
            if other is None or other.repeat > 1 or other.answers is None or other.several:
                yield where, "must name an earlier question with answers of which one is chosen."
                continue
            known = other.answers if isinstance(other.answers, tuple) else tuple(range(other.answers))
            strange = [answer for answer in each.only_if.answers if answer not in known]
            if strange:
                yield where, f"names the answer {strange[0]!r}, which question {number} does not have."

    def _needs(self, question: Question) -> Needs | None:
        """Return a question's condition by codes."""
        if question.only_if is None:
            return None
        number, answers = question.only_if.question, question.only_if.answers
        column = sum(each.repeat for each in self.questions[: number - 1])
        known = self.questions[number - 1].answers
        codes = (known.index(str(each)) if isinstance(known, tuple) else int(each) for each in answers)
        return column, tuple(codes)

    @property
    def declared(self) -> Schema:
        """The public facts about the answers; edges are private if they have a budget, alone or within a person's."""
        features = [each.feature(self._needs(each)) for each in self.questions for _ in range(each.repeat)]
        answers = 0 if self.classes is None else self.classes.answers
        count, names = (answers, None) if isinstance(answers, int) else (len(answers), answers)
        within = self.budgets.person is not None and self.public.edges is None
        return Schema(tuple(features), count, within or self.budgets.edges is not None, names)

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
            "publish_results": self.publish_results,
            "opens": opens.isoformat(),
            "closes": closes.isoformat(),
        }
