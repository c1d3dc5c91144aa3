"""The public facts about private data, declared before collection.

Nothing in a schema is ever computed from private values: a range taken as the minimum and maximum over
all users' raw data would itself be a leak. A device clips values outside their range.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privet.errors import InvalidData, InvalidParameter

__all__ = ["Categories", "Feature", "Interval", "Schema"]

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Interval:
    """The domain of a number.

    Attributes:
        low: The smallest value.
        high: The largest value.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        try:
            low, high = float(self.low), float(self.high)
        except (TypeError, ValueError, OverflowError):
            low = high = math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InvalidParameter("low, high", "finite with low < high", f"[{self.low}, {self.high}]")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


@dataclass(frozen=True, slots=True)
class Categories:
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


Feature = Interval | Categories


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
            if not isinstance(feature, Interval | Categories):
                raise InvalidParameter(f"features[{column}]", "an Interval or Categories", feature)
        if not _is_integer(self.classes) or self.classes < 0 or self.classes == 1:
            raise InvalidParameter("classes", "0 (no labels) or an integer of at least 2", self.classes)
        if not isinstance(self.private_edges, bool):
            raise InvalidParameter("private_edges", "true or false", self.private_edges)
        names = _checked_names(self.class_names, self.classes, "class_names")
        object.__setattr__(self, "class_names", names)

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
        """Each feature's largest value (count - 1 for a category code)."""
        return np.array([f.high if isinstance(f, Interval) else f.count - 1.0 for f in self.features])

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
    return f"{repeat} {plural} of {feature.count} categories"


def _encode(feature: Feature, repeat: int) -> dict[str, Any]:
    if isinstance(feature, Interval):
        return {"interval": [feature.low, feature.high], "repeat": repeat}
    return {"categories": feature.count if feature.names is None else feature.names, "repeat": repeat}


_MAX_FEATURES = 10_000_000


def _decode(entry: object, most: int) -> Sequence[Feature]:
    if not isinstance(entry, Mapping) or set(entry) not in ({"interval", "repeat"}, {"categories", "repeat"}):
        raise InvalidData("schema feature", 'an object with "repeat" and one of "interval", "categories"', entry)
    repeat = entry["repeat"]
    if not _is_integer(repeat) or not 1 <= repeat <= most:
        raise InvalidData("schema feature's repeat", f"at least 1, and {_MAX_FEATURES} features in all", repeat)
    if "categories" in entry:
        return [Categories.of(entry["categories"])] * int(repeat)
    bounds = entry["interval"]
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(_is_number(bound) for bound in bounds):
        raise InvalidData("schema feature's interval", "two numbers", bounds)
    return [Interval(bounds[0], bounds[1])] * int(repeat)


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
