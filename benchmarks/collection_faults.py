"""The collector is killed again and again while participants retry: nothing acknowledged may be lost or altered.

Participants never give up: a connection that breaks is tried again with the same bytes. Some send their report twice,
and a few send a different one the second time. ``PRIVET_POSTGRES`` adds the second store.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.collection import _bodies, _study
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.server.batches import pack_batch

CONNECTIONS = 48
BATCH_SHARE, BATCH = 0.5, 40  # half of the participants come through gateways that send 40 at a time


def run(quick: bool = False) -> dict[str, Any]:
    """What was acknowledged against what is stored, after so many kills; every difference is a failure."""
    participants, kills = (4_000, 4) if quick else (50_000, 20)
    result: dict[str, Any] = {"benchmark": "collection_faults", "participants": participants}
    for name, url in {"sqlite": None, "postgresql": os.environ.get("PRIVET_POSTGRES")}.items():
        if name == "sqlite" or url:
            result[name] = play(participants, kills, url)
    return result


def play(participants: int, kills: int, url: str | None) -> dict[str, Any]:
    """One game against one store."""
    study = _study(participants)
    bodies = _bodies(study)
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study, url)
        crowd = _Crowd(folder, bodies, kills)
        seconds = asyncio.run(crowd.play())
        store = folder.store()
        answers, stored = store.answers(), {node: store.get(node) for node in crowd.acknowledged}
        conflicts = store.conflicts()
        store.dispose()
    lost = sum(body is None for body in stored.values())
    altered = sum(body is not None and body != bodies[node] for node, body in stored.items())
    return {
        "kills": crowd.killed,
        "acknowledged": len(crowd.acknowledged),
        "stored": len(answers.users),
        "lost": lost,
        "altered": altered,
        "twice": len(answers["features"]) - len(answers.users),
        "broken_connections": crowd.broken,
        "different_second_reports_refused": crowd.refused,
        "different_second_reports_recorded": conflicts,
        "seconds": round(seconds, 1),
    }


class _Crowd:
    def __init__(self, folder: StudyFolder, bodies: list[bytes], kills: int) -> None:
        self.folder, self.bodies, self.kills = folder, bodies, kills
        self.port = free_port()
        self.acknowledged: set[int] = set()
        self.killed = self.broken = self.refused = 0
        self.random = random.Random(0)

    async def play(self) -> float:
        """All participants, and the killer beside them; the seconds that it took."""
        self.server = start_collector(self.folder, self.port)
        begin = time.perf_counter()
        nodes = list(range(len(self.bodies)))
        self.random.shuffle(nodes)
        cut = int(len(nodes) * BATCH_SHARE)
        jobs: list[list[int]] = [nodes[i : i + BATCH] for i in range(0, cut, BATCH)] + [[node] for node in nodes[cut:]]
        self.random.shuffle(jobs)
        waiting = iter(jobs)
        self.done, self.total = 0, len(nodes)
        try:
            killer = asyncio.create_task(self._kill())
            await asyncio.gather(*(self._participants(waiting) for _ in range(CONNECTIONS)))
            await killer
        finally:
            self.server.kill()
            self.server.communicate()
        return time.perf_counter() - begin

    async def _kill(self) -> None:
        """SIGKILL whenever another share of the participants is through, then start again on the same port."""
        for kill in range(1, self.kills + 1):
            while self.done < self.total * kill / (self.kills + 1):
                await asyncio.sleep(0.005)
            self.server.kill()
            self.server.communicate()
            self.killed += 1
            self.server = await asyncio.to_thread(start_collector, self.folder, self.port)

    async def _participants(self, waiting: Any) -> None:
        connection: Any = None
        for nodes in waiting:
            again = self.random.random() < 0.1
            for attempt in range(2 if again else 1):
                liar = attempt == 1 and len(nodes) == 1 and self.random.random() < 0.3
                connection = await self._deliver(nodes, connection, liar)
            self.done += len(nodes)
        await _dropped(connection)

    async def _deliver(self, nodes: list[int], connection: Any, liar: bool) -> Any:
        """Send until there is an answer; the connection for the next."""
        request = self._request(nodes, liar)
        while True:
            try:
                if connection is None:
                    connection = await asyncio.open_connection("127.0.0.1", self.port)
                reader, writer = connection
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length)
            except (OSError, EOFError):
                self.broken += 1
                connection = await _dropped(connection)
                await asyncio.sleep(self.random.uniform(0.01, 0.2))
                continue
            status = int(head[9:12])
            if status == 503:
                await asyncio.sleep(self.random.uniform(0.01, 0.2))
                continue
            if liar and status == 409:
                self.refused += 1
            elif status in (200, 201) and b'"refused":[{' not in body:
                self.acknowledged.update(nodes)
            else:
                raise AssertionError(f"unexpected answer {status}: {body[:200]!r}")
            return connection

    def _request(self, nodes: list[int], liar: bool) -> bytes:
        tokens = [self.folder.tokens.issue(node) for node in nodes]
        if len(nodes) > 1:
            packed = [base64.urlsafe_b64decode(token) for token in tokens]
            body = pack_batch(self.folder.study.id, packed, [self.bodies[node] for node in nodes])
            path, kind, who = "/reports/batch", "application/vnd.privet.batch", ""
        else:
            report = self.bodies[nodes[0]]
            if liar:  # the symbol's other value
                report = report[:4] + bytes([255 - report[4] + 1 & 255]) + report[5:]
            body = bytes.fromhex(self.folder.study.id) + report
            path, kind, who = "/reports", "application/vnd.privet.report", f"Authorization: Bearer {tokens[0]}\r\n"
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return f"{head}{who}\r\n".encode() + body


async def _dropped(connection: Any) -> None:
    if connection is not None:
        connection[1].close()
        with contextlib.suppress(OSError):
            await connection[1].wait_closed()


if __name__ == "__main__":
    print(json.dumps(run("--quick" in sys.argv)))
