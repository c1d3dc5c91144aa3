"""Processes and threads: figures are measured in several processes at once, one thread each.

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
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

import torch

from privet.data import Graph
from privet.errors import PrivetError

__all__ = ["measure_in_processes", "peak_rss_mb", "threads_for", "usual_workers"]

D = TypeVar("D")
T = TypeVar("T")
R = TypeVar("R")

_SMALL = 2_000_000  # entries of the adjacency matrix below which a second thread spends most of its time waiting

_WORTH_STARTING = 2_000  # people from whom on a process is worth the seconds that it takes to start
_BESIDE_THE_GRAPH = 1 << 30  # bytes that a process may need beside copies of the graph
_COPIES = 12  # copies of the graph's arrays that a training may need


def usual_workers(graph: Graph, figures: int) -> int:
    """Return how many processes to use: as many as there are cores, figures and memory for; 1 for a small graph.

    A graph so large that a training uses all cores by itself gets 1 too.

    Args:
        graph: The graph to measure on.
        figures: The number of figures to measure.
    """
    if graph.num_nodes < _WORTH_STARTING or not _is_small(graph):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    need = _BESIDE_THE_GRAPH + _COPIES * len(pickle.dumps((graph.adjacency, graph.features)))
    return max(1, min(cores, figures, _free_bytes() // need))


def measure_in_processes(
    function: Callable[[D, T], R], data: D, groups: Sequence[Sequence[T]], workers: int
) -> Iterator[tuple[T, R]]:
    """Give each group of tasks to the next idle process, and yield each task with its result as soon as it is there.

    However this ends, by an error or an interrupt too, no process is left. A process whose parent is gone ends itself.

    Args:
        function: A function of a module, called with the data and a task.
        data: Its first argument, sent to each process once.
        groups: Groups of tasks; one process does a group.
        workers: The number of processes, at least 1.
    """
    context = _context()
    waiting = list(groups)[::-1]
    started: dict[Connection, Any] = {}
    given: dict[Connection, list[T]] = {}

    def give(channel: Connection) -> None:
        given[channel] = list(waiting.pop())
        channel.send(given[channel])

    try:
        for _ in range(min(workers, len(groups))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, function, data), daemon=True)
            process.start()
            theirs.close()
            started[ours] = process
            give(ours)
        while given:
            for channel in wait(list(given)):
                if not isinstance(channel, Connection):
                    continue
                result: R = _received(channel, started[channel])
                task = given[channel].pop(0)
                if not given[channel]:
                    del given[channel]
                    if waiting:
                        give(channel)
                yield task, result
    finally:
        for channel, process in started.items():
            channel.close()
            process.terminate()
        for process in started.values():
            process.join()


@contextmanager
def threads_for(graph: Graph) -> Iterator[None]:
    """Use one thread within the block if the graph is small. Results then do not depend on the number of cores.

    Args:
        graph: The graph that is measured on.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1 if _is_small(graph) else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _is_small(graph: Graph) -> bool:
    return bool(graph.adjacency.nnz < _SMALL)


def _context() -> Any:
    """Return a way to start processes: as copies of one that has imported what they need, where the system has it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    # Without the script: if it starts its work at once, the error should come from a process that can tell of it.
    context.set_forkserver_preload(["privet.evaluation.evaluate"])
    return context


def peak_rss_mb() -> float:
    """Return this process's peak memory, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _received(channel: Connection, process: Any) -> Any:
    try:
        result = channel.recv()
    except (EOFError, OSError):
        process.join()
        raise PrivetError(
            f"A process that measured a figure ended with code {process.exitcode}, perhaps for want of memory; use "
            "fewer workers. A script that uses several must start its work under if __name__ == '__main__'."
        ) from None
    if isinstance(result, BaseException):
        raise result
    return result


def _serve(channel: Connection, function: Callable[[D, T], R], data: D) -> None:
    """Do tasks until the parent has no more: the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    while True:
        try:
            tasks = channel.recv()
        except (EOFError, OSError):
            return
        for task in tasks:
            try:
                result: Any = function(data, task)
            except Exception as error:  # the parent raises it
                result = _picklable(error)
            channel.send(result)


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
