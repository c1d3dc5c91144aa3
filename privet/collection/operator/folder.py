"""A study's directory: manifest, operator's keys, participants' tokens, and the reports unless elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from privet.collection.operator.keys import Keys, write_secret_rows
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Study
from privet.collection.study.study_file import StudyFile
from privet.collection.study.tokens import Access, Tokens
from privet.data.files import atomic_directory
from privet.errors import InvalidData
from privet.release import Answers
from privet.release.asks import Ask

if TYPE_CHECKING:
    from privet.collection.operator.results.study_results import StudyResults

__all__ = ["Declared", "StudyFolder", "open_reports"]

_MANIFEST, _KEYS, _TOKENS, _REPORTS = "study.json", "keys.json", "tokens.csv", "reports.sqlite"
_DECLARED = "study.toml"


@dataclass(frozen=True, eq=False)
class Declared:
    """A first round and what its manifest binds by hash.

    Attributes:
        study: The manifest.
        public: The public data as bytes.
        asks: The questions with their public arrays.
    """

    study: Study
    public: tuple[bytes, ...] = ()
    asks: tuple[Ask, ...] = ()


@dataclass(frozen=True)
class StudyFolder:
    """The directory of one study. ``keys.json`` and ``tokens.csv`` are secrets, readable by their owner only.

    Attributes:
        keys: Its secrets: keys of tokens and of the operator's page, and the store's address.
    """

    path: Path
    study: Study
    keys: Keys = field(repr=False)

    @classmethod
    def create(
        cls,
        path: Path,
        study: Study,
        store_url: str | None = None,
        public: Sequence[bytes] = (),
        asks: Sequence[Ask] = (),
        declared: str | None = None,
    ) -> StudyFolder:
        """Make a new directory with fresh keys and one token for each node.

        Args:
            store_url: A postgresql:// URL; by default the one in ``PRIVET_STORE``, or a SQLite file in the directory.
            public: The public data that the manifest binds by their hashes, such as the list of participants.
            asks: The questions with their public arrays, if they have any.
            declared: The text of the file that the study was made from.
        """
        folder = cls(path, study, Keys.make(store_url))
        with atomic_directory(path) as target:
            place = folder.keys.store or target / _REPORTS
            with Store.open(place, study) as store:  # a database that cannot be used is told of now
                store.publish(*public)
                store.publish_asks(*asks)
            folder.write_files(target)
            if declared is not None:
                (target / _DECLARED).write_text(declared, encoding="utf-8")
        return folder

    @property
    def declared(self) -> StudyFile | None:
        """The file that the study was made from; None if it was made without one, or restored."""
        file = self.path / _DECLARED
        return StudyFile.read(file) if file.is_file() else None

    def write_files(self, target: Path) -> None:
        """Write manifest, keys and tokens into a directory that is being made."""
        tokens = self.tokens
        (target / _MANIFEST).write_bytes(self.study.canonical())
        self.keys.write(target / _KEYS)
        self.write_tokens(target, ((node, tokens.issue(node)) for node in range(self.study.nodes)))

    def write_tokens(self, target: Path, tokens: Iterable[tuple[int, str]]) -> None:
        """Write everybody's token into a directory of the study."""
        write_secret_rows(target / _TOKENS, ["node", "token"], tokens)

    @classmethod
    def open(cls, path: Path) -> StudyFolder:
        """Open a directory that :meth:`create` made."""
        try:
            study = Study.from_bytes((path / _MANIFEST).read_bytes())
            return cls(path, study, Keys.read(path / _KEYS))
        except InvalidData:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            found = str(error) if path.is_dir() else "no such directory"
            raise InvalidData(f"study {path}", "a study's directory", found) from None

    @property
    def tokens(self) -> Tokens:
        """The issuer and checker of the participants' tokens."""
        return Tokens(self.study, self.keys.signing[0], self.keys.signing[1:])

    def access(self) -> Access:
        """Read the keys again, which may have been rotated, and return what opens the collector's doors now."""
        fresh = replace(self, keys=Keys.read(self.path / _KEYS))
        return Access(fresh.tokens, fresh.keys.operator)

    def store(self) -> Store:
        """Open the store of the first round; the same database has the later ones."""
        return Store.open(self.database, self.study)

    @property
    def database(self) -> str | Path:
        """The database of the reports: a URL, or the SQLite file in the directory."""
        return self.keys.store or self.path / _REPORTS

    def results(self, by: str | None = None) -> StudyResults:
        """Estimate what people answered, from their reports and public data alone.

        Args:
            by: "class", or a question by its number (1 is the first) or its words: each question is told for each
                group, too.
        """
        from privet.collection.operator.results.reading import results_at

        return results_at(self.path, by)

    def newest(self) -> Store:
        """Open the store of the newest round."""
        first = self.store()
        return first.at(first.chain().newest)


def open_reports(path: Path) -> tuple[Study, Answers]:
    """Return the newest manifest of a study's directory and all that was reported to it."""
    with StudyFolder.open(path).newest() as store:
        return store.study, store.answers()
