"""What a request brings: tokens, the study's id and reports in both forms, or one sentence why it is refused."""

import asyncio
import base64
import contextlib
import json
import socket
from types import SimpleNamespace

import pytest
from patience import PATIENCE
from simulated_studies import BATCH, make_study, simulated

from privet.collection.device.client import Collector
from privet.collection.device.participant import Reply
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector
from privet.collection.server.http import intake


def test_json_and_packed_are_the_same_report(service):
    node = service.nodes[0]
    report = service.study.release.wire.to_json(service.bodies[node])
    document = json.dumps({"study": service.study.id, "report": report})
    headers = service.headers(node, "application/json; charset=utf-8")
    assert service.client.post("/reports", content=document, headers=headers).status_code == 201
    assert service.send(node).status_code == 200


def test_a_bad_token_costs_its_own_row_only(service):
    nodes = service.nodes[:3]
    tokens = [base64.urlsafe_b64decode(service.tokens.issue(node)) for node in nodes]
    tokens[1] = tokens[1][:-1] + bytes([tokens[1][-1] ^ 1])
    answer = service.batch(nodes, tokens=tokens).json()
    assert (answer["stored"], [row["status"] for row in answer["refused"]]) == (2, [401])
    assert service.store.get(nodes[1]) is None


@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"Authorization": ""}, None, 401),
        ({"Authorization": "Bearer x"}, None, 401),
        ({"Authorization": "Basic abc"}, None, 401),
        ({"Content-Type": "text/plain"}, None, 415),
        ({}, b"", 404),
        ({}, b"x" * 32, 404),
        ({}, b"x" * 10_000, 413),
        ({"Content-Type": "application/json"}, b"{", 422),
        ({"Content-Type": "application/json"}, b"[" * 100_000, 413),
        ({"Content-Type": "application/json"}, b"[" * 300, 422),
        ({"Content-Type": "application/json"}, b'{"study": 1, "report": 2}', 404),
        ({"Content-Type": "application/json"}, b"\xff\xfe", 422),
    ],
)
def test_bad_requests_end_in_one_sentence(service, headers, content, status):
    node = service.nodes[0]
    given = service.headers(node) | headers
    body = bytes.fromhex(service.study.id) + service.bodies[node] if content is None else content
    answer = service.client.post("/reports", content=body, headers=given)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert answer.json()["error"].endswith(".")
    assert service.store.count() == 0


def test_a_batch_names_everybody_once(service):
    node = service.nodes[0]
    answer = service.batch([node, node])
    assert (answer.status_code, service.store.count()) == (422, 0)
    assert "once" in answer.json()["error"]


def test_strangers_who_stall_with_batches_leave_room_for_reports(tmp_path):
    """Batches that never end, until their room is used up, and then an ordinary report."""
    folder = StudyFolder.create(tmp_path / "served", make_study())
    answers = simulated(folder.study, 0, count=1)
    (body,), node, size = folder.study.release.wire.pack(answers), int(answers.users[0]), (8 << 20) - 1
    head = f"POST /reports/batch HTTP/1.1\r\nHost: x\r\nContent-Type: {BATCH}\r\nContent-Length: {size + 1}\r\n\r\n"
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(live_collector(folder))
        address, answer = ("127.0.0.1", int(url.rpartition(":")[2])), b""
        for _ in range(40):  # eight are enough unless the machine is so busy that the first have been given up by then
            stalled = stack.enter_context(socket.create_connection(address, PATIENCE))
            with contextlib.suppress(ConnectionError):
                stalled.sendall(head.encode() + b"\0" * size)
            stalled.settimeout(0.3)
            with contextlib.suppress(ConnectionError, TimeoutError):
                answer = stalled.recv(1 << 12)
            if answer:
                break
        assert b" 503 " in answer  # the budget of batches is used up
        reply = Reply(folder.study, body)
        assert Collector(url, attempts=1).send(reply, folder.tokens.issue(node)) == "stored"


def test_one_address_gets_half_of_the_room_for_batches(folder):
    def sender(address, size):
        class Stalled:
            headers, state, client = {}, SimpleNamespace(), SimpleNamespace(host=address)

            async def stream(self):
                yield b"x" * size

        return Stalled()

    taken = intake.Intake(folder.tokens, 8 << 20)
    requests = [sender("192.0.2.1", 8 << 20) for _ in range(3)] + [sender("192.0.2.2", 8 << 20)]
    for request in requests[:2]:
        asyncio.run(taken.body(request, 8 << 20, batch=True))
    with pytest.raises(intake.Refused, match="busy"):
        asyncio.run(taken.body(requests[2], 8 << 20, batch=True))
    asyncio.run(taken.body(requests[3], 8 << 20, batch=True))
    for request in requests:
        taken.release(request)
    assert not taken._held  # and no address is remembered


def test_all_bodies_together_have_a_limit(service, monkeypatch):
    monkeypatch.setattr(intake, "_HELD_BYTES", 100)
    assert service.send(service.nodes[0]).status_code == 201
    assert service.batch(service.nodes[:5]).status_code == 503
    monkeypatch.undo()
    assert service.batch(service.nodes[:5]).status_code == 200


def test_a_batch_for_another_study_is_not_found(service):
    node = service.nodes[0]
    assert service.batch([node], study="0" * 64).status_code == 404
    report = service.study.release.wire.to_json(service.bodies[node])
    entries = [{"token": service.tokens.issue(node), "report": report}]
    answer = service.client.post("/reports/batch", json={"study": "0" * 64, "reports": entries})
    assert answer.status_code == 404
    assert service.study.id in answer.json()["error"]
    assert service.store.count() == 0
