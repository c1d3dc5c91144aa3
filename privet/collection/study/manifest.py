"""The study's manifest: everything that a device must know before it answers, and the identity that it pins.

The manifest is a JSON document in one canonical form (sorted keys, no spaces, ASCII), and the study's id is the SHA-256
of those bytes. A server that changes a budget, a range or a question has made another study, with another id. A study
in rounds is a chain of manifests, each of which names those before it (:mod:`privet.collection.study.chain`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from privet.data import Categories, Interval, Schema
from privet.data.population import Population
from privet.data.schema import Feature
from privet.errors import InvalidData, PrivetError
from privet.privacy import Guarantee, Unit
from privet.release import LocalRelease
from privet.release.price import Price

__all__ = ["DEFAULT_LIMIT", "Inputs", "InvalidManifest", "Plan", "Study", "quoted"]

MOST_NODES = (1 << 31) - 1
MOST_FEATURES = 1_000_000
LARGEST_DELTA = 1e-4
DEFAULT_LIMIT = 4.0
"""The epsilon that a person gives away in a lifetime unless they say otherwise.

It lets a suspicion of 1 % become one of 36 % at most: a strong suspicion, but still less likely true than false. From
about 5 on the promise says little about any single suspicion, and 10 is none.
"""
_ALWAYS_KNOWN = (
    "roughly when the report was sent: the collector keeps the minute of its arrival",
    "what is true of people in general: a model of this study classifies people who did not answer, too",
)
_SHOWN = "the features and classes of a panel, people who agreed to show them as they are"
_FRIENDS = "the friends of a panel, people who agreed to show them: a friendship with one of them is shown as it is"
_PUBLISHED = (
    "your class, as you report or show it, under your number: a later round gives every participant a table of "
    "classes, which keeps it even if you withdraw"
)
_LISTED = "that you are a participant, with the name in the list of participants: every participant can read the list"
_NAMED = (
    "what others report about you, such as a place in their lists or counts, whether you take part or not; it stays "
    "when you withdraw"
)
_PANEL = "the panel, who show their features and class as they are"
_OPEN_PANEL = "the panel, who show their features, class and friends as they are, and their friendships"
_WHO = (
    "who is asked in later rounds, which follows from public facts and from randomised answers to earlier ones, your "
    "own among them: what you report of your friends, for example, can decide whether you are asked again"
)


class InvalidManifest(InvalidData):
    """A manifest that is no valid study.

    Args:
        problem: A clause or a sentence that says what is wrong with it.
        where: The field, such as "closes"; empty if it is about the whole.
    """

    def __init__(self, problem: str, where: str = "") -> None:
        place = f" (field '{where}')" if where else ""
        PrivetError.__init__(self, f"The study's manifest is not valid{place}: {problem.rstrip('.')}.")


def _as_moment(value: object) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError("must be a time with its zone, such as 2026-03-01T12:00:00Z")
    return moment.astimezone(UTC).replace(microsecond=0)


def _as_schema(value: object) -> Schema:
    if isinstance(value, Schema):
        return value
    entries = value.get("features") if isinstance(value, dict) else None
    repeats = [entry.get("repeat") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    if sum(repeat for repeat in repeats if isinstance(repeat, int)) > MOST_FEATURES:
        raise ValueError(f"must have at most {MOST_FEATURES} features")
    return Schema.from_json(json.dumps(value))


def _as_text(value: str) -> str:
    # Control characters and changes of direction could hide or forge what an owner reads before agreeing.
    if not value.isprintable() or not value.strip():
        raise ValueError("must be one line of printable characters")
    return value


def _plain(question: dict[str, Any]) -> str:
    return json.dumps(question, sort_keys=True)


def with_what_is_known(promise: Guarantee) -> Guarantee:
    """Add to a promise what every collector knows, whatever is asked."""
    return replace(promise, unprotected=(*promise.unprotected, *_ALWAYS_KNOWN))


Text = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_as_text)]
Moment = Annotated[
    datetime, BeforeValidator(_as_moment), PlainSerializer(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
]
DeclaredSchema = Annotated[
    Schema, BeforeValidator(_as_schema), PlainSerializer(lambda schema: json.loads(schema.to_json()))
]


Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)


class Plan(_Document):
    """The use of the answers, and the rule by which later rounds ask people.

    Attributes:
        system: The name of the system that learns from them, such as "lpgnn".
        settings: Its settings, with the public seed of its draws: anybody can recompute who is asked what.
        questions: The questions of all rounds as plain values, without the tables that are drawn up later. Whoever
            reads them knows the price of all rounds, and no round may ask anything else.
    """

    system: Text
    settings: dict[str, Any]
    questions: Annotated[tuple[dict[str, Any], ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v)]


class Inputs(_Document):
    """The operator's public data from which rounds are computed, by their digests.

    Attributes:
        edges: The public topology; None if lists are private.
        labels: The public classes of some people; None if classes are asked for.
    """

    edges: Digest | None = None
    labels: Digest | None = None


class Study(_Document):
    """A study, or one round of it, as its operator declares it.

    Labels and edges that are not asked for are known to the operator.

    Attributes:
        format: The version of this document's format.
        version: The study's own version number.
        title: The first words that participants see.
        purpose: Why the data are asked for.
        operator: Who asks, and how to reach them.
        eligible: Who may take part.
        nodes: The number of people, whose ids are 0 to nodes - 1.
        declared: The schema (``schema`` in the document).
        asked: The questions as plain values (``release`` in the document); :attr:`release` is the object.
        questions: How each feature is asked for.
        class_question: How the class is asked for.
        directory: The SHA-256 of the list of participants (:mod:`privet.collection.study.directory`), if one is bound;
            a device that has the list can then tell that everybody was given the same numbers. None without a list.
        earlier: The ids of the rounds before this one, oldest first.
        people: The digest of the ids of the people who are asked; None for everybody but the panel.
        panel: The digest of the ids of the people who are asked to show their features and class as they are.
        plan: The system, its settings and the questions of all rounds; None if the system is chosen after the
            collection, which then has one round.
        inputs: The operator's public data that rounds are computed from.
        delete_after: The number of days after closing after which the collector deletes reports; None for never.
        publish_results: True if everybody sees what people answered, as estimates, once the study has closed.
        opens: The first moment at which reports are taken.
        closes: The first moment at which they are not taken any more.

    >>> from privet.data import Schema
    >>> study = Study(
    ...     title="Sleep", purpose="A worked example.", operator="privet developers", eligible="Nobody.", nodes=100,
    ...     schema=Schema.numeric(2, low=0.0, high=12.0, classes=2), opens="2026-01-01T00:00:00Z",
    ...     closes="2026-02-01T00:00:00Z", release=[{"ask": "features", "mechanism": "multi-bit", "epsilon": 1.0}],
    ... )
    >>> Study.from_bytes(study.canonical()) == study, study.release.guarantee().epsilon
    (True, 1.0)
    """

    format: Literal["privet-study-4"] = "privet-study-4"
    version: Annotated[int, Field(ge=1)] = 1
    title: Text
    purpose: Text
    operator: Text
    eligible: Text
    nodes: Annotated[int, Field(ge=2, le=MOST_NODES)]
    declared: DeclaredSchema = Field(alias="schema")
    questions: tuple[Text, ...] | None = None
    class_question: Text | None = None
    asked: tuple[dict[str, Any], ...] = Field(alias="release")
    directory: Identity | None = None
    earlier: Annotated[tuple[Identity, ...], Field(max_length=100)] = ()
    people: Digest | None = None
    panel: Digest | None = None
    plan: Plan | None = None
    inputs: Inputs = Inputs()
    delete_after: Annotated[int, Field(ge=0, le=36_600)] | None = None
    publish_results: bool = False
    opens: Moment
    closes: Moment

    @model_validator(mode="before")
    @classmethod
    def _lists_as_tuples(cls, values: Any) -> Any:
        names = ("questions", "release", "earlier")
        if isinstance(values, dict):
            return {k: tuple(v) if k in names and isinstance(v, list) else v for k, v in values.items()}
        return values

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        schema = self.declared
        if not schema.dimension:
            raise ValueError("schema must have at least one feature")
        if self.questions is not None and len(self.questions) != schema.dimension:
            raise ValueError(f"questions must be {schema.dimension} texts, one for each feature")
        if schema.mixed and not self._reports_mixed():
            raise ValueError(
                "several choices, 'prefer not to say' and questions that depend on others need the mechanism "
                "mixed-response and no panel: any other would read them as something else"
            )
        if self.release.asks("label") and not schema.classes:
            raise ValueError("release must not ask for the label where the schema has no classes")
        self._check_plan()
        if self.planned.asks_about(Unit.NEIGHBOUR_BIT) != schema.private_edges:
            raise ValueError(
                "release must ask about neighbours if, and only if, the schema says that edges are private"
            )
        for question in self.release.questions:
            both = next(filter(self.release.asks, question.ask.instead_of), None)
            if both is not None:
                raise ValueError(f"release must not ask '{question.name}' and '{both}' in one round")
        if not self.release.questions and self.panel is None:
            raise ValueError("release must have at least one question, unless a panel is asked")
        if len(set(self.earlier)) < len(self.earlier):
            raise ValueError("earlier must name different rounds")
        if self.price.delta > LARGEST_DELTA:
            raise ValueError(f"release must have a delta of at most {LARGEST_DELTA:g}")
        if self.closes <= self.opens:
            raise ValueError("closes must be later than opens")
        if self.closes - self.opens > timedelta(days=3660):
            raise ValueError("closes must be at most ten years after opens")
        return self

    def _reports_mixed(self) -> bool:
        """Tell whether every question about features is asked with a mechanism that knows their kinds."""
        about = [each for each in self.planned.questions if each.ask.unit in (Unit.FEATURES, Unit.PERSON)]
        return self.panel is None and all("columns" in each.mechanism.implied for each in about)

    def _check_plan(self) -> None:
        """Refuse a plan that states tables, and questions that are not the plan's."""
        if self.plan is None:
            return
        planned = {question.name: _plain(question.declared()) for question in self.planned.questions}
        if list(planned.values()) != list(map(_plain, self.plan.questions)):
            raise ValueError("plan must state its questions without tables and without empty values")
        for question, entry in zip(self.release.questions, self.asked, strict=True):
            if question.name not in planned:
                raise ValueError(f"release must not ask '{question.name}', which the plan does not announce")
            later = question.ask.drawn_up_later()
            kept = {name: value for name, value in entry.items() if value is not None and name not in later}
            if planned[question.name] != _plain(kept):
                raise ValueError(f"release must ask '{question.name}' with the mechanism that the plan announces")

    @classmethod
    def read(cls, document: Any) -> Study:
        """Read a study from plain values; one sentence says what is wrong with others."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            problem = " ".join(first["msg"].removeprefix("Value error, ").split())
            raise InvalidManifest(problem, ".".join(map(str, first["loc"]))) from None
        except (PrivetError, RecursionError, OverflowError) as error:
            raise InvalidManifest(str(error)) from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Study:
        """Read a study from its canonical bytes; any other spelling of it has another id and is refused."""
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidManifest(f"it is not JSON ({error})") from None
        study = cls.read(document)
        try:
            canonical = study.canonical()
        except (ValueError, RecursionError):
            raise InvalidManifest("it is nested too deeply") from None
        if canonical != data:
            raise InvalidManifest("it is not in canonical form (sorted keys, no spaces, ASCII)")
        return study

    def canonical(self) -> bytes:
        """Return the bytes that the id is made of and that a collector serves."""
        document = self.model_dump(mode="json", by_alias=True)
        if not self.publish_results:
            del document["publish_results"]  # so that a device that does not know the key refuses only where it is said
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.canonical()).hexdigest()

    @property
    def population(self) -> Population:
        """The public facts that the questions depend on."""
        return Population(self.declared, self.nodes)

    @property
    def round(self) -> int:
        """The number of this round, from 1 on."""
        return len(self.earlier) + 1

    @property
    def chain(self) -> str:
        """The id of the first round, which the rounds of one study have in common."""
        return self.earlier[0] if self.earlier else self.id

    @property
    def publishes_classes(self) -> bool:
        """True if a later round gives everybody a table of the classes that people reported or showed."""
        asked = any(question.ask.publishes_classes for question in self.planned.questions)
        return self.plan is not None and asked and self.inputs.labels is None

    @property
    def shows_friends(self) -> bool:
        """True if a panel shows its friends beside features and class, so that a question can weigh both."""
        return any(question.ask.weighs_friends for question in self.planned.questions)

    @cached_property
    def planned(self) -> LocalRelease:
        """The questions of all rounds without their tables; those of this one if there is no plan."""
        stated = self.asked if self.plan is None else self.plan.questions
        return LocalRelease.from_list(stated, self.population)

    @property
    def in_rounds(self) -> bool:
        """True if there are rounds before this one, or if the plan announces later ones."""
        return bool(self.earlier) or len(self.planned.questions) > len(self.asked)

    @cached_property
    def release(self) -> LocalRelease:
        """Everything that leaves a device: the object that devices, the collector and training share."""
        hidden = {Unit.NEIGHBOUR_BIT} if self.declared.private_edges else set()
        if self.planned.asks_about(Unit.LABEL):
            hidden.add(Unit.LABEL)
        told = {
            _SHOWN: self.panel is not None,
            _FRIENDS: self.panel is not None and self.shows_friends,
            _LISTED: self.directory is not None,
            _PUBLISHED: self.publishes_classes,
            _NAMED: self.declared.private_edges,
            _WHO: self.in_rounds,
        }
        disclosed = [sentence for sentence, holds in told.items() if holds]
        asked = LocalRelease.from_list(self.asked, self.population)
        exempt = () if self.panel is None else (_OPEN_PANEL if self.shows_friends else _PANEL,)
        return replace(asked, disclosed=tuple(disclosed), exempt=exempt, hidden=frozenset(hidden))

    def guarantee(self) -> Guarantee:
        """Return what a device promises its owner about everything that it sends in this study.

        The list of what is not protected is the one that page, terminal, privacy statement and operator's page show.
        """
        return with_what_is_known(self.release.guarantee())

    @property
    def price(self) -> Price:
        """The price of answering this round."""
        return self.release.price

    @property
    def window(self) -> str:
        """The sentence that says when reports are taken."""
        return f"The study takes reports from {self.opens:%Y-%m-%d %H:%M} to {self.closes:%Y-%m-%d %H:%M} UTC."

    @property
    def deletion_time(self) -> datetime | None:
        """The moment at which this round's reports are deleted; None if the manifest promises none."""
        if self.delete_after is None:
            return None
        try:
            return self.closes + timedelta(days=self.delete_after)
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC, microsecond=0)  # the calendar ends there

    def is_open(self, now: datetime) -> bool:
        """Tell whether reports may be made at this time."""
        return self.opens <= now < self.closes

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """The names of the classes, if the schema gives them."""
        return self.declared.class_names

    @property
    def allowed_classes(self) -> str:
        """Return the classes in words."""
        if self.class_names is not None:
            return f"one of {quoted(self.class_names)}"
        return f"a number from 0 to {self.declared.classes - 1}"

    def question(self, feature: int) -> str:
        """Return the words in which a feature is asked for."""
        return f"feature {feature}" if self.questions is None else self.questions[feature]

    def allowed(self, feature: int) -> str:
        """Return a feature's declared domain, in words."""
        domain = self.declared.features[feature]
        return _in_words(domain) + (", or nothing (prefer not to say)" if domain.skip else "") + self._only_if(domain)

    def _only_if(self, domain: Feature) -> str:
        """Return the condition under which a feature is asked for, in words."""
        if domain.needs is None:
            return ""
        column, codes = domain.needs
        other = self.declared.features[column]
        names = getattr(other, "names", None)
        answers = " or ".join(names[code] if names else str(code) for code in codes)
        return f"; only if the answer to '{self.question(column)}' is {answers}"


def _in_words(domain: Feature) -> str:
    if isinstance(domain, Interval):
        return f"a number from {domain.low:g} to {domain.high:g}"
    some = "one of" if isinstance(domain, Categories) else "any of"
    if domain.names is not None:
        return f"{some} {quoted(domain.names)}"
    kinds = "categories" if isinstance(domain, Categories) else "choices"
    return f"{some} {domain.count} {kinds}, 0 to {domain.count - 1}"


def quoted(names: Sequence[str]) -> str:
    """Return names in quotation marks: an answer may have a comma of its own."""
    return ", ".join(f"'{name}'" for name in names)
