"""A base class for results: to and from JSON files and data frames, short in a terminal, a table in a notebook."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from privet.data.files import atomic_file
from privet.errors import InvalidData, PrivetError
from privet.evaluation.notebook import table_html

__all__ = ["Document", "read_json"]


class Document(ABC):
    """A result that is kept as a JSON file."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, document: Any, where: str = "document") -> Self:
        """Read what :meth:`to_dict` made.

        Args:
            document: The plain values.
            where: The document's name in error messages.
        """

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of :meth:`to_frame`, each with the same columns."""

    def to_frame(self) -> Any:
        """Return the figures as a pandas data frame, one row a figure; pandas must be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise PrivetError("to_frame needs pandas: pip install 'privet[learning]'.") from None
        return pandas.DataFrame(self.rows())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, all of it or nothing."""
        with atomic_file(path) as file:
            file.write_text(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")  # controls keep their order

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote."""
        return cls.from_dict(read_json(path), f"file '{Path(path).name}'")

    def _repr_html_(self) -> str:
        rows = self.rows()
        head = [str(name) for name in rows[0]] if rows else [""]
        return table_html(head, [[_shown(value) for value in row.values()] for row in rows], repr(self))


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file; another file is an error that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InvalidData(f"file '{Path(path).name}'", "a result that privet wrote", "no JSON") from None


def demand(document: Any, names: tuple[str, ...], where: str, expected: str) -> Mapping[str, Any]:
    """Return the document if it is an object with the named fields; otherwise raise one sentence."""
    if not isinstance(document, dict):
        raise InvalidData(where, expected, f"a JSON {type(document).__name__}")
    missing = [name for name in names if name not in document]
    if missing:
        raise InvalidData(where, expected, f"one without {', '.join(missing)}")
    return document


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
