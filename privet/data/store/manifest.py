"""The manifest of a store: written last, so that a directory with one is complete."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from privet.data.store.files import StoredFile, reading, write_text
from privet.errors import InvalidData

__all__ = ["FORMAT", "By", "Manifest", "PartitionEntry", "folder_of"]

FORMAT: Final = "privet-graph-store-1"
NAME = "store.json"
By = Literal["hash", "id", "metis", "given"]


def folder_of(partition: int) -> str:
    """Return the name of a partition's directory.

    Args:
        partition: The partition's number.
    """
    return f"part-{partition:05d}"


class PartitionEntry(BaseModel):
    """One partition as the manifest knows it.

    Attributes:
        rows: The number of its nodes.
        entries: The number of its adjacency entries, loops left out.
        halo: The number of nodes of other partitions that its rows refer to.
        loops: The number of its nodes that have a loop.
        merged: The number of entries that were left out because they were there already.
        files: Its files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int
    entries: int
    halo: int
    loops: int
    merged: int
    files: tuple[StoredFile, ...]


class Manifest(BaseModel):
    """Everything that is known about a store before its files are read.

    Attributes:
        format: The name of the layout.
        nodes: The number of nodes.
        directed: Whether an entry need not have its mirror image.
        by: How nodes were dealt to partitions.
        partitions: The partitions, in the order of their rows.
        files: The files that belong to no partition.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["privet-graph-store-1"] = FORMAT
    nodes: int
    directed: bool
    by: By
    partitions: tuple[PartitionEntry, ...]
    files: tuple[StoredFile, ...]

    @property
    def entries(self) -> int:
        """The number of adjacency entries, loops left out."""
        return sum(partition.entries for partition in self.partitions)

    @property
    def halo(self) -> int:
        """The number of rows that a hop moves between partitions."""
        return sum(partition.halo for partition in self.partitions)

    @property
    def loops(self) -> int:
        """The number of nodes that have a loop."""
        return sum(partition.loops for partition in self.partitions)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a store.

        Args:
            folder: The store.
        """
        path = folder / NAME
        if not path.is_file():
            raise InvalidData(f"{folder} is no graph store: it has no {NAME}. Make one with 'privet graph build'.")
        with reading(path):
            text = path.read_bytes()
        try:
            manifest = cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "its text"
            raise InvalidData(f"{path} is no manifest of the format {FORMAT}: {place}: {first['msg']}.") from None
        if sum(partition.rows for partition in manifest.partitions) != manifest.nodes:
            raise InvalidData(f"{path} is damaged: its partitions do not add up to {manifest.nodes} nodes.")
        return manifest

    def write(self, folder: Path) -> None:
        """Write the manifest of a store.

        Args:
            folder: The store.
        """
        write_text(folder / NAME, self.model_dump_json(indent=1) + "\n")
