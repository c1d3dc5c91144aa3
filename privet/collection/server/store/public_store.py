"""The public side of a study's database: manifests of all rounds, lists and tables, each under its own hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from functools import cached_property
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from privet.collection.server.store.database import PUBLIC, STUDIES, Database, StudyRows
from privet.collection.study.chain import BrokenChain, Chain
from privet.collection.study.forms import RoundForm
from privet.collection.study.manifest import Study
from privet.errors import InvalidData
from privet.release.asks import Ask
from privet.release.blobs import array_of

__all__ = ["PublicStore"]


class PublicStore(Database):
    """The public data of one round, and the rounds of its study.

    Args:
        engine: The database; it may hold several studies.
        study: The round.
    """

    def __init__(self, engine: sa.Engine, study: Study) -> None:
        super().__init__(engine)
        self.study = study
        with self._connection(write=True) as connection:
            self._number = self._enrol(connection)

    def publish(self, *contents: bytes) -> None:
        """Keep public bytes under their SHA-256."""
        self._publish({hashlib.sha256(content).hexdigest(): content for content in contents})

    def publish_asks(self, *asks: Ask) -> None:
        """Keep the arrays of some questions: tables by their hash, tables of own rows by the root of their tree."""
        needed = [(ask, name) for ask in asks for name in ask.attachments() if getattr(ask, name) is not None]
        blobs = {ask.digest(name): ask.blob(name) for ask, name in needed}
        self._publish({digest.removeprefix("sha256:"): blob for digest, blob in blobs.items()})

    def _publish(self, contents: Mapping[str, bytes]) -> None:
        sql = sa.text("INSERT INTO public (digest, content) VALUES (:digest, :content) ON CONFLICT DO NOTHING")
        with self._connection(write=True) as connection:
            for digest, content in contents.items():
                connection.execute(sql, {"digest": digest, "content": content})

    def publish_from(self, other: PublicStore, without: Set[str] = frozenset()) -> None:
        """Copy the public data that this round's manifest names from another store.

        Args:
            without: The hashes of what is left out.
        """
        named = set(re.findall(r"(?:tree:)?[0-9a-f]{64}", self.study.canonical().decode()))
        found = {digest: other.blob(digest) for digest in sorted(named - without)}
        self._publish({digest: content for digest, content in found.items() if content is not None})

    def blob(self, digest: str) -> bytes | None:
        """Return public bytes by their SHA-256 in hexadecimal, or by the root of a tree; None if they are unknown."""
        query = sa.select(PUBLIC.c.content).where(PUBLIC.c.digest == digest.removeprefix("sha256:"))
        with self._connection() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else bytes(found)

    def array(self, digest: str) -> NDArray[Any]:
        """Return a public array by the digest that a manifest names; it is an error if it is not here."""
        return array_of(self._known(digest))

    def _known(self, digest: str) -> bytes:
        found = self.blob(digest)
        if found is None:
            raise InvalidData(
                f"The public table {digest} is not here. A public record leaves out the tables of later rounds once "
                "somebody was erased."
            )
        return found

    @cached_property
    def form(self) -> RoundForm:
        """The forms of this round's reports, with its public arrays."""
        study = self.study
        named = {getattr(q.ask, name) for q in study.release.questions for name in q.ask.attachments()}
        release = study.release.attach({digest: self._known(digest) for digest in named if digest is not None})
        panel, people = (None if each is None else self.array(each) for each in (study.panel, study.people))
        nobody = np.zeros(0, dtype=np.int64)
        return RoundForm(study, release, nobody if panel is None else panel.astype(np.int64), people)

    def chain(self) -> Chain:
        """Return all rounds of this study."""
        query = sa.select(STUDIES.c.manifest).where(STUDIES.c.chain == self.study.chain)
        with self._connection() as connection:
            found = [Study.from_bytes(bytes(each)) for each in connection.execute(query).scalars()]
        return Chain(tuple(sorted(found, key=lambda each: each.round)))

    def _enrol(self, connection: sa.Connection) -> int:
        known = sa.select(STUDIES.c.number).where(STUDIES.c.id == self.study.id)
        number = connection.execute(known).scalar()
        if number is not None:
            return int(number)
        self._refuse_fork(connection)
        row = {"id": self.study.id, "manifest": self.study.canonical(), "chain": self.study.chain}
        for sql in (
            "INSERT INTO studies (id, manifest, chain) VALUES (:id, :manifest, :chain) ON CONFLICT DO NOTHING",
            "INSERT INTO public (digest, content) VALUES (:id, :manifest) ON CONFLICT DO NOTHING",
        ):
            connection.execute(sa.text(sql), row)
        return int(connection.execute(known).scalar_one())

    def _refuse_fork(self, connection: sa.Connection) -> None:
        """Refuse a second round in the place of one that is here, such as when two people open the next one at once."""
        StudyRows(connection, self.study.chain).lock(alone=True)
        of_chain = sa.select(STUDIES.c.manifest).where(STUDIES.c.chain == self.study.chain)
        rounds = connection.execute(of_chain).scalars()
        if any(Study.from_bytes(bytes(each)).round == self.study.round for each in rounds):
            raise BrokenChain(f"The study has another round {self.study.round} already.")
