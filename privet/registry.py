"""Named plugins: privet's own, one a file, and those that other packages add through Python entry points."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from privet.errors import InvalidParameter

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Mapping[str, type[T]], Generic[T]):
    """Finds the classes of one kind by name, and imports each of them only when it is asked for.

    A file of one of the ``packages`` is a plugin named after the file, with hyphens for underscores, unless the file's
    name begins with an underscore; so is a folder with a file of its own name, such as ``inquiry/inquiry.py``. The file
    must hold a class whose ``name`` is the plugin's. A package outside privet adds a class by declaring an entry point
    of the ``group``, under the class's ``name``.

    Args:
        kind: The word for one plugin in error messages, such as "system".
        base: The name of the base class that third parties derive from, for error messages.
        packages: The packages whose files are plugins.
        group: The group of entry points that other packages use.

    >>> from privet.mechanisms import MECHANISMS
    >>> MECHANISMS["Multi-Bit"].__name__, "nothing" in MECHANISMS
    ('MultiBit', False)
    """

    def __init__(self, kind: str, base: str, packages: tuple[str, ...], group: str) -> None:
        self.kind, self.base, self.packages, self.group = kind, base, packages, group
        self._loaded: dict[str, type[T]] = {}

    def __getitem__(self, name: str) -> type[T]:
        key = str(name).lower()
        if key not in self._places:
            raise KeyError(name)
        if key not in self._loaded:
            self._loaded[key] = self._load(key)
        return self._loaded[key]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, name: str) -> type[T]:
        """Return the class of a name; an unknown name is an error that lists the known ones."""
        try:
            return self[name]
        except KeyError:
            raise InvalidParameter(self.kind, f"one of {', '.join(self)}", name) from None

    @cached_property
    def _places(self) -> dict[str, str | EntryPoint]:
        places: dict[str, str | EntryPoint] = {}
        for package in self.packages:
            spec = find_spec(package)
            for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
                for module in pkgutil.iter_modules([str(folder)]):
                    name, own = module.name, folder / module.name / f"{module.name}.py"
                    if not name.startswith("_") and (not module.ispkg or own.is_file()):
                        places[name.replace("_", "-")] = f"{package}.{name}" + (f".{name}" if module.ispkg else "")
        for entry in entry_points(group=self.group):
            if entry.name.lower() in places:
                expected = f"a name that no other {self.kind} has"
                raise InvalidParameter(self.group, expected, entry.name)
            places[entry.name.lower()] = entry
        return places

    def _load(self, name: str) -> type[T]:
        place = self._places[name]
        if isinstance(place, EntryPoint):
            found: Any = place.load()
            if getattr(found, "name", None) != place.name:
                expected = f"a {self.base} whose name is {place.name!r}"
                raise InvalidParameter(self.group, expected, found)
            return found  # type: ignore[no-any-return]
        for value in vars(import_module(place)).values():
            if isinstance(value, type) and vars(value).get("name") == name:
                return value
        raise InvalidParameter(f"{place} has no {self.base} whose name is {name!r}.")
