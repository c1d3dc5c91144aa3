"""Running many independent tasks, here or on the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from privet.errors import PrivetError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Progress", "WorkersLost", "results_of", "run_tasks"]

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress: TypeAlias = Callable[[str, int, int], None]

_SECONDS, _PATIENCE = 20, 3  # a cluster may be without workers while killed ones are replaced


class WorkersLost(PrivetError, RuntimeError):
    """Workers that ended again and again at the same task, so that Dask gave it up."""


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    client: Client | None,
    progress: Progress | None = None,
    phase: str = "",
) -> list[Result]:
    """Apply a function to every task, and return the results in the tasks' order.

    A task whose worker is killed runs again on another: functions must give the same files when they run twice.

    Args:
        function: Picklable, such as a function of a module.
        tasks: Its arguments.
        client: The Dask client, or None to run everything in this process.
        progress: Called with the phase, the number of finished tasks and the number of all of them.
        phase: The words for ``progress``.
    """
    tell = progress or (lambda *_: None)
    tell(phase, 0, len(tasks))
    results: dict[int, Result] = {}
    if client is None:
        for number, task in enumerate(tasks):
            results[number] = function(task)
            tell(phase, number + 1, len(tasks))
    else:
        for number, result in _on_workers(function, tasks, client):
            results[number] = result
            tell(phase, len(results), len(tasks))
    return [results[number] for number in range(len(tasks))]


def _on_workers(function: Callable[[Any], Any], tasks: Sequence[Any], client: Client) -> Iterator[tuple[int, Any]]:
    futures = client.map(function, tasks, pure=False)
    try:
        yield from results_of(futures, client)
    except BaseException:
        client.cancel(futures)
        _let_started_ones_end(client, {future.key for future in futures})
        raise
    client.cancel(futures)  # only released: they are finished


def _let_started_ones_end(client: Client, keys: set[Any]) -> None:
    """Wait, for a limited time, until no worker is at one of these tasks: none may write after an error was told."""
    give_up = time.monotonic() + _SECONDS
    while time.monotonic() < give_up and any(client.run(_is_at, keys, on_error="ignore").values()):
        time.sleep(0.05)


def _is_at(keys: set[Any], dask_worker: Any) -> bool:
    return any(task.key in keys for task in dask_worker.state.executing)


def results_of(futures: Sequence[Any], client: Client) -> Iterator[tuple[int, Any]]:
    """Give the number and the result of each future as it is finished.

    Args:
        client: Their client.
    """
    from distributed import TimeoutError as NothingHappened
    from distributed import wait
    from distributed.scheduler import KilledWorker

    numbers = {future.key: number for number, future in enumerate(futures)}
    pending, silent = list(futures), 0
    try:
        while pending:
            try:
                with client.as_current():
                    finished, others = wait(pending, timeout=_SECONDS, return_when="FIRST_COMPLETED")
            except NothingHappened:
                silent = 0 if client.scheduler_info()["workers"] else silent + 1
                if silent == _PATIENCE:
                    raise WorkersLost("The cluster has no workers any more; start some and try again.") from None
                continue
            for future in finished:
                yield numbers[future.key], future.result()
            pending = list(others)
    except KilledWorker as error:
        raise WorkersLost(
            f"Workers ended {error.allowed_failures + 1} times at the same task; give them more memory, or build the "
            "store with more partitions."
        ) from None
