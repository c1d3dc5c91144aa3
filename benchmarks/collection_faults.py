"""The collector is killed again and again while participants retry: nothing acknowledged may be lost or altered.

Participants never give up: a connection that breaks is tried again with the same bytes. Some send their report twice,
and a few send a different one the second time. ``PRIVET_POSTGRES`` adds the second store, and two collectors on it: one
of them is away from the first kill on, in turns, and people go on with the other. Every kill happens during a backup,
and the last backup is restored. ``PRIVET_POSTGRES`` also adds a study in two rounds: classes and a panel, then one
question to each person.
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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.collection import _bodies, _study
from privet.collection.operator.backup import open_backup, write_backup
from privet.collection.operator.declaration import declare
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.operator.restoration import restore_backup
from privet.collection.operator.rounds import next_round
from privet.collection.server.http.intake import pack_batch
from privet.collection.server.store.database import REPORTS, STUDIES
from privet.collection.study.forms import OpenForm
from privet.collection.study.manifest import Study
from privet.data import Graph, social_graph
from privet.errors import InvalidReports
from privet.mechanisms import SeededBits
from privet.release import PrivateData
from privet.systems import Inquiry

CONNECTIONS = 48
BATCH_SHARE, BATCH = 0.5, 40  # half of the participants come through gateways that send 40 at a time


def run(quick: bool = False) -> dict[str, Any]:
    """What was acknowledged against what is stored, after so many kills; every difference is a failure."""
    participants, kills = (4_000, 4) if quick else (50_000, 20)
    result: dict[str, Any] = {"benchmark": "collection_faults", "participants": participants}
    for name, url in {"sqlite": None, "postgresql": os.environ.get("PRIVET_POSTGRES")}.items():
        if name == "sqlite" or url:
            result[name] = play(participants, kills, url)
        if url:
            result["postgresql, two collectors"] = play(participants, kills, url, collectors=2)
            result["postgresql, two collectors, two rounds"] = play_rounds(participants // 10, kills // 2, url)
    return result


def play(participants: int, kills: int, url: str | None, collectors: int = 1) -> dict[str, Any]:
    """One game against one store."""
    study = _study(participants)
    bodies = dict(enumerate(_bodies(study)))
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", study, url)
        return _game(folder, study, bodies, kills, collectors)


def play_rounds(people: int, kills: int, url: str | None) -> dict[str, Any]:
    """Two games, one for each round of a study, against two collectors; ``kills`` in each."""
    graph = social_graph(people, classes=4, average_degree=6, homophily=0.5, features=16, active_features=4, seed=0)
    order = np.random.default_rng(0).permutation(people)
    opens, closes = datetime.now(UTC) - timedelta(minutes=1), datetime.now(UTC) + timedelta(days=9)
    about = dict.fromkeys(("title", "purpose", "operator", "eligible"), "A game.") | {"nodes": people}
    about |= {"opens": opens.isoformat(), "closes": closes.isoformat()}
    system = Inquiry(epsilon_features=2.0, epsilon_labels=2.0, panel=0.1, seed=0)
    cuts = [people // 10, people // 2]
    panel, asked, _ = np.split(order, cuts)
    first = declare(about, graph.schema, system, graph=Graph(graph.adjacency), panel=panel, people=asked)
    with tempfile.TemporaryDirectory() as directory:
        folder = StudyFolder.create(Path(directory) / "study", first.study, url, public=first.public)
        results = [_game(folder, first.study, _reports_to(folder, first.study, graph), kills, 2)]
        store = folder.store()
        second = next_round(store, opens, closes)
        store.dispose()
        results.append(_game(folder, second, _reports_to(folder, second, graph), kills, 2))
    return {name: sum(result[name] for result in results) for name in results[0]}


def _reports_to(folder: StudyFolder, study: Study, graph: Graph) -> dict[int, bytes]:
    """Make the report of everybody whom a round asks."""
    store = folder.store()
    form = store.at(study).form
    store.dispose()
    others, features = np.setdiff1d(form.everybody(), form.panel), graph.features.toarray()
    answers = form.release.perturb(PrivateData.of(graph, others), SeededBits(0))
    bodies = dict(zip(others.tolist(), form.release.wire.pack(answers), strict=True))
    shown = OpenForm(study.declared)
    return bodies | {int(node): shown.pack(features[node], int(graph.labels[node])) for node in form.panel}


def _game(folder: StudyFolder, study: Study, bodies: dict[int, bytes], kills: int, collectors: int) -> dict[str, Any]:
    """Let everybody report to a round while collectors are killed, and compare what is stored with what was sent."""
    crowd = _Crowd(folder, study, bodies, kills, collectors)
    seconds = asyncio.run(crowd.play())
    first = folder.store()
    store = first.at(study)
    nodes, found = store.reports()
    stored, conflicts = dict(zip(nodes, found, strict=True)), store.conflicts()
    store.collected()  # every report is one that a device can have sent
    first.dispose()
    return {
        "kills": crowd.killed,
        "backups": crowd.backups,
        "missing_from_backups": crowd.missing,
        "restored_otherwise": crowd.restored_otherwise(),
        "acknowledged": len(crowd.acknowledged),
        "stored": len(stored),
        "lost": sum(node not in stored for node in crowd.acknowledged),
        "altered": sum(stored[node] != bodies[node] for node in crowd.acknowledged & stored.keys()),
        "twice": len(nodes) - len(stored),
        "broken_connections": crowd.broken,
        "different_second_reports_refused": crowd.refused,
        "different_second_reports_recorded": conflicts,
        "seconds": round(seconds, 1),
    }


class _Crowd:
    def __init__(
        self, folder: StudyFolder, study: Study, bodies: dict[int, bytes], kills: int, collectors: int
    ) -> None:
        self.folder, self.study, self.bodies, self.kills = folder, study, bodies, kills
        self.in_backup: dict[int, bytes] = {}
        store = folder.store()
        self.form = store.at(study).form
        store.dispose()
        self.ports = [free_port() for _ in range(collectors)]
        self.acknowledged: set[int] = set()
        self.killed = self.broken = self.refused = self.backups = self.missing = 0
        self.random = random.Random(0)

    async def play(self) -> float:
        """All participants, and the killer beside them; the seconds that it took."""
        self.servers = [start_collector(self.folder, port) for port in self.ports]
        begin = time.perf_counter()
        nodes = sorted(self.bodies)
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
            for server in self.servers:
                if server.poll() is None:
                    server.kill()
                    server.communicate()
        return time.perf_counter() - begin

    async def _kill(self) -> None:
        """SIGKILL whenever another share of the participants is through, in the middle of a backup.

        A single collector is started again at once; of several, the killed one stays away until the next kill.
        """
        for kill in range(1, self.kills + 1):
            while self.done < self.total * kill / (self.kills + 1):
                await asyncio.sleep(0.005)
            victim = kill % len(self.servers)
            for other in set(range(len(self.servers))) - {victim}:
                await self._revive(other)
            copy = asyncio.create_task(asyncio.to_thread(self._missing_from_backup, set(self.acknowledged)))
            await asyncio.sleep(0.05)
            self.servers[victim].kill()
            self.servers[victim].communicate()
            self.killed += 1
            if len(self.servers) == 1:
                await self._revive(victim)
            self.missing += await copy

    async def _revive(self, server: int) -> None:
        if self.servers[server].poll() is not None:
            self.servers[server] = await asyncio.to_thread(start_collector, self.folder, self.ports[server])

    def _missing_from_backup(self, known: set[int]) -> int:
        """Take a backup, and count what was acknowledged before and is not in it as it was sent."""
        write_backup(self.folder.path, self._backup)
        with open_backup(self._backup) as backup:
            numbers = {row[1]: row[0] for rows in backup.rows(STUDIES) for row in rows}
            reports = (row for rows in backup.rows(REPORTS) for row in rows)
            self.in_backup = {row[1]: row[3] for row in reports if row[0] == numbers[self.study.id]}
        self.backups += 1
        return sum(self.in_backup.get(node) != self.bodies[node] for node in known)

    @property
    def _backup(self) -> Path:
        return self.folder.path.parent / "backup"

    def restored_otherwise(self) -> int:
        """Restore the last backup to SQLite, and count the reports that are not there as they were in it."""
        place = self.folder.path.parent / f"restored-{self.study.round}"
        restore_backup(self._backup, place)
        first = StudyFolder.open(place).store()
        store = first.at(self.study)
        found = dict(zip(*store.reports(), strict=True))
        store.collected()
        first.dispose()
        return sum(found.get(node) != self.in_backup.get(node) for node in found.keys() | self.in_backup.keys())

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
                    connection = await asyncio.open_connection("127.0.0.1", self.random.choice(self.ports))
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
            body = pack_batch(self.study.id, packed, [self.bodies[node] for node in nodes])
            path, kind, who = "/reports/batch", "application/vnd.privet.batch", ""
        else:
            report = self.bodies[nodes[0]]
            if liar:
                report = self._another(nodes[0])
            body = bytes.fromhex(self.study.id) + report
            path, kind, who = "/reports", "application/vnd.privet.report", f"Authorization: Bearer {tokens[0]}\r\n"
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        return f"{head}{who}\r\n".encode() + body

    def _another(self, node: int) -> bytes:
        """Return a different report that the same person's device could have made."""
        for body in sorted(set(self.bodies.values()) - {self.bodies[node]})[:50]:
            with contextlib.suppress(InvalidReports):
                self.form.check([node], [body])
                return body
        return self.bodies[node]


async def _dropped(connection: Any) -> None:
    if connection is not None:
        connection[1].close()
        with contextlib.suppress(OSError):
            await connection[1].wait_closed()


if __name__ == "__main__":
    print(json.dumps(run("--quick" in sys.argv)))
