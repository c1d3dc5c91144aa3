"""Every error privet raises on purpose, and the one sentence shape that all of them share.

A message says what was expected, what was found and where, in one line:
``The 'epsilon' parameter of MultiBit must be a finite number above 0. Got -1 instead.``
"""

from __future__ import annotations

__all__ = [
    "IncompatibleGuarantees",
    "InvalidData",
    "InvalidParameter",
    "InvalidReports",
    "OutOfRangeWarning",
    "PrivetError",
]


class PrivetError(Exception):
    """The root of the tree: catch this to catch everything that privet raises on purpose."""


class InvalidParameter(PrivetError, ValueError):
    """A constructor or function argument is outside its allowed values."""

    def __init__(self, name: str, owner: str, expected: str, found: object) -> None:
        super().__init__(f"The '{name}' parameter of {owner} must be {expected}. Got {_short(found)} instead.")
        self.name, self.owner, self.expected = name, owner, expected


class InvalidData(PrivetError, ValueError):
    """Data at the door (a file, an array, a graph) does not fit its declaration."""

    def __init__(self, what: str, expected: str, found: object) -> None:
        super().__init__(f"The {what} must be {expected}. Got {_short(found)} instead.")


class InvalidReports(InvalidData):
    """Reports that no device following the protocol could have sent."""


class IncompatibleGuarantees(PrivetError, TypeError):
    """Guarantees that cannot be added because they speak of different things."""

    def __init__(self, aspect: str, left: object, right: object) -> None:
        super().__init__(
            f"The {aspect} of guarantees that are added must be the same. Got {left!s} and {right!s} instead."
        )


class OutOfRangeWarning(UserWarning):
    """Values outside their declared range were clipped on the device; the report does not say so."""


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."
