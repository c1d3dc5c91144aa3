"""Connecting to a Dask cluster, or starting one on this machine."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privet.errors import InvalidParameter

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

__all__ = ["LocalWorkers", "connect", "parse_cluster"]

_IMPORTED_ONCE = ["distributed", "pyarrow.parquet", "torch", "privet.data.store", "privet.graph.distributed"]
_SPELLED = "local, local:WORKERS, local:WORKERS:MEMORY (such as local:2:1.5GiB), or a scheduler's address"


@dataclass(frozen=True)
class LocalWorkers:
    """Workers to start on this machine, each a process with one thread.

    Attributes:
        workers: Their number; None for one for each processor.
        memory: The limit of each, such as ``"1.5GiB"``; None for an equal share of the machine's memory.
    """

    workers: int | None = None
    memory: str | None = None


def parse_cluster(text: str) -> LocalWorkers | str:
    """Read ``local[:workers[:memory]]``, or return a scheduler's address as it is.

    Args:
        text: The text.

    >>> parse_cluster("local:2:1.5GiB")
    LocalWorkers(workers=2, memory='1.5GiB')
    >>> parse_cluster("tcp://10.0.0.1:8786")
    'tcp://10.0.0.1:8786'
    """
    if re.fullmatch(r"[a-z]+://\S+", text):
        return text
    found = re.fullmatch(r"local(?::([1-9]\d*)(?::(\d+(?:\.\d+)?\s*[kMGT]?i?B))?)?", text)
    if found is None:
        raise InvalidParameter("cluster", "connect", _SPELLED, text)
    return LocalWorkers(int(found[1]) if found[1] else None, found[2])


@contextmanager
def connect(cluster: str = "local") -> Iterator[Client]:
    """Give a client of a cluster. A cluster that was started here is stopped in the end.

    A Dask scheduler runs whatever reaches its port. A cluster that is started here listens on this machine's loopback
    address only; between machines use Dask's TLS.

    Args:
        cluster: ``local[:workers[:memory]]`` or the address of a scheduler.
    """
    import distributed

    chosen = parse_cluster(cluster)
    if isinstance(chosen, str):
        try:
            client = distributed.Client(chosen, timeout="30s", set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise InvalidParameter(
                f"No Dask scheduler answers at {chosen}. Start one with 'dask scheduler'."
            ) from error
        with client:
            yield client
        return
    import dask

    memory = "auto" if chosen.memory is None else dask.utils.parse_bytes(chosen.memory)
    with dask.config.set({"distributed.worker.multiprocessing-method": _way_to_start()}):
        started = distributed.LocalCluster(
            n_workers=chosen.workers,
            threads_per_worker=1,
            memory_limit=memory,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,  # what a worker's end means is told by the error, if it means anything
        )
        try:
            with distributed.Client(started, set_as_default=False) as client:
                yield client
        finally:
            _stop(started)


def _way_to_start() -> str:
    """Let workers start as copies of one process that has imported what they need, where the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    import dask
    from distributed.utils import get_mp_context

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(_IMPORTED_ONCE)  # after Dask's own list, which leaves privet out
    return "forkserver"


def _stop(cluster: LocalCluster) -> None:
    """Stop a cluster. Dask can stumble over a worker that was killed after it has stopped all of them."""
    from distributed.core import Status

    try:
        cluster.close()
    except KeyError:
        cluster.status = Status.closed
