"""Words and numbers of a results page, in the language of its reader."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["LANGUAGES", "Words"]

LANGUAGES = ("en", "de", "fr", "es")
_GROUPS = {"en": ",", "de": ".", "fr": "\u202f", "es": "."}


@cache
def _catalogue(language: str) -> dict[str, str]:
    text = (files("privet.collection.operator.results") / "words" / f"{language}.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Words:
    """The catalogue of one language.

    Attributes:
        language: One of LANGUAGES; another one is read as English.
    """

    language: str

    @property
    def tag(self) -> str:
        """The language's code."""
        return self.language if self.language in LANGUAGES else LANGUAGES[0]

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its values."""
        return _catalogue(self.tag)[key].format(**values)

    def number(self, value: float, digits: int = 0) -> str:
        """Return a number as the language writes it."""
        if not math.isfinite(value):
            return self("unknown")
        written = f"{value:,.{digits}f}"
        if written.strip("-0.,") == "":
            written = written.removeprefix("-")
        if self.tag == "en":
            return written
        return written.translate({ord(","): _GROUPS[self.tag], ord("."): ","})

    def percent(self, share: float, digits: int = 0) -> str:
        """Return a share in percent."""
        space = "" if self.tag == "en" else "\u00a0"
        return f"{self.number(100 * share, digits)}{space}%" if math.isfinite(share) else self("unknown")
