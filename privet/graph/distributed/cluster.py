"""Connecting to a Dask cluster, or starting one on this machine."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from privet.errors import InvalidParameter
from privet.graph.distributed.temporary import owned_directory

if TYPE_CHECKING:
    from distributed import Client, LocalCluster, Security

__all__ = ["Cluster", "LocalWorkers", "Scheduler", "connect", "parse_cluster"]

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


@dataclass(frozen=True)
class Scheduler:
    """A Dask scheduler that runs already.

    Attributes:
        address: Its address, such as ``"tls://10.0.0.1:8786"``.
    """

    address: str


Cluster: TypeAlias = LocalWorkers | Scheduler


def parse_cluster(text: str, *, insecure: bool = False) -> Cluster:
    """Read ``local[:workers[:memory]]`` or a scheduler's address.

    Args:
        insecure: True to accept an address that is not ``tls://``, where nobody is asked for a key (default False).

    >>> parse_cluster("local:2:1.5GiB")
    LocalWorkers(workers=2, memory='1.5GiB')
    >>> parse_cluster("tls://10.0.0.1:8786")
    Scheduler(address='tls://10.0.0.1:8786')
    """
    if re.fullmatch(r"[a-z]+://\S+", text):
        if not text.startswith("tls://") and not insecure:
            raise InvalidParameter(
                f"{text} asks nobody for a key: whoever reaches it runs code as you. Use a tls:// scheduler, or "
                "allow it with 'insecure_cluster'."
            )
        return Scheduler(text)
    found = re.fullmatch(r"local(?::([1-9]\d*)(?::(\d+(?:\.\d+)?\s*[kMGT]?i?B))?)?", text)
    if found is None:
        raise InvalidParameter("cluster", _SPELLED, text)
    return LocalWorkers(int(found[1]) if found[1] else None, found[2])


@contextmanager
def connect(cluster: str | Cluster = "local") -> Iterator[Client]:
    """Give a client of a cluster. A cluster that was started here is stopped in the end.

    Whoever reaches a Dask scheduler or worker runs code as its owner. A cluster that is started here listens on this
    machine's loopback address, which every account of the machine reaches, so it asks for a key that is made for it
    and that only its own processes have. Its dashboard is off. A scheduler elsewhere must be ``tls://``; the
    certificates are those of Dask's configuration (``distributed.comm.tls``).

    Args:
        cluster: ``local[:workers[:memory]]``, the address of a scheduler, or what :func:`parse_cluster` made of either.
    """
    chosen = parse_cluster(cluster) if isinstance(cluster, str) else cluster
    with _reached(chosen) if isinstance(chosen, Scheduler) else _started(chosen) as client:
        yield client


def _reached(scheduler: Scheduler) -> Client:
    """Connect to a scheduler that runs already."""
    import distributed

    try:
        return distributed.Client(scheduler.address, timeout="30s", set_as_default=False)
    except TypeError as error:  # Dask's word for a missing certificate
        raise InvalidParameter(
            f"{scheduler.address} asks for a key. Name the certificates in Dask's configuration: "
            "distributed.comm.tls.ca-file, .client.cert and .client.key."
        ) from error
    except (OSError, TimeoutError) as error:
        raise InvalidParameter(
            f"No Dask scheduler answers at {scheduler.address}. Start one with 'dask scheduler', and give it and this "
            "command certificates of the same authority."
        ) from error


@contextmanager
def _started(local: LocalWorkers) -> Iterator[Client]:
    """Start workers on this machine that only this process can reach."""
    import dask
    import distributed

    memory = "auto" if local.memory is None else dask.utils.parse_bytes(local.memory)
    quiet: dict[str, Any] = {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker", "nanny")}
    settings = {"distributed.worker.multiprocessing-method": _way_to_start(), **quiet}
    with owned_directory() as folder, dask.config.set(settings | {"temporary-directory": str(folder)}):
        started = distributed.LocalCluster(
            n_workers=local.workers,
            threads_per_worker=1,
            memory_limit=memory,
            processes=True,
            host="127.0.0.1",
            security=_new_keys(),
            local_directory=str(folder),  # what workers spill is private too
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=50,  # what a worker's end means is told by the error, if it means anything
        )
        try:
            with distributed.Client(started, set_as_default=False) as client:
                yield client
        finally:
            _stop(started)


def _new_keys() -> Security:
    """Return a key and a certificate that exist in the memory of this cluster's processes only."""
    from distributed import Security

    try:
        return Security.temporary()
    except ImportError as error:
        raise InvalidParameter("A local cluster makes keys with cryptography: pip install 'privet[scale]'.") from error


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
