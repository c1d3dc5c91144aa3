"""A round as the collector serves it: its store, its writer, and each participant's own rows of its tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.server.store.store import Store
from privet.collection.server.store.writer import GroupWriter
from privet.release.tree import HashTree

__all__ = ["ServedRound"]


class ServedRound:
    """One round of the study.

    Args:
        store: Where its reports are kept.
        observe: Told the seconds that each commit took.
    """

    def __init__(self, store: Store, observe: Callable[[float], None] = lambda _: None) -> None:
        self.store, self.study, self.form = store, store.study, store.form
        self.writer = GroupWriter(store, observe)
        self.closed = store.is_closed()
        self.is_open_now = self.is_open()
        self._tables: list[tuple[str, str, NDArray[Any], HashTree]] = [
            (question.name, name, array, HashTree(array, question.ask.salts.get(name, b"")))
            for question in self.form.release.questions
            for name in question.ask.per_person()
            if isinstance(array := getattr(question.ask, name), np.ndarray)
        ]

    def look(self) -> None:
        """See whether the round was closed, by its operator or by the clock."""
        self.closed = self.store.is_closed()
        self.is_open_now = self.is_open()

    def is_open(self) -> bool:
        """Tell whether reports are taken now."""
        return not self.closed and self.study.is_open(datetime.now(UTC))

    def why_closed(self) -> str:
        """Say in a sentence why no reports are taken; empty if they are."""
        if self.is_open():
            return ""
        if self.closed:
            return "The study was closed by its operator."
        return (
            f"The study takes reports from {self.study.opens:%Y-%m-%d %H:%M} to {self.study.closes:%Y-%m-%d %H:%M} UTC."
        )

    def invitation(self, node: int) -> dict[str, Any]:
        """Return a participant's own rows of the tables, each with its salt and the proof that it is in the table."""
        rows: dict[str, dict[str, Any]] = {}
        for question, name, array, tree in self._tables:
            own = {"row": array[node].tolist(), "salt": tree.salt(node), "proof": tree.proof(node)}
            rows.setdefault(question, {})[name] = own
        return {"study": self.study.id, "node": node, "rows": rows}
