"""Figures measured in several processes at once, one thread each.

A training on a graph of usual size gains little from a second thread, and much from a second process beside it. Which
process measures a figure, and in which order, changes nothing: every figure has its own seed and one thread.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from privet.data import Graph
from privet.errors import InvalidParameter, PrivetError
from privet.evaluation.threads import is_small

__all__ = ["Worker", "measure_in_processes", "peak_rss_mb", "usual_workers"]

_WORTH_STARTING = 2_000  # people from whom on a process is worth the seconds that it takes to start
_BESIDE_THE_GRAPH = 1 << 30  # bytes that a process may need beside copies of the graph
_COPIES = 12  # copies of the graph's arrays that a training may need


@dataclass(frozen=True)
class Worker:
    """A function with the data that it works on, sent to a process once.

    Attributes:
        function: A function of a module, called with ``data`` and a task.
        data: Its first argument.
    """

    function: Callable[[Any, Any], Any]
    data: Any


def usual_workers(graph: Graph, figures: int) -> int:
    """Return how many processes to use: as many as there are cores, figures and memory for; 1 for a small graph.

    A graph so large that a training uses all cores by itself gets 1 too.

    Args:
        graph: The graph to measure on.
        figures: The number of figures to measure.
    """
    if graph.num_nodes < _WORTH_STARTING or not is_small(graph):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    need = _BESIDE_THE_GRAPH + _COPIES * len(pickle.dumps((graph.adjacency, graph.features)))
    return max(1, min(cores, figures, _free_bytes() // need))


def measure_in_processes(worker: Worker, tasks: Sequence[Sequence[Any]], workers: int) -> Iterator[tuple[int, Any]]:
    """Give each group of tasks to the next idle process, and yield the number of each group with its results.

    However this ends, by an error or an interrupt too, no process is left. A process whose parent is gone ends itself.

    Args:
        worker: The function and its data, both picklable.
        tasks: Groups of tasks; one process does a group.
        workers: The number of processes.
    """
    if workers < 1:
        raise InvalidParameter("workers", "at least 1", workers)
    context = _context()
    waiting = list(enumerate(tasks))[::-1]
    started: dict[Connection, Any] = {}
    try:
        for _ in range(min(workers, len(tasks))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, worker), daemon=True)
            process.start()
            theirs.close()
            started[ours] = process
            ours.send(waiting.pop())
        busy = set(started)
        while busy:
            for channel in wait(list(busy)):
                if not isinstance(channel, Connection):
                    continue
                number, result = _received(channel, started[channel])
                if waiting:
                    channel.send(waiting.pop())
                else:
                    busy.discard(channel)
                yield number, result
    finally:
        for channel, process in started.items():
            channel.close()
            process.terminate()
        for process in started.values():
            process.join()


def _context() -> Any:
    """Return a way to start processes: as copies of one that has imported what they need, where the system has it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Without the script: if it starts its work at once, the error should come from a process that can tell of it.
    context.set_forkserver_preload(["privet.evaluation.measuring"])
    return context


def peak_rss_mb() -> float:
    """Return this process's peak memory, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _received(channel: Connection, process: Any) -> tuple[int, Any]:
    try:
        number, result = channel.recv()
    except (EOFError, OSError):
        process.join()
        raise PrivetError(
            f"A process that measured a figure ended with code {process.exitcode}, perhaps for want of memory; use "
            "fewer workers. A script that uses several must start its work under if __name__ == '__main__'."
        ) from None
    if isinstance(result, BaseException):
        raise result
    return number, result


def _serve(channel: Connection, worker: Worker) -> None:
    """Do tasks until the parent has no more: the main function of a process."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    while True:
        try:
            number, tasks = channel.recv()
        except (EOFError, OSError):
            return
        try:
            result: Any = [worker.function(worker.data, task) for task in tasks]
        except Exception as error:  # the parent raises it
            result = _picklable(error)
        channel.send((number, result))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _picklable(error: Exception) -> Exception:
    try:
        return error if str(pickle.loads(pickle.dumps(error))) == str(error) else RuntimeError(repr(error))
    except Exception:
        return RuntimeError(repr(error))


def _free_bytes() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return sys.maxsize
