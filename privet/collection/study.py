"""The study's manifest: everything that a device must know before it answers, and the identity that it pins.

The manifest is a JSON document in one canonical form (sorted keys, no spaces, ASCII), and the study's id is the SHA-256
of those bytes. A server that changes a budget, a range or a question has made another study, with another id.
"""

from __future__ import annotations

import hashlib
import json
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

from privet.data import Categories, Schema
from privet.errors import InvalidData, PrivetError
from privet.mechanisms import (
    HDS,
    AdjacencyResponse,
    AnalyticGaussian,
    Laplace,
    Mechanism,
    MultiBit,
    Piecewise,
    RandomizedResponse,
    SampledResponse,
)
from privet.privacy import Guarantee
from privet.privacy.guarantee import sum_up
from privet.privacy.study import study_guarantee

__all__ = ["FeatureBudget", "LabelBudget", "NeighbourBudget", "Study"]

MOST_NODES = (1 << 31) - 1
MOST_FEATURES = 1_000_000
LARGEST_DELTA = 1e-4
_NUMERIC: dict[str, Any] = {m.name: m for m in (MultiBit, HDS, Piecewise, Laplace, AnalyticGaussian)}


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


Text = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(_as_text)]
Epsilon = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Moment = Annotated[
    datetime, BeforeValidator(_as_moment), PlainSerializer(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
]
DeclaredSchema = Annotated[
    Schema, BeforeValidator(_as_schema), PlainSerializer(lambda schema: json.loads(schema.to_json()))
]


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)


class FeatureBudget(_Document):
    """How a device perturbs its features: ``epsilon`` is the true budget of the whole vector."""

    mechanism: Literal["multi-bit", "hds", "piecewise", "laplace", "analytic-gaussian", "sampled-response"]
    epsilon: Epsilon
    sample: Annotated[int, Field(ge=1)] | None = None
    delta: Annotated[float, Field(gt=0, le=LARGEST_DELTA)] | None = None

    def build(self, schema: Schema) -> Mechanism:
        """The mechanism for a schema's ranges or categories."""
        if self.mechanism == SampledResponse.name:
            sample = schema.dimension if self.sample is None else self.sample
            return SampledResponse.declare(schema, epsilon=self.epsilon, sample=sample, fill="none")
        extra = {} if self.delta is None else {"delta": self.delta}
        built: Mechanism = _NUMERIC[self.mechanism].declare(schema, epsilon=self.epsilon, sample=self.sample, **extra)
        return built

    @model_validator(mode="after")
    def _delta_where_it_is_used(self) -> Self:
        if (self.delta is not None) != (self.mechanism == AnalyticGaussian.name):
            raise ValueError("delta must be given for analytic-gaussian and for no other mechanism")
        return self


class LabelBudget(_Document):
    """How a device perturbs its owner's class."""

    mechanism: Literal["randomized-response"] = "randomized-response"
    epsilon: Epsilon


class NeighbourBudget(_Document):
    """How a device perturbs its owner's neighbour list: ``epsilon`` is the budget of one bit of one list.

    With ``one_sided`` only the endpoint of smaller id reports a pair, and a relationship costs ``epsilon``; otherwise
    both do, and it costs twice that.
    """

    mechanism: Literal["adjacency-response"] = "adjacency-response"
    epsilon: Epsilon
    one_sided: bool = True


class Study(_Document):
    """A study as its operator declares it. Labels and edges that are not asked for are public, or not used.

    >>> from privet.data import Schema
    >>> study = Study(
    ...     title="Sleep", purpose="A worked example.", operator="privet developers", eligible="Nobody.", nodes=100,
    ...     schema=Schema.numeric(2, low=0.0, high=12.0, classes=2), opens="2026-01-01T00:00:00Z",
    ...     closes="2026-02-01T00:00:00Z", features=FeatureBudget(mechanism="multi-bit", epsilon=1.0),
    ... )
    >>> Study.from_bytes(study.canonical()) == study, study.id[:8], study.guarantee().epsilon
    (True, '8405a8e4', 1.0)
    """

    format: Literal["privet-study-1"] = "privet-study-1"
    version: Annotated[int, Field(ge=1)] = 1
    title: Text
    purpose: Text
    operator: Text
    eligible: Text
    nodes: Annotated[int, Field(ge=2, le=MOST_NODES)]
    declared: DeclaredSchema = Field(alias="schema")
    questions: tuple[Text, ...] | None = None
    class_question: Text | None = None
    class_names: tuple[Text, ...] | None = None
    features: FeatureBudget
    labels: LabelBudget | None = None
    neighbours: NeighbourBudget | None = None
    opens: Moment
    closes: Moment

    @model_validator(mode="before")
    @classmethod
    def _lists_as_tuples(cls, values: Any) -> Any:
        names = ("questions", "class_names")
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
        if self.class_names is not None and len(self.class_names) != schema.classes:
            raise ValueError(f"class_names must be {schema.classes} names, one for each class")
        if self.labels is not None and not schema.classes:
            raise ValueError("labels must be null where the schema has no classes")
        if schema.private_edges != (self.neighbours is not None):
            raise ValueError("neighbours must be given if the schema says that edges are private, and only then")
        if self.closes <= self.opens:
            raise ValueError("closes must be later than opens")
        if self.closes - self.opens > timedelta(days=3660):
            raise ValueError("closes must be at most ten years after opens")
        _ = self.feature_mechanism, self.label_mechanism, self.neighbour_mechanism  # a budget beyond reach fails here
        return self

    @classmethod
    def read(cls, document: Any) -> Study:
        """A study from plain values; one sentence says what is wrong with others."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "whole"
            problem = first["msg"].removeprefix("Value error, ")
            raise InvalidData(f"study's manifest ({where})", "a valid one", problem) from None
        except (PrivetError, RecursionError, OverflowError) as error:
            raise InvalidData("study's manifest", "a valid one", str(error)) from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Study:
        """A study from its canonical bytes; any other spelling of it has another id and is refused."""
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidData("study's manifest", "JSON", str(error)) from None
        study = cls.read(document)
        if study.canonical() != data:
            raise InvalidData("study's manifest", "in canonical form (sorted keys, no spaces, ASCII)", "another form")
        return study

    def canonical(self) -> bytes:
        """The bytes that the id is made of and that a collector serves."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.canonical()).hexdigest()

    @cached_property
    def feature_mechanism(self) -> Any:
        """The randomiser of a feature vector."""
        return self.features.build(self.declared)

    @cached_property
    def label_mechanism(self) -> RandomizedResponse | None:
        """The randomiser of a class, where it is asked for."""
        if self.labels is None:
            return None
        return RandomizedResponse(epsilon=self.labels.epsilon, classes=self.declared.classes)

    @cached_property
    def neighbour_mechanism(self) -> AdjacencyResponse | None:
        """The randomiser of a neighbour list, where it is asked for."""
        if self.neighbours is None:
            return None
        one_sided = self.neighbours.one_sided
        return AdjacencyResponse(epsilon=self.neighbours.epsilon, num_nodes=self.nodes, one_sided=one_sided)

    def guarantee(self) -> Guarantee:
        """What a device promises its owner about everything that it sends in this study."""
        labels = None if self.label_mechanism is None else self.label_mechanism.guarantee()
        lists = None if self.neighbour_mechanism is None else self.neighbour_mechanism.guarantee()
        return study_guarantee(self.feature_mechanism.guarantee(), labels, lists, self.declared.classes)

    @property
    def cost(self) -> float:
        """What taking part costs its owner's lifetime budget: every answer, and each relationship in full."""
        lists = 0.0 if self.neighbour_mechanism is None else self.neighbour_mechanism.relationship_epsilon
        labels = 0.0 if self.labels is None else self.labels.epsilon
        return sum_up([float(self.feature_mechanism.guarantee().epsilon), labels, lists])

    def is_open(self, now: datetime) -> bool:
        """Whether reports may be made at this time."""
        return self.opens <= now < self.closes

    def question(self, feature: int) -> str:
        """What a feature is called."""
        return f"feature {feature}" if self.questions is None else self.questions[feature]

    def allowed(self, feature: int) -> str:
        """A feature's declared domain, in words."""
        domain = self.declared.features[feature]
        if isinstance(domain, Categories):
            return f"one of {domain.count} categories, 0 to {domain.count - 1}"
        return f"a number from {domain.low:g} to {domain.high:g}"
