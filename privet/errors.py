"""Every error that privet raises on purpose.

A number or a word outside its allowed values has one short form, ``epsilon must be above 0, not -1.`` Every other error
is a sentence of its own: what went wrong, then what to do.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import overload

__all__ = [
    "IncompatibleGuarantees",
    "InvalidData",
    "InvalidParameter",
    "InvalidReports",
    "MissingParameter",
    "OutOfRangeWarning",
    "PrivetError",
    "UnknownParameter",
    "must_be",
    "one_line",
]


class PrivetError(Exception):
    """The root of the tree: catch this to catch everything that privet raises on purpose."""


class InvalidParameter(PrivetError, ValueError):
    """An argument that is outside its allowed values.

    Args:
        name: The parameter's name, or a whole sentence if nothing else is given.
        expected: The allowed values, such as "above 0".
        found: The value that was given; it is shortened to one line.

    Attributes:
        parameter: The parameter's name, None if the error is a sentence of its own.
        expected: As given.
        found: As given.
    """

    @overload
    def __init__(self, name: str, /) -> None: ...

    @overload
    def __init__(self, name: str, expected: str, found: object) -> None: ...

    def __init__(self, name: str, expected: str | None = None, found: object = None) -> None:
        super().__init__(name if expected is None else must_be(name, expected, found))
        self.parameter = None if expected is None else name
        self.expected, self.found = expected, found


class UnknownParameter(InvalidParameter):
    """A parameter that the thing does not have.

    Args:
        name: The parameter's name, or a whole sentence if nothing else is given.
        owner: The name of the thing.
        known: The parameters that it has.
    """

    def __init__(self, name: str, owner: str | None = None, known: Collection[str] = ()) -> None:
        whole = owner is None
        super().__init__(name if whole else f"{owner} has no parameter '{name}'; it has {', '.join(known)}.")
        self.parameter, self.owner, self.known = None if whole else name, owner, tuple(known)


class MissingParameter(InvalidParameter):
    """A parameter without a default that was not given.

    Args:
        name: The parameter's name, or a whole sentence if nothing else is given.
        owner: The name of the thing that needs it.
    """

    def __init__(self, name: str, owner: str | None = None) -> None:
        super().__init__(name if owner is None else f"{owner} needs {name}.")
        self.parameter, self.owner = None if owner is None else name, owner


class InvalidData(PrivetError, ValueError):
    """Data at the door (a file, an array, a graph) that does not fit its declaration.

    Args:
        what: The thing at fault, such as "label of node 3", or a whole sentence if nothing else is given.
        expected: What it must be.
        found: What it is; it is shortened to one line, and must not be a private value.
    """

    @overload
    def __init__(self, what: str, /) -> None: ...

    @overload
    def __init__(self, what: str, expected: str, found: object) -> None: ...

    def __init__(self, what: str, expected: str | None = None, found: object = None) -> None:
        super().__init__(what if expected is None else must_be(f"The {what}", expected, found))


class InvalidReports(InvalidData):
    """Reports that no device following the protocol could have sent."""


class IncompatibleGuarantees(PrivetError, TypeError):
    """Guarantees that cannot be added because they speak of different things.

    Args:
        aspect: What differs, such as "unit", or a whole sentence if nothing else is given.
        left: The first guarantee's.
        right: The second guarantee's.
    """

    def __init__(self, aspect: str, left: object = None, right: object = None) -> None:
        differs = f"These guarantees cannot be added, because their {aspect} differs: {left!s} and {right!s}."
        super().__init__(aspect if left is None and right is None else differs)


class OutOfRangeWarning(UserWarning):
    """Values outside their declared range were clipped on the device; the report does not say so."""


def one_line(value: object) -> str:
    """Show a value, or another library's error, within a sentence: on one line, of at most 80 characters.

    Args:
        value: A text, whose full stop is left out, or anything that has a ``repr``.
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a number of numpy, whose name is not for people
    text = " ".join((value if isinstance(value, str) else repr(value)).split()).removesuffix(".")
    return text if len(text) <= 80 else text[:77] + "..."


def must_be(what: str, expected: str, found: object) -> str:
    """Return the short form of an error.

    Args:
        what: The thing at fault.
        expected: The allowed values, such as "above 0", and after a colon the reason, if there is one.
        found: What was given instead.
    """
    allowed, colon, reason = expected.partition(": ")
    return f"{what} must be {allowed}, not {one_line(found)}{colon}{reason}."
