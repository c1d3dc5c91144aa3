"""A study's directory: manifest, operator's keys, participants' tokens, and the reports unless elsewhere."""

from __future__ import annotations

import csv
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from privet.collection.server.store import Store
from privet.collection.study import Study
from privet.collection.tokens import Tokens, new_key
from privet.data.files import atomic_directory
from privet.errors import InvalidData
from privet.release import Answers

__all__ = ["StudyFolder", "open_reports"]

_MANIFEST, _KEYS, _TOKENS, _REPORTS = "study.json", "keys.json", "tokens.csv", "reports.sqlite"


@dataclass(frozen=True)
class StudyFolder:
    """What ``privet study new`` made. ``keys.json`` and ``tokens.csv`` are secrets, readable by their owner only."""

    path: Path
    study: Study
    signing_key: bytes = field(repr=False)
    operator_key: str = field(repr=False)
    store_url: str | None = field(default=None, repr=False)  # it may hold a password

    @classmethod
    def create(cls, path: Path, study: Study, store_url: str | None = None) -> StudyFolder:
        """A new directory with fresh keys and one token for each node."""
        folder = cls(path, study, new_key(), secrets.token_urlsafe(24), store_url)
        manifest, tokens = study.canonical(), folder.tokens
        with atomic_directory(path) as target:
            if store_url is not None:
                Store.open(store_url, study).dispose()  # a database that cannot be used is told of now
            (target / _MANIFEST).write_bytes(manifest)
            keys = {"signing": folder.signing_key.hex(), "operator": folder.operator_key, "store": store_url}
            _write_secret(target / _KEYS, json.dumps(keys, indent=2) + "\n")
            _write_secret(target / _TOKENS, "")
            with (target / _TOKENS).open("w", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(["node", "token"])
                rows.writerows((node, tokens.issue(node)) for node in range(study.nodes))
        return folder

    @classmethod
    def open(cls, path: Path) -> StudyFolder:
        """A directory that :meth:`create` made."""
        try:
            study = Study.from_bytes((path / _MANIFEST).read_bytes())
            keys = json.loads((path / _KEYS).read_text())
            return cls(path, study, bytes.fromhex(keys["signing"]), keys["operator"], keys["store"])
        except InvalidData:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            found = str(error) if path.is_dir() else "no such directory"
            raise InvalidData(f"study {path}", "a directory made by 'privet study new'", found) from None

    @property
    def tokens(self) -> Tokens:
        """Issues and checks the participants' tokens."""
        return Tokens(self.study, self.signing_key)

    def store(self) -> Store:
        """Where the reports are."""
        return Store.open(self.store_url or self.path / _REPORTS, self.study)


def open_reports(path: Path) -> tuple[Study, Answers]:
    """The manifest of a study's directory and all that was reported."""
    folder = StudyFolder.open(path)
    store = folder.store()
    try:
        return folder.study, store.answers()
    finally:
        store.dispose()


def _write_secret(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
