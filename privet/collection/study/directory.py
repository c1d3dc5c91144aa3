"""The directory of a study's participants: who has which number.

A one-sided question about a neighbour list is answered by the person with the smaller number. A server that gave
different people different numbers could make both ends of a pair report it. A manifest that contains the SHA-256 of one
list of "node,name" lines, which every device can read and check, excludes that.
"""

from __future__ import annotations

import csv
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from privet.errors import InvalidData

__all__ = ["Directory"]


@dataclass(frozen=True)
class Directory:
    """The names of a study's participants.

    Attributes:
        names: The name of node 0, of node 1, and so on; all different, one line of printable characters each.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        odd = next((name for name in self.names if not name.strip() or not name.isprintable()), None)
        if odd is not None:
            raise InvalidData(
                f"The directory of participants has the name {odd!r}; names must have printable characters."
            )
        if len(self._nodes) < len(self.names):
            twice = next(name for node, name in enumerate(self.names) if self._nodes[name] != node)
            raise InvalidData(f"The directory of participants has '{twice}' twice. Give people different names.")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Directory:
        """Read a CSV file with the columns ``node`` and ``name``, one line for each node from 0 on."""
        source = Path(path)
        try:
            with source.open(newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            found = getattr(error, "strerror", None) or "it is no text"
            raise InvalidData(f"The directory {source.name} cannot be read as a CSV file: {found}.") from None
        if not rows or rows[0] != ["node", "name"]:
            raise InvalidData(f"The directory {source.name} must be a CSV file with the columns node and name.")
        for number, row in enumerate(rows[1:]):
            if len(row) != 2 or row[0] != str(number):
                expected = f"one line for each node in order, such as {number},NAME"
                raise InvalidData(f"directory '{source.name}'", expected, ",".join(row))
        return cls(tuple(name for _, name in rows[1:]))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the "node,name" lines in UTF-8, each with a line feed, in hexadecimal."""
        return hashlib.sha256(self.lines).hexdigest()

    @property
    def lines(self) -> bytes:
        """The "node,name" lines, which devices download whole."""
        return "".join(f"{node},{name}\n" for node, name in enumerate(self.names)).encode()

    @cached_property
    def _nodes(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    def node(self, name: str) -> int:
        """Return the number of a person."""
        if name not in self._nodes:
            raise InvalidData(f"'{name}' is not in the directory of participants. Write the name as it is there.")
        return self._nodes[name]

    def __len__(self) -> int:
        return len(self.names)
