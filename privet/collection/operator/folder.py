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
    """The directory of one study. ``keys.json`` and ``tokens.csv`` are secrets, readable by their owner only.

    Attributes:
        path: The directory.
        study: The study.
        signing_key: Signs the participants' tokens.
        operator_key: Opens the operator's page.
        store_url: The PostgreSQL database that holds the reports; None for a SQLite file in the directory.
    """

    path: Path
    study: Study
    signing_key: bytes = field(repr=False)
    operator_key: str = field(repr=False)
    store_url: str | None = field(default=None, repr=False)  # it may hold a password

    @classmethod
    def create(cls, path: Path, study: Study, store_url: str | None = None) -> StudyFolder:
        """Make a new directory with fresh keys and one token for each node.

        Args:
            path: The directory to make.
            study: The study.
            store_url: A postgresql:// URL; by default reports go to a SQLite file in the directory.
        """
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
        """Open a directory that :meth:`create` made."""
        try:
            study = Study.from_bytes((path / _MANIFEST).read_bytes())
            keys = json.loads((path / _KEYS).read_text())
            return cls(path, study, bytes.fromhex(keys["signing"]), keys["operator"], keys["store"])
        except InvalidData:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            found = str(error) if path.is_dir() else "no such directory"
            raise InvalidData(f"study {path}", "a study's directory", found) from None

    @property
    def tokens(self) -> Tokens:
        """The issuer and checker of the participants' tokens."""
        return Tokens(self.study, self.signing_key)

    def store(self) -> Store:
        """Open the store of the reports."""
        return Store.open(self.store_url or self.path / _REPORTS, self.study)


def open_reports(path: Path) -> tuple[Study, Answers]:
    """Return the manifest of a study's directory and all that was reported."""
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
