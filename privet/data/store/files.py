"""Files of a store, checksummed, flushed to the disk and then renamed; and files about nodes, read in batches."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from privet.errors import InvalidData, InvalidParameter, one_line

__all__ = [
    "StoredFile",
    "count_nodes",
    "flush_directory",
    "flush_file",
    "keep_private",
    "mapped",
    "read_node_batches",
    "reading",
    "seal",
    "write_array",
    "write_text",
    "writing",
]

_BATCH = 1 << 18  # rows


class StoredFile(BaseModel):
    """A file as its manifest knows it.

    Attributes:
        name: Its path within the directory of the manifest.
        bytes: Its size.
        sha256: Its checksum, in hexadecimal digits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bytes: int
    sha256: str

    def check(self, folder: Path) -> None:
        """Refuse a file that is missing, has another size or another checksum.

        Args:
            folder: The directory of the manifest.
        """
        path = folder / self.name
        with reading(path):
            if path.stat().st_size != self.bytes:
                raise InvalidData(f"{path} is damaged: it has {path.stat().st_size} bytes instead of {self.bytes}.")
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise InvalidData(f"{path} is damaged: its checksum is not the manifest's. Build the store again.")

    def matches(self, folder: Path) -> bool:
        """Return True if the file is there and undamaged.

        Args:
            folder: The directory of the manifest.
        """
        try:
            self.check(folder)
        except InvalidData:
            return False
        return True


@contextmanager
def writing(path: Path, *, flush: bool = True) -> Iterator[Path]:
    """Give a temporary file, which takes the place of ``path`` if nothing failed.

    Args:
        path: The file that is to exist in the end. A full disk is told with its name.
        flush: True if the file must survive a loss of power.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")  # no other process has it
    try:
        yield temporary
        if flush:
            flush_file(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Tell every failure to read with the file's name.

    Args:
        path: The file.
    """
    try:
        yield
    except FileNotFoundError:
        raise InvalidData(f"{path} is missing.") from None
    except (OSError, EOFError) as error:
        raise InvalidData(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def seal(path: Path, folder: Path) -> StoredFile:
    """Return the manifest's entry of a file that was just written.

    Args:
        path: The file.
        folder: The directory of the manifest.
    """
    with reading(path), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return StoredFile(name=path.relative_to(folder).as_posix(), bytes=path.stat().st_size, sha256=digest)


def write_array(path: Path, array: NDArray[Any], folder: Path) -> StoredFile:
    """Write an array as .npy and return its entry; :func:`flush_file` makes it survive a loss of power.

    Args:
        path: The file.
        folder: The directory of the manifest.
    """
    with writing(path, flush=False) as temporary, temporary.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
    return seal(path, folder)


def write_text(path: Path, text: str, *, flush: bool = True) -> None:
    """Write a text, whole or not at all.

    Args:
        path: The file.
        text: Its content.
        flush: True if the file must survive a loss of power.
    """
    with writing(path, flush=flush) as temporary:
        temporary.write_text(text, encoding="utf-8")


def mapped(path: Path) -> NDArray[Any]:
    """Map a .npy file into memory.

    Args:
        path: The file.
    """
    with reading(path):
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # an empty file cannot be mapped, and a damaged header cannot be read
            try:
                array = np.load(path, allow_pickle=False)
            except ValueError:
                raise InvalidData(f"{path} is damaged: it is no .npy file.") from None
    return array


def keep_private(folder: Path) -> None:
    """Let nobody but its owner read a directory of files.

    Args:
        folder: The directory.
    """
    folder.chmod(0o700)
    for path in folder.iterdir():
        path.chmod(0o600)


def flush_file(path: Path) -> None:
    """Make a file's content survive a loss of power.

    Args:
        path: The file.
    """
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_directory(path: Path) -> None:
    """Make the names in a directory survive a loss of power.

    Args:
        path: The directory.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def count_nodes(path: Path) -> int:
    """Count the rows of a file.

    Args:
        path: A ``.csv`` or ``.parquet`` file with the column node.
    """
    return sum(batch.num_rows for batch in read_node_batches(path, ["node"]))


def read_node_batches(path: Path, columns: list[str] | None = None) -> Iterator[Any]:
    """Read a file as :class:`pyarrow.Table` objects of bounded size.

    Args:
        path: A ``.csv`` or ``.parquet`` file with the column node.
        columns: The columns to read; all by default.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    if path.suffix not in (".csv", ".parquet"):
        raise InvalidParameter("nodes", "a number, or a .csv or .parquet file", path.name)
    with reading(path):
        try:
            if path.suffix == ".parquet":
                with parquet.ParquetFile(path) as file:
                    _check_columns(path, file.schema_arrow.names)
                    yield from map(_as_table, file.iter_batches(_BATCH, columns=columns))
            else:
                with csv.open_csv(path, convert_options=csv.ConvertOptions(include_columns=columns)) as file:
                    _check_columns(path, file.schema.names)
                    yield from map(_as_table, file)
        except (pa.ArrowException, KeyError) as error:
            raise InvalidData(f"The file {path} is no table of nodes: {one_line(str(error))}.") from None


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _check_columns(path: Path, names: list[str]) -> None:
    if names.count("node") != 1:
        raise InvalidData(f"The file {path} must have one column 'node'; it has {one_line(', '.join(names))}.")
