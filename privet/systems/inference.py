"""Predictions of a saved model as a directory of Parquet files, each made on its own from the rows that it needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.data.files import atomic_directory
from privet.data.store.files import writing
from privet.data.store.running import Progress, run_tasks
from privet.errors import InvalidParameter
from privet.systems.fitted import Fitted, reading_model

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["write_partitioned_predictions"]

_ROWS = 1 << 18  # in a file


def write_partitioned_predictions(
    model: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    names: tuple[str, ...] | None = None,
    rows: int = _ROWS,
    client: Client | None = None,
    progress: Progress | None = None,
) -> int:
    """Write a table of everybody's predictions in files of bounded size; return their number.

    No process holds more than one file's rows. The directory appears when all files are written.

    Args:
        model: A model's directory.
        out: The directory to make, with ``part-00000.parquet`` and so on by ascending nodes.
        names: The names of the classes, if they have any.
        rows: The most rows of a file.
        client: A Dask client whose workers write; this process by default.
        progress: Called with the phase, the number of finished files and the number of all of them.
    """
    if rows < 1:
        raise InvalidParameter("rows", "an integer of at least 1", rows)
    arrays = Path(model).absolute() / "arrays.safetensors"
    with _opened(arrays) as file:
        count = file.get_slice("nodes").get_shape()[0]
    cuts = [*range(0, count, rows), count] if count else [0, 0]
    with atomic_directory(Path(out).absolute(), private=True) as target:
        tasks = [_Part(number, *ends) for number, ends in enumerate(pairwise(cuts))]
        run_tasks(partial(_write_part, arrays, target, names), tasks, client, progress, "writing predictions")
    return len(tasks)


@dataclass(frozen=True)
class _Part:
    number: int
    first: int
    last: int


def _write_part(arrays: Path, target: Path, names: tuple[str, ...] | None, part: _Part) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with _opened(arrays) as file:  # a saved model has rows only of nodes for which a prediction was made
        nodes, chances = (_rows(file, name, part) for name in ("nodes", "probabilities"))
    table = Fitted("", None, chances).predictions(names=names).set_column(0, "node", pa.array(nodes))
    with writing(target / f"part-{part.number:05d}.parquet") as temporary:
        parquet.write_table(table, temporary)


def _rows(file: Any, name: str, part: _Part) -> Any:
    if part.first == part.last:  # an array without rows cannot be cut
        return file.get_tensor(name)
    return file.get_slice(name)[part.first : part.last]


@contextmanager
def _opened(arrays: Path) -> Iterator[Any]:
    from safetensors import safe_open

    with reading_model(arrays.parent):
        opened = safe_open(arrays, framework="numpy")
    with opened as file:
        yield file
