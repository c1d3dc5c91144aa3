"""Rotation of a study's keys: a new key is added in front, both are good for a while, then the old ones are dropped."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.keys import write_secret
from privet.collection.operator.links import current_tokens
from privet.data.files import atomic_file

__all__ = ["Rotation", "rotate_keys"]


@dataclass(frozen=True)
class Rotation:
    """The state of a study's keys after a rotation.

    Attributes:
        keys: How many keys of this kind are good now.
        people: How many people the study has; each has one link.
        waiting: How many of them have not answered.
        place: The file that holds the keys.
    """

    keys: int
    people: int
    waiting: int
    place: Path


def rotate_keys(path: Path, which: str, *, retire: bool = False) -> Rotation:
    """Add a new key in front of a study's keys, or drop all but the newest.

    Running collectors notice within a second where the keys are in a file.

    Args:
        path: The study's directory.
        which: "signing" for tokens, "operator" for the operator's page.
        retire: Drop the old keys instead of adding a new one.
    """
    folder = StudyFolder.open(path)
    changed = replace(folder, keys=folder.keys.rotated(which, retire=retire))
    changed.keys.save(path / "keys.json", which)
    if which == "signing":
        with atomic_file(path / "tokens.csv") as file:
            write_secret(file, "")
            with file.open("w", newline="") as text:
                rows = csv.writer(text, lineterminator="\n")
                rows.writerow(["node", "token"])
                rows.writerows(current_tokens(changed))
    store = folder.store()
    answered = store.count()
    store.dispose()
    count = len(changed.keys.signing if which == "signing" else changed.keys.operator)
    place = changed.keys.places.get(which) or path / "keys.json"
    return Rotation(count, folder.study.nodes, folder.study.nodes - answered, place)
