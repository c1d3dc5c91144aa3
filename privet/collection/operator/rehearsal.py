"""A rehearsal: a real collector on loopback, and people of a known graph who report to it, each with an own device.

For demonstrations, examples and tests of a study before it is opened. Only the people are played: manifest, tokens,
perturbation with the operating system's randomness, HTTP and store are those of a real study.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.device.client import Collector
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.operator.folder import StudyFolder
from privet.data import Graph
from privet.errors import InvalidData, PrivetError

__all__ = ["free_port", "live_collector", "play_people", "start_collector", "take_part"]


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_collector(folder: StudyFolder, port: int, *options: str) -> subprocess.Popen[bytes]:
    """`privet study serve` in a process of its own, once it answers."""
    command = [sys.executable, "-m", "privet.cli", "study", "serve", str(folder.path), "--port", str(port), *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.05)
    server.kill()
    problem = server.communicate()[1].decode(errors="replace").strip().splitlines()
    raise PrivetError(f"The collector did not start: {problem[-1] if problem else 'it said nothing'}")


@contextmanager
def live_collector(folder: StudyFolder) -> Iterator[str]:
    """The address of a collector that runs as long as the block does, without a rate limit."""
    port = free_port()
    server = start_collector(folder, port, "--rate-limit", "0")
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=30)


def play_people(
    folder: StudyFolder, address: str, graph: Graph, people: NDArray[np.int64], done: Callable[[], None] = lambda: None
) -> list[str]:
    """Let these people take part, eight at a time; what became of each one's report."""

    def one(node: np.int64) -> str:
        outcome = take_part(folder, address, graph, int(node))
        done()
        return outcome

    with ThreadPoolExecutor(8) as pool:
        try:
            return list(pool.map(one, people))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # who has not begun need not
            raise


def take_part(folder: StudyFolder, address: str, graph: Graph, node: int) -> str:
    """One person's device: it was given the collector's address, the study's id and a token, and nothing else."""
    collector, token, pinned = Collector(address, attempts=4), folder.tokens.issue(node), folder.study.id
    device = Participant(Ledger(":memory:"))
    study = device.check(collector.manifest(), pinned)
    device.agree(study)
    outcome = collector.send(device.answer(study, node, _private(graph, node)), token)
    device.ledger.acknowledge(study.id)
    device.ledger.close()
    return outcome


def _private(graph: Graph, node: int) -> PrivateAnswers:
    if graph.features is None:
        raise InvalidData("graph of a rehearsal", "with features", "none")
    features = sp.csr_array(graph.features[[node]]).toarray()[0].tolist()
    label = None if graph.labels is None else int(graph.labels[node])
    row = graph.adjacency
    return PrivateAnswers(features, label, row.indices[row.indptr[node] : row.indptr[node + 1]].tolist())
