"""How a cluster is named, and whom it lets in."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import distributed
import pytest
from distributed import Client, Security

from privet.errors import InvalidParameter
from privet.graph.distributed import connect
from privet.graph.distributed.cluster import LocalWorkers, Scheduler, parse_cluster


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("local", LocalWorkers()),
        ("local:3", LocalWorkers(3)),
        ("local:2:1.5GiB", LocalWorkers(2, "1.5GiB")),
        ("local:2:800MB", LocalWorkers(2, "800MB")),
        ("tls://scheduler.example:8786", Scheduler("tls://scheduler.example:8786")),
    ],
)
def test_spellings(text, meant):
    assert parse_cluster(text) == meant


@pytest.mark.parametrize("text", ["", "local:", "local:0", "local:2:", "local:2:much", "10.0.0.1:8786", "here"])
def test_others_are_told(text):
    with pytest.raises(InvalidParameter, match="local:WORKERS:MEMORY"), connect(text):
        pass


@pytest.mark.parametrize("text", ["tcp://10.0.0.1:8786", "ws://here:1", "inproc://x", "ucx://10.0.0.1:1"])
def test_a_scheduler_without_a_key_must_be_asked_for(text: str) -> None:
    with pytest.raises(InvalidParameter, match="whoever reaches it runs code as you"), connect(text):
        pass
    assert parse_cluster(text, insecure=True) == Scheduler(text)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with connect("local:1:1GiB") as client:
        yield client


def listening(pids: set[int]) -> set[int]:
    """Return the ports on which some processes listen; it must be on loopback."""
    sockets = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if columns[3] == "0A":
            sockets[f"socket:[{columns[9]}]"] = columns[1]
    links = [link for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    found = [sockets[target] for target in map(os.readlink, links) if target in sockets]
    assert all(address.startswith("0100007F:") for address in found)
    return {int(address.partition(":")[2], 16) for address in found}


async def ask(address: str, keys: Security | None, patience: float | None = None) -> None:
    """Ask whoever listens at an address who they are, as a Dask process does."""
    arguments = {} if keys is None else keys.get_connection_args("client")
    async with distributed.rpc(address, connection_args=arguments) as remote:
        await asyncio.wait_for(remote.identity(), patience)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads the ports from /proc")
def test_nobody_without_its_key_reaches_a_local_cluster(client: Client) -> None:
    """Every port of scheduler, nanny and worker: without a key, with somebody else's, and what pages show."""
    workers = client.scheduler_info()["workers"]
    known = [client.scheduler.address, *workers, *(each["nanny"] for each in workers.values())]
    assert len(known) == 3
    assert all(each.startswith("tls://127.0.0.1:") for each in known)
    ports = {int(each.rpartition(":")[2]) for each in known}
    for address in known:
        client.sync(ask, address, client.security)  # with the key
        for other, keys in ((address.replace("tls", "tcp"), None), (address, Security.temporary())):
            with pytest.raises((OSError, TimeoutError)):
                client.sync(ask, other, keys, 3.0)
    everything = listening({os.getpid(), *client.run(os.getpid).values()})
    assert ports < everything
    for port in everything - ports:
        for page in ("", "status", "info/main/workers.html", "json/counts.json", "metrics", "health"):
            with pytest.raises(HTTPError, match="404") as refused:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=60)
            refused.value.close()


def test_a_client_without_a_certificate_is_refused(client: Client) -> None:
    address = client.scheduler.address
    with pytest.raises(InvalidParameter, match=re.escape(f"{address} asks for a key")), connect(address):
        pass


def test_what_workers_spill_is_private(client: Client) -> None:
    for folder in client.run(lambda dask_worker: dask_worker.local_directory).values():
        owned = next(each for each in Path(folder).parents if each.name.startswith("privet-temporary-"))
        assert stat.S_IMODE(owned.stat().st_mode) == 0o700
