"""A rehearsal: a real collector on loopback, and people of a known graph who report to it, each with an own device.

For demonstrations, examples and tests of a study before it is opened. Only the people are played: manifest, tokens,
perturbation with the operating system's randomness, HTTP and store are those of a real study.
"""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.device.client import Collector, Invited
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import prepare
from privet.collection.operator.folder import StudyFolder
from privet.collection.study.manifest import Study
from privet.data import Graph
from privet.errors import InvalidData, PrivetError

__all__ = ["free_port", "live_collector", "play_people", "start_collector", "take_part"]

_PORTS = (16_384, 32_768)
_PATIENCE = 120.0  # seconds that a collector on a busy machine may take to start


def free_port() -> int:
    """Return a port of loopback that nobody listens on.

    It lies below those that systems give to outgoing connections, one of which could take it before it is used.
    """
    while True:
        port = random.SystemRandom().randrange(*_PORTS)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


_SERVER = (
    "import sys\n"
    "from pathlib import Path\n"
    "from privet.collection.operator.folder import StudyFolder\n"
    "from privet.collection.server.http.app import Limits\n"
    "from privet.collection.server.http.monitoring import Events\n"
    "from privet.collection.serving import serve\n"
    "path, port, rate, burst, proxied, log = sys.argv[1:]\n"
    "limits = Limits(rate=float(rate), burst=int(burst), proxied=proxied == 'True')\n"
    "events = Events(sys.stderr if log else None, as_json=log == 'json')\n"
    "serve(StudyFolder.open(Path(path)), '127.0.0.1', int(port), limits, events)\n"
)


def start_collector(
    folder: StudyFolder, port: int, rate: float = 0.0, *, burst: int = 1000, proxied: bool = False, log: str = ""
) -> subprocess.Popen[bytes]:
    """Serve a study in a process of its own, and return once it answers.

    Args:
        folder: The study's directory.
        port: The port of loopback to listen on.
        rate: Requests a second from one address; 0 for any number.
        burst: Requests that an address may send at once.
        proxied: Believe the address that a proxy names.
        log: "json" or "text" for a log of events on its standard error; none by default.
    """
    command = [sys.executable, "-c", _SERVER, str(folder.path), str(port), str(rate), str(burst), str(proxied), log]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    give_up = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < give_up:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.05)
    server.kill()
    problem = server.communicate()[1].decode(errors="replace").strip().splitlines()
    raise PrivetError(f"The collector did not start: {problem[-1] if problem else 'it said nothing'}")


@contextmanager
def live_collector(folder: StudyFolder) -> Iterator[str]:
    """Yield the address of a collector that runs as long as the block does, without a rate limit."""
    port = free_port()
    server = start_collector(folder, port)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=_PATIENCE)


def play_people(
    folder: StudyFolder,
    address: str,
    graph: Graph,
    people: NDArray[np.int64],
    done: Callable[[], None] = lambda: None,
    round_: Study | None = None,
    ca: Path | None = None,
) -> list[str]:
    """Let people take part, eight at a time.

    Args:
        folder: The study's directory, which issues their tokens.
        address: The collector's address.
        graph: The people with their private fields.
        people: The nodes that take part.
        done: Called whenever one of them is done.
        round_: The round that they answer; the first one by default.
        ca: The certificate to trust where the address is https://; the system's by default.

    Returns:
        What became of each one's report: "stored" or "repeated".
    """

    def one(node: np.int64) -> str:
        outcome = take_part(folder, address, graph, int(node), round_, ca)
        done()
        return outcome

    with ThreadPoolExecutor(8) as pool:
        try:
            return list(pool.map(one, people))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # who has not begun need not
            raise


def take_part(
    folder: StudyFolder, address: str, graph: Graph, node: int, round_: Study | None = None, ca: Path | None = None
) -> str:
    """Play one person's device: it was given the collector's address, the round's id and a token, and nothing else."""
    token, pinned = folder.tokens.issue(node), (folder.study if round_ is None else round_).id
    collector = Collector(address, attempts=8, ca=ca)
    device = Participant(Ledger(":memory:"))
    study = device.check(collector.manifest(pinned), pinned)
    device.ledger.limit = study.price.epsilon  # played people agree to any price
    prepared = prepare(study, node, Invited(collector, token))
    device.agree(study, shows=prepared.shows)
    outcome = device.deliver(device.answer(study, node, _private(graph, node), prepared=prepared), collector, token)
    device.ledger.close()
    return outcome


def _private(graph: Graph, node: int) -> PrivateAnswers:
    if graph.features is None:
        raise InvalidData("A rehearsal needs a graph with features, and this one has none.")
    features = sp.csr_array(graph.features[[node]]).toarray()[0].tolist()
    label = None if graph.labels is None else int(graph.labels[node])
    row = graph.adjacency
    return PrivateAnswers(features, label, row.indices[row.indptr[node] : row.indptr[node + 1]].tolist())
