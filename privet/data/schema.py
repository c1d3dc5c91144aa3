"""The public facts about private data, declared before collection.

Nothing in a schema is ever computed from private values: a range taken as the minimum and maximum over
all users' raw data would itself be a leak. A device clips values outside their range.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidData, InvalidParameter

__all__ = ["Categories", "Feature", "Interval", "Needs", "Schema", "Several"]

FORMAT_VERSION = 1


Needs: TypeAlias = tuple[int, tuple[int, ...]]
"""The number of another feature, and the codes of its categories with which a feature is asked for at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnAnswers:
    """Answers of their own, which lie outside the domain: they are coded as the next whole numbers above it.

    Attributes:
        skip: True if "prefer not to say" is an answer.
        needs: The answer to another feature without which this one does not apply (default None: it always does). That
            it does not apply is an answer too, which the device gives by itself.
    """

    skip: bool = field(default=False, repr=False)
    needs: Needs | None = field(default=None, repr=False)

    def _check_own(self) -> None:
        if not isinstance(self.skip, bool):
            raise InvalidParameter("skip", "True or False", self.skip)
        if self.needs is None:
            return
        column, codes = self.needs
        if not _is_integer(column) or not codes or not all(_is_integer(code) for code in codes):
            raise InvalidParameter("needs must be the number of a feature and codes of its categories.")
        object.__setattr__(self, "needs", (int(column), tuple(sorted({int(code) for code in codes}))))

    @property
    def extras(self) -> int:
        """The number of answers of their own."""
        return int(self.skip) + int(self.needs is not None)


@dataclass(frozen=True, slots=True)
class Interval(_OwnAnswers):
    """The domain of a number.

    Attributes:
        low: The smallest value.
        high: The largest value.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        self._check_own()
        try:
            low, high = float(self.low), float(self.high)
        except (TypeError, ValueError, OverflowError):
            low = high = math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidParameter("low, high", "finite with low < high", f"[{self.low}, {self.high}]")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


@dataclass(frozen=True, slots=True)
class Categories(_OwnAnswers):
    """The domain of a category.

    Attributes:
        count: The number of categories, coded 0 .. count - 1.
        names: The name of each category, in the order of the codes (default None: categories have codes only).

    >>> Categories.of(["no", "yes"]).code("yes")
    1
    """

    count: int
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._check_own()
        if not _is_integer(self.count) or self.count < 2:
            raise InvalidParameter("count", "an integer of at least 2", self.count)
        object.__setattr__(self, "count", int(self.count))
        object.__setattr__(self, "names", _checked_names(self.names, self.count, "names"))

    @classmethod
    def of(cls, categories: int | Sequence[str]) -> Categories:
        """Declare categories by their number, or by their names."""
        return cls(*_counted(categories))

    def code(self, answer: Any, what: str = "category") -> Any:
        """Return the code of a category's name; whatever is not a text is returned as it is.

        Args:
            answer: The name.
            what: The subject of the error about a name that there is not.
        """
        return _code(answer, self.names, what)


@dataclass(frozen=True, slots=True)
class Several(_OwnAnswers):
    """The domain of any number of choices, coded as the sum of 2^j over those that were chosen.

    Attributes:
        count: The number of choices, from 2 to 30.
        names: The name of each choice (default None: they have numbers only).
    """

    count: int
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self._check_own()
        if not _is_integer(self.count) or not 2 <= self.count <= _MOST_CHOICES:
            raise InvalidParameter("count", f"an integer from 2 to {_MOST_CHOICES}", self.count)
        object.__setattr__(self, "count", int(self.count))
        object.__setattr__(self, "names", _checked_names(self.names, self.count, "names"))


Feature = Interval | Categories | Several
_MOST_CHOICES = 30


@dataclass(frozen=True, repr=False)
class Schema:
    """The declaration of a graph's private data.

    Attributes:
        features: Each feature's domain, an :class:`Interval` or :class:`Categories`.
        classes: The number of classes; 0 if there are no labels.
        private_edges: True if the server does not know the edges.
        class_names: The name of each class (default None: classes have numbers only).

    >>> schema = Schema.numeric(3, low=0.0, high=1.0, classes=2)
    >>> schema
    Schema(3 features in [0, 1], 2 classes)
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    features: tuple[Feature, ...]
    classes: int = 0
    private_edges: bool = False
    class_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        for column, feature in enumerate(self.features):
            if not isinstance(feature, Interval | Categories | Several):
                raise InvalidParameter(f"features[{column}]", "an Interval, Categories or Several", feature)
            self._check_needs(column, feature.needs)
        if not _is_integer(self.classes) or self.classes < 0 or self.classes == 1:
            raise InvalidParameter("classes", "0 (no labels) or an integer of at least 2", self.classes)
        if not isinstance(self.private_edges, bool):
            raise InvalidParameter("private_edges", "true or false", self.private_edges)
        names = _checked_names(self.class_names, self.classes, "class_names")
        object.__setattr__(self, "class_names", names)

    def _check_needs(self, column: int, needs: Needs | None) -> None:
        """Refuse a condition on anything but categories of an earlier feature."""
        if needs is None:
            return
        other = self.features[needs[0]] if 0 <= needs[0] < column else None
        if not isinstance(other, Categories) or not 0 <= needs[1][0] <= needs[1][-1] < other.count:
            raise InvalidParameter(f"needs of features[{column}] must name categories of an earlier feature.")

    def __repr__(self) -> str:
        """Show runs of equal features once, the first three of them, on one line."""
        runs = [(feature, len(list(run))) for feature, run in groupby(self.features)]
        parts = [_described(feature, repeat) for feature, repeat in runs[:3]] or ["no features"]
        if len(runs) > 3:
            parts.append(f"{sum(repeat for _, repeat in runs[3:])} more features")
        parts += [f"{self.classes} classes" if self.classes else "no labels", *["private edges"] * self.private_edges]
        return f"Schema({', '.join(parts)})"

    @classmethod
    def numeric(
        cls,
        dimension: int,
        low: ArrayLike,
        high: ArrayLike,
        *,
        classes: int | Sequence[str] = 0,
        private_edges: bool = False,
    ) -> Schema:
        """Declare features that are numbers.

        Args:
            dimension: The number of features.
            low: The smallest value of all features, or of each.
            high: The largest value of all features, or of each.
            classes: The number of classes, or their names; 0 if there are no labels.
            private_edges: True if the server does not know the edges.
        """
        try:
            lows = np.broadcast_to(np.asarray(low, dtype=np.float64), (dimension,))
            highs = np.broadcast_to(np.asarray(high, dtype=np.float64), (dimension,))
        except ValueError:
            shapes = f"shapes {np.shape(low)} and {np.shape(high)}"
            raise InvalidParameter("low, high", f"a number or {dimension} numbers", shapes) from None
        pairs = zip(lows.tolist(), highs.tolist(), strict=True)
        number, names = _counted(classes)
        return cls(tuple(Interval(a, b) for a, b in pairs), number, private_edges, names)

    @classmethod
    def categorical(
        cls,
        counts: Iterable[int | Sequence[str]],
        *,
        classes: int | Sequence[str] = 0,
        private_edges: bool = False,
    ) -> Schema:
        """Declare features that are categories.

        Args:
            counts: Each feature's number of categories, or their names.
            classes: The number of classes, or their names; 0 if there are no labels.
            private_edges: True if the server does not know the edges.
        """
        number, names = _counted(classes)
        return cls(tuple(Categories.of(each) for each in counts), number, private_edges, names)

    @property
    def dimension(self) -> int:
        """The number of features."""
        return len(self.features)

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """Each feature's smallest value (0 for a category code)."""
        return np.array([f.low if isinstance(f, Interval) else 0.0 for f in self.features])

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """Each feature's largest value (count - 1 for a category code, 2^count - 1 for several choices)."""
        return np.array([_largest(feature) for feature in self.features])

    @cached_property
    def top(self) -> NDArray[np.float64]:
        """Each feature's largest code: answers of their own lie above the largest value."""
        return np.asarray(self.high + np.array([feature.extras for feature in self.features]))

    @property
    def mixed(self) -> bool:
        """True if a feature has several choices or answers of their own, which few mechanisms can report."""
        return any(isinstance(feature, Several) or feature.extras for feature in self.features)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """Each feature's number of categories; an error if a feature is an interval."""
        for column, feature in enumerate(self.features):
            if not isinstance(feature, Categories):
                raise InvalidData(f"feature {column} of the schema", "categorical", feature)
        return tuple(f.count for f in self.features if isinstance(f, Categories))

    def class_code(self, answer: Any, what: str = "class") -> Any:
        """Return the number of a class's name; whatever is not a text is returned as it is.

        Args:
            answer: The name.
            what: The subject of the error about a name that there is not.
        """
        return _code(answer, self.class_names, what)

    def to_json(self) -> str:
        """Write canonical JSON: keys are sorted, and equal neighbours written once with their number."""
        runs = [(feature, len(list(run))) for feature, run in groupby(self.features)]
        document = {
            "version": FORMAT_VERSION,
            "features": [_encode(feature, repeat) for feature, repeat in runs],
            "classes": self.classes if self.class_names is None else self.class_names,
            "private_edges": self.private_edges,
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read the JSON that :meth:`to_json` wrote; unknown or missing keys are errors.

        Args:
            text: The JSON document.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidData("schema", "JSON", str(error)) from None
        keys = {"version", "features", "classes", "private_edges"}
        if not isinstance(document, dict) or set(document) != keys:
            found = sorted(document) if isinstance(document, dict) else type(document).__name__
            raise InvalidData("schema", f"an object with the keys {sorted(keys)}", found)
        if not _is_integer(document["version"]) or document["version"] != FORMAT_VERSION:
            raise InvalidData("schema version", str(FORMAT_VERSION), document["version"])
        if not isinstance(document["features"], list):
            raise InvalidData("schema's features", "a list", document["features"])
        features: list[Feature] = []
        for entry in document["features"]:
            features += _decode(entry, _MAX_FEATURES - len(features))
        classes, names = _counted(document["classes"])
        return cls(tuple(features), classes, document["private_edges"], names)


def _counted(value: int | Sequence[str]) -> tuple[int, tuple[str, ...] | None]:
    """Split a number, or names that are counted, into both."""
    return (len(value), tuple(value)) if isinstance(value, list | tuple) else (value, None)  # type: ignore[return-value]


def _largest(feature: Feature) -> float:
    if isinstance(feature, Interval):
        return feature.high
    return feature.count - 1.0 if isinstance(feature, Categories) else 2.0**feature.count - 1.0


def _checked_names(names: Sequence[str] | None, count: int, parameter: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    texts = all(isinstance(name, str) and name.strip() and name.isprintable() for name in names)
    if isinstance(names, str) or len(names) != count or not texts or len(set(names)) < count:
        expected = f"{count} different texts of printable characters"
        raise InvalidParameter(parameter, expected, repr(names))
    return tuple(names)


def _code(answer: Any, names: tuple[str, ...] | None, what: str) -> Any:
    if not isinstance(answer, str):
        return answer
    if names is None or answer not in names:
        expected = "a number, since the schema gives no names" if names is None else f"one of {', '.join(names)}"
        raise InvalidData(f"The {what} must be {expected}.")  # which is private, and errors are logged
    return names.index(answer)


def _described(feature: Feature, repeat: int) -> str:
    plural = "feature" + "s" * (repeat != 1)
    if isinstance(feature, Interval):
        return f"{repeat} {plural} in [{feature.low:g}, {feature.high:g}]"
    return f"{repeat} {plural} of {feature.count} {'categories' if isinstance(feature, Categories) else 'choices'}"


def _encode(feature: Feature, repeat: int) -> dict[str, Any]:
    own: dict[str, Any] = {"skip": True} if feature.skip else {}
    own |= {} if feature.needs is None else {"needs": feature.needs}
    if isinstance(feature, Interval):
        return {"interval": [feature.low, feature.high], "repeat": repeat, **own}
    kind = "categories" if isinstance(feature, Categories) else "several"
    return {kind: feature.count if feature.names is None else feature.names, "repeat": repeat, **own}


_MAX_FEATURES = 10_000_000


def _decode(entry: object, most: int) -> Sequence[Feature]:
    kinds = set(entry) - {"repeat", "skip", "needs"} if isinstance(entry, Mapping) else set()
    known = ({"interval"}, {"categories"}, {"several"})
    if not isinstance(entry, Mapping) or "repeat" not in entry or kinds not in known:
        expected = 'an object with "repeat" and one of "interval", "categories", "several"'
        raise InvalidData("schema feature", expected, entry)
    own = _decode_own(entry)
    repeat = entry["repeat"]
    if not _is_integer(repeat) or not 1 <= repeat <= most:
        raise InvalidData("schema feature's repeat", f"at least 1, and {_MAX_FEATURES} features in all", repeat)
    if "interval" not in entry:
        kind = Categories if "categories" in entry else Several
        return [kind(*_counted(entry[kinds.pop()]), **own)] * int(repeat)
    bounds = entry["interval"]
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(_is_number(bound) for bound in bounds):
        raise InvalidData("schema feature's interval", "two numbers", bounds)
    return [Interval(bounds[0], bounds[1], **own)] * int(repeat)


def _decode_own(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Read the answers of their own; each key is there only if it says something."""
    skip, needs = entry.get("skip", True), entry.get("needs", [0, [0]])
    shaped = isinstance(needs, list) and len(needs) == 2 and isinstance(needs[1], list)
    if skip is not True or not shaped:
        raise InvalidData("schema feature", 'one with "skip": true or "needs": [feature, [codes]] if at all', entry)
    found: dict[str, Any] = {"skip": True} if "skip" in entry else {}
    return found | ({"needs": (needs[0], tuple(needs[1]))} if "needs" in entry else {})


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
