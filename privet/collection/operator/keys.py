"""An operator's secrets: keys that sign tokens, keys of the operator's page, and the address of the store.

Each of the three has one place: the study's ``keys.json``, a file that an environment variable names, or an environment
variable itself. None of them is ever an argument, because every user of a machine can read the list of its processes.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privet.collection.study.tokens import new_key
from privet.data.files import atomic_file
from privet.errors import InvalidData, PrivetError

__all__ = ["InvalidKeys", "Keys", "write_secret_rows"]

VARIABLES = {"signing": "PRIVET_SIGNING_KEY", "operator": "PRIVET_OPERATOR_KEY", "store": "PRIVET_STORE"}
_FORMS = {  # of one entry
    "signing": (re.compile("[0-9a-f]{64}"), "64 hexadecimal digits"),
    "operator": (re.compile("[A-Za-z0-9_-]{16,256}"), "at least 16 letters, digits, - or _"),
    "store": (re.compile(r"postgresql(\+psycopg)?://\S+"), "a postgresql:// URL"),
}


class InvalidKeys(InvalidData):
    """Secrets that are missing, damaged, or in two places; the sentence never quotes one."""

    def __init__(self, sentence: str) -> None:
        PrivetError.__init__(self, sentence)


@dataclass(frozen=True)
class Keys:
    """The secrets of one study.

    Attributes:
        signing: Keys of the participants' tokens. The first one signs; tokens of the others are still good.
        operator: Keys of the operator's page. Each of them opens it.
        store: The PostgreSQL database that holds the reports; None for a SQLite file in the study's directory.
        places: Where a secret lies that is not in ``keys.json``: the file, or None for the environment itself.
    """

    signing: tuple[bytes, ...] = field(repr=False)
    operator: tuple[str, ...] = field(repr=False)
    store: str | None = field(default=None, repr=False)  # it may hold a password
    places: Mapping[str, Path | None] = field(default_factory=dict, repr=False)

    @classmethod
    def make(cls, store: str | None = None, environment: Mapping[str, str] = os.environ) -> Keys:
        """Take the secrets that the environment gives, and draw the others.

        Args:
            store: A postgresql:// URL; by default the environment's, or SQLite.
            environment: Names and values of the environment variables.
        """
        given, places = _from_environment(environment)
        if store is not None:
            given["store"] = [store]
            places.pop("store", None)
        signing = [bytes.fromhex(key) for key in given.get("signing", [])] or [new_key()]
        operator = given.get("operator") or [secrets.token_urlsafe(24)]
        return cls(tuple(signing), tuple(operator), next(iter(given.get("store", [])), None), places)

    @classmethod
    def read(cls, path: Path, environment: Mapping[str, str] = os.environ) -> Keys:
        """Read the secrets of a study.

        Args:
            path: The study's ``keys.json``. A secret that it leaves empty must be in the environment, and no other may.
            environment: Names and values of the environment variables.
        """
        document = _document(path)
        given, places = _from_environment(environment)
        found: dict[str, list[str]] = {}
        for name, variable in VARIABLES.items():
            written = document[name]
            listed = [written] if isinstance(written, str) else written or []
            if written not in ("", []) and name in given:
                where = "the study's directory" if written is None else path.name
                raise InvalidKeys(f"{variable} is set, but this study's {name} is in {where}. Keep one of the two.")
            if written in ("", []) and name not in given:
                raise InvalidKeys(f"{path} leaves the {name} to the environment. Set {variable} or {variable}_FILE.")
            found[name] = given.get(name) or _checked(name, listed, path.name)
        signing = tuple(bytes.fromhex(key) for key in found["signing"])
        return cls(signing, tuple(found["operator"]), next(iter(found["store"]), None), places)

    def write(self, path: Path) -> None:
        """Write ``keys.json`` for its owner only; a secret that lies elsewhere is left empty."""
        document = self._document()
        values = {name: ([] if name != "store" else "") if name in self.places else document[name] for name in document}
        _replace_secret(path, json.dumps(values, indent=2) + "\n")

    def rotated(self, which: str, *, retire: bool = False) -> Keys:
        """Return other keys: a new one in front, or all but the newest dropped.

        Args:
            which: "signing" or "operator".
            retire: Drop the old keys instead of adding a new one.
        """
        if which in self.places and self.places[which] is None:
            variable = VARIABLES[which]
            raise InvalidKeys(f"The {which} keys are in {variable}, which only you can change; put the new one first.")
        count = len(self.signing if which == "signing" else self.operator)
        if retire and count == 1:
            raise InvalidKeys(f"There is one {which} key, and nothing to retire. Add a new key first.")
        if which == "signing":
            return replace(self, signing=self.signing[:1] if retire else (new_key(), *self.signing))
        fresh = secrets.token_urlsafe(24)
        return replace(self, operator=self.operator[:1] if retire else (fresh, *self.operator))

    def save(self, path: Path, which: str) -> None:
        """Write one kind of keys to where it lies: ``path`` (``keys.json``), or the file of its variable."""
        place = self.places.get(which)
        if place is None:
            self.write(path)
            return
        _replace_secret(place, "".join(f"{key}\n" for key in self._document()[which]))

    def _document(self) -> dict[str, Any]:
        return {"signing": [key.hex() for key in self.signing], "operator": list(self.operator), "store": self.store}


def write_secret_rows(path: str | os.PathLike[str], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file that its owner alone can read, such as tokens or answers; it appears whole or not at all.

    Args:
        names: The names of the columns.
        rows: The cells of each row, in the order of the columns.
    """
    with atomic_file(path, private=True) as file, file.open("w", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def _replace_secret(path: Path, text: str) -> None:
    """Write a secret in the place of an older one, whose owner it keeps: a collector that runs as them must read it."""
    with atomic_file(path, private=True) as file:
        file.write_text(text)
        if path.exists():
            before = path.stat()
            with contextlib.suppress(PermissionError):  # only root may give a file away
                os.chown(file, before.st_uid, before.st_gid)


def _document(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_text())
    if not isinstance(document, dict) or set(document) != set(VARIABLES):
        raise InvalidKeys(f"{path} must be an object with the keys {', '.join(VARIABLES)}.")
    lists = (document["signing"], document["operator"])
    if not all(isinstance(each, list) and all(isinstance(key, str) for key in each) for each in lists):
        raise InvalidKeys(f"{path} must list its signing and operator keys as texts.")
    if not isinstance(document["store"], str | None):
        raise InvalidKeys(f"{path} must have the store's URL, null, or an empty text.")
    return document


def _from_environment(environment: Mapping[str, str]) -> tuple[dict[str, list[str]], dict[str, Path | None]]:
    """Return the secrets that the environment gives, and the file of each, if it is one."""
    given: dict[str, list[str]] = {}
    places: dict[str, Path | None] = {}
    for name, variable in VARIABLES.items():
        text, file = environment.get(variable), environment.get(f"{variable}_FILE")
        if text and file:
            raise InvalidKeys(f"{variable} and {variable}_FILE are both set. Keep one of the two.")
        if file:
            try:
                text = Path(file).read_text()
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is no text"
                raise InvalidKeys(f"{variable}_FILE names {file}, which cannot be read: {reason}.") from None
        if text is None or not (text or file):
            continue
        given[name] = _checked(name, text.split(), f"{variable}_FILE" if file else variable)
        places[name] = Path(file) if file else None
        if not given[name] or (name == "store" and len(given[name]) > 1):
            raise InvalidKeys(f"{variable}{'_FILE' if file else ''} must hold {_FORMS[name][1]}.")
    return given, places


def _checked(name: str, values: Sequence[str], where: str) -> list[str]:
    form, words = _FORMS[name]
    if not all(form.fullmatch(value) for value in values):
        raise InvalidKeys(f"The {name} in {where} is not valid: it must be {words}.")
    return list(values)
