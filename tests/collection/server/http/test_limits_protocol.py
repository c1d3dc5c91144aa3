"""Connections that do not ask or read, or ask without end, are closed; a body that does not come is given up."""

import contextlib
import hashlib
import json
import socket
import threading
import time
import urllib.request

import pytest
import uvicorn
from patience import PATIENCE, wait_until

from privet.collection.operator.rehearsal import free_port
from privet.collection.server.http import intake as requests
from privet.collection.server.http import limits as protocol
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.http.limits import ImpatientProtocol
from privet.collection.server.store.store import Store


@pytest.fixture
def served(folder, monkeypatch, tmp_path):
    """A collector in a thread whose patience is short."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.4)
    monkeypatch.setattr(requests, "_BODY_SECONDS", 0.6)
    store = Store.open(tmp_path / "served.sqlite", folder.study)
    app = create_app(store, folder.tokens, folder.keys.operator[0], Limits(rate=0.0))
    port = free_port()
    config = uvicorn.Config(app, port=port, log_level="error", http=ImpatientProtocol, timeout_keep_alive=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_until(lambda: server.started, pause=0.01)
    yield port
    server.should_exit = True
    thread.join()
    store.dispose()


def answer(port, *pieces, pause=0.0):
    """What comes back for some bytes until the server closes."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        received = b""
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
            while data := connection.recv(1 << 16):
                received += data
        return received


def test_a_silent_connection_is_closed(served):
    assert answer(served) == b""


def test_a_head_that_drips_is_closed(served):
    assert answer(served, b"GET /study HTTP/1.1\r\n", b"A: b\r\n", pause=0.3) == b""


def test_a_head_without_end_is_closed(served, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 30.0)
    line = b"X-Header: " + b"x" * 1000 + b"\r\n"
    assert b"200 OK" not in answer(served, b"GET /study HTTP/1.1\r\n", *[line] * 200)


def test_a_reader_who_stops_reading_is_cut_off(served, monkeypatch, folder, tmp_path):
    monkeypatch.setattr(protocol, "READ_SECONDS", 0.5)
    cut, lost = threading.Event(), ImpatientProtocol.connection_lost
    monkeypatch.setattr(ImpatientProtocol, "connection_lost", lambda *given: (cut.set(), lost(*given)))
    large = b"0,Name\n" * (1 << 20)
    store = Store.open(tmp_path / "served.sqlite", folder.study)
    store.publish(large)
    store.dispose()
    known = f"Authorization: Bearer {folder.tokens.issue(3)}\r\n"
    request = f"GET /public/{hashlib.sha256(large).hexdigest()} HTTP/1.1\r\nHost: x\r\n{known}".encode()
    request += b"Connection: close\r\n\r\n"
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.settimeout(PATIENCE)
        slow.connect(("127.0.0.1", served))
        slow.sendall(request)
        assert cut.wait(PATIENCE)
        monkeypatch.setattr(protocol, "READ_SECONDS", PATIENCE)  # a busy machine may read in fits and starts
        received, whole = 0, answer(served, request)  # who reads gets all of it
        with contextlib.suppress(ConnectionResetError):
            while data := slow.recv(1 << 20):
                received += len(data)
    assert received < len(large)
    assert whole.endswith(large)


def test_an_ordinary_request_is_answered_and_the_connection_kept(served, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 1.5)
    request = b"GET /study HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served), PATIENCE) as connection, connection.makefile("rb") as answers:
        for _ in range(2):
            connection.sendall(request)
            time.sleep(1.7)  # longer than a head may take
            assert b" 200 " in answers.readline()
            length = [line for line in iter(answers.readline, b"\r\n") if line.lower().startswith(b"content-length:")]
            assert json.loads(answers.read(int(length[0].split(b":")[1])))["nodes"] == 500


def test_a_body_that_does_not_come_is_given_up_and_others_are_served(served, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", PATIENCE)
    head = b"POST /reports/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    stalled = [socket.create_connection(("127.0.0.1", served), PATIENCE) for _ in range(20)]
    for connection in stalled:
        connection.sendall(head)
    received = answer(served, b"GET /study HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"200 OK" in received
    assert b" 408 " in stalled[0].recv(1 << 16)
    for connection in stalled:
        connection.close()


def test_what_is_no_http_counts_against_the_limit_of_its_address(served, monkeypatch):
    seen = []
    rate = protocol.RateLimit(0.001, 3)
    monkeypatch.setattr(ImpatientProtocol, "rate", rate)
    monkeypatch.setattr(ImpatientProtocol, "unreadable", staticmethod(lambda: seen.append(1)))
    answers = [answer(served, b"\x16\x03\x01 nonsense\r\n\r\n") for _ in range(5)]
    assert [text[:12] for text in answers] == [b"HTTP/1.1 400"] * 3 + [b""] * 2
    assert len(seen) == 5
    assert rate.wait("127.0.0.1") > 0  # requests of this address wait, too


def test_a_collector_counts_what_is_no_http(live):
    address, _ = live
    port = int(address.rpartition(":")[2])
    assert answer(port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    with urllib.request.urlopen(f"{address}/metrics") as found:
        assert b'privet_refused_total{reason="no HTTP"} 1.0' in found.read()
