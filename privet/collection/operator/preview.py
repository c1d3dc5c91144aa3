"""A preview: a study that exists for as long as somebody looks at its page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.keys import VARIABLES
from privet.collection.operator.new_study import make_study
from privet.collection.study.study_file import StudyFile

__all__ = ["Preview", "preview_of"]


@dataclass(frozen=True)
class Preview:
    """A study in a directory that is thrown away.

    Attributes:
        folder: The directory.
    """

    folder: StudyFolder

    def links(self) -> list[tuple[str, str]]:
        """Return whose page can be seen, and the end of its link: a participant's, and a panel member's."""
        study, declared = self.folder.study, self.folder.declared
        spoken = declared.declaration.language if declared is not None else None
        with self.folder.store() as store:
            panel = store.form.panel.tolist()
            others = [node for node in store.form.everybody().tolist() if node not in set(panel)]
        end = f"&lang={spoken}" if spoken else ""
        shown = [("A participant's page", others[:1]), ("A panel member's page", panel[:1])]
        token = self.folder.tokens.issue
        return [(who, f"#study={study.id}&token={token(node)}{end}") for who, nodes in shown for node in nodes]


@contextmanager
def preview_of(path: Path, file: StudyFile) -> Iterator[Preview]:
    """Make a study that is open now, and remove it at the end of the block.

    Args:
        path: The study's file.
        file: What it says.
    """
    opens = file.declaration.schedule.opens
    if opens is not None and opens > datetime.now(UTC):
        file = StudyFile.read(path, {**file.changes, "schedule.opens": datetime.now(UTC).replace(microsecond=0)})
    # A preview has keys and a database of its own, and must not touch those of a study that runs here.
    variables = [name for each in VARIABLES.values() for name in (each, f"{each}_FILE") if name in os.environ]
    hidden = {name: os.environ.pop(name) for name in variables}
    try:
        with TemporaryDirectory(prefix="privet-preview-") as place:
            yield Preview(make_study(file, Path(place) / "study"))
    finally:
        os.environ.update(hidden)
