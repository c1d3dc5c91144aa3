"""Ten thousand malformed requests against a live collector: no 500, nothing stored, no memory kept."""

import base64
import http.client
import json
import random
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from simulated_studies import make_study, simulated

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.server.http.intake import pack_batch
from privet.data import Schema
from privet.errors import InvalidReports

STUDY = make_study(
    schema=Schema.numeric(6, low=0.0, high=10.0, classes=3, private_edges=True), neighbours={"epsilon": 4.0}
)
FORM = STUDY.release.wire
ANSWERS = [
    (answers.users.tolist(), FORM.pack(answers)) for answers in (simulated(STUDY, seed, count=3) for seed in range(50))
]
ODD = [
    None,
    True,
    -1,
    0,
    1 << 31,
    1 << 63,
    -(1 << 200),
    1e308,
    float("nan"),
    "",
    "\x00",
    "é" * 50,
    [],
    {},
    [[[]]],
    [None],
]
PACKED, BATCH, JSON = "application/vnd.privet.report", "application/vnd.privet.batch", "application/json"


def damaged(data, chance):
    """Some bytes changed, cut out, doubled or put in."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randint(0, len(data))
        match chance.randint(0, 3):
            case 0 if place < len(data):
                data[place] ^= 1 << chance.randint(0, 7)
            case 1:
                del data[place : place + chance.randint(1, 8)]
            case 2:
                data[place:place] = data[: chance.randint(0, 40)]
            case _:
                data[place:place] = chance.randbytes(chance.randint(1, 20))
    return bytes(data)


def strange(document, chance):
    """A JSON document of which one part was replaced by something odd."""
    if isinstance(document, dict) and document and chance.random() < 0.8:
        key = chance.choice(list(document))
        return {**document, key: strange(document[key], chance)}
    if isinstance(document, list) and document and chance.random() < 0.7:
        place = chance.randrange(len(document))
        return [*document[:place], strange(document[place], chance), *document[place + 1 :]]
    return chance.choice(ODD)


def is_report(body, node):
    try:
        FORM.unpack([node], [body])
    except InvalidReports:
        return False
    return True


def malformed(chance, tokens):
    """The path, headers and body of one request that must not lead to a stored report."""
    nodes, bodies = chance.choice(ANSWERS)
    token = tokens.issue(nodes[0])
    good = {"study": STUDY.id, "report": FORM.to_json(bodies[0])}
    while True:
        match chance.randint(0, 5):
            case 0:
                path, kind, body = "/reports", PACKED, damaged(bytes.fromhex(STUDY.id) + bodies[0], chance)
                if body[:32].hex() == STUDY.id and is_report(body[32:], nodes[0]):
                    continue
            case 1:
                path, kind, body = "/reports", JSON, json.dumps(strange(good, chance)).encode()
            case 2:
                path, kind, body = "/reports", JSON, damaged(json.dumps(good).encode(), chance)
            case 3:
                packed = [base64.urlsafe_b64decode(tokens.issue(node)) for node in nodes]
                packed = [token[:8] + bytes(16) for token in packed]  # signed by nobody
                path, kind, body = "/reports/batch", BATCH, damaged(pack_batch(STUDY.id, packed, bodies), chance)
            case 4:
                path, kind, body = (
                    "/reports/batch",
                    JSON,
                    json.dumps(strange({**good, "reports": [good]}, chance)).encode(),
                )
            case _:
                path = chance.choice(["/reports", "/reports/batch"])
                kind = chance.choice([PACKED, BATCH, JSON, "", "text/html; charset=x", "a/b" * 40])
                body = chance.randbytes(chance.randint(0, 300))
        if kind == JSON and path == "/reports":
            try:
                document = json.loads(body)
                if document["study"] == STUDY.id and is_report(FORM.from_json(document["report"]), nodes[0]):
                    continue
            except (ValueError, KeyError, TypeError, RecursionError):
                pass
        bearer = chance.choice(
            [f"Bearer {token}"] * 6 + ["", "Bearer", "Bearer \t", "Basic " + token, "Bearer " + token[:-1]]
        )
        return path, {"Content-Type": kind, "Authorization": bearer}, body


def resident(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="a process's memory is read from /proc")
def test_ten_thousand_malformed_bodies(tmp_path):
    folder = StudyFolder.create(tmp_path / "study", STUDY)
    port, chance, statuses = free_port(), random.Random(0), {}
    server = start_collector(folder, port)
    settled = 0
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for count in range(10_000):
            path, headers, body = malformed(chance, folder.tokens)
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            statuses[answer.status] = statuses.get(answer.status, 0) + 1
            assert answer.status < 500, (path, headers, body, text)
            assert answer.status != 201, (path, headers, body, text)
            assert answer.status != 200 or json.loads(text)["stored"] == 0, (path, body, text)
            if count == 3000:
                settled = resident(server.pid)
        grown = resident(server.pid) - settled
        connection.close()
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert set(statuses) >= {401, 415, 422}, statuses
    store = folder.store()
    assert store.count() == 0
    store.dispose()
    assert grown < 8 << 20, f"{grown / (1 << 20):.1f} MiB more after 7,000 requests"
