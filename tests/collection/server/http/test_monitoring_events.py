"""The log: one line an event, and nothing in it that a request brought."""

import base64
import contextlib
import errno
import io
import json
import logging
import socket
import urllib.error
import urllib.request

import pytest
import sqlalchemy as sa
from patience import PATIENCE, wait_until
from simulated_studies import BATCH, PACKED, Service, make_study, simulated
from starlette.testclient import TestClient

from privet.collection.operator.enrolment import rotate_keys
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.http.intake import pack_batch
from privet.collection.server.http.monitoring import Complaints, Events, Refusals, Troubles
from privet.collection.server.store.store import Store, StoreFailure
from privet.data import Schema


def test_a_line_for_machines_and_a_line_for_people():
    log = io.StringIO()
    Events(log)("refused", reasons={"not JSON": 2}, by="operator")
    event = json.loads(log.getvalue())
    assert (event["event"], event["reasons"], event["by"]) == ("refused", {"not JSON": 2}, "operator")
    log = io.StringIO()
    Events(log, as_json=False)("refused", reasons={"not JSON": 2, "token": 1}, stored=3)
    assert log.getvalue().split(" ", 1)[1] == "refused reasons=not-JSON:2,token:1 stored=3\n"
    Events()("nowhere")


def test_a_log_that_nobody_reads_stops_nothing():
    log = io.StringIO()
    log.close()
    Events(log)("start")


def test_refusals_are_told_once_a_minute():
    now, log = [0.0], io.StringIO()
    refusals = Refusals(Events(log), clock=lambda: now[0])
    refusals.add(["token", "token"])
    refusals.tell()
    assert not log.getvalue()
    now[0] = 61.0
    refusals.tell()
    assert json.loads(log.getvalue())["reasons"] == {"token": 2}
    refusals.tell(now=True)
    assert log.getvalue().count("\n") == 1


def test_complaints_keep_the_place_and_lose_the_values():
    log = io.StringIO()
    logger = logging.Logger("some.library")
    logger.addHandler(Complaints(Events(log)))
    logger.warning("body %r of %s", b"secret", "192.0.2.7")
    logger.error("secret 192.0.2.7")
    try:
        raise ValueError("secret 192.0.2.7")
    except ValueError:
        logger.exception("failed")
    assert "secret" not in log.getvalue()
    assert "192.0.2.7" not in log.getvalue()
    last = json.loads(log.getvalue().splitlines()[-1])
    assert (last["error"], last["place"].partition(":")[0]) == ("ValueError", "test_monitoring_events.py")
    uvicorn = logging.Logger("uvicorn.error")
    uvicorn.addHandler(Complaints(Events(log)))
    uvicorn.warning("Invalid HTTP request received.")
    uvicorn.error("Traceback (most recent call last):\nValueError: secret")
    assert "Invalid HTTP request" in log.getvalue()
    assert "secret" not in log.getvalue()


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_busy_run_logs_no_token_no_address_and_no_body(folder, form):
    port = free_port()
    server = start_collector(folder, port, rate=1.0, burst=200, log=form)
    address = f"http://127.0.0.1:{port}"
    answers = simulated(folder.study, 0, count=100)
    bodies = folder.study.release.wire.pack(answers)
    tokens = {node: folder.tokens.issue(node) for node in answers.users.tolist()}
    study, sent = bytes.fromhex(folder.study.id), []

    def post(path, body, kind, token=""):
        headers = {"Content-Type": kind, "Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.77"}
        try:
            with urllib.request.urlopen(urllib.request.Request(address + path, body, headers)) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def closed():
        with (
            contextlib.suppress(urllib.error.HTTPError),  # too many requests
            urllib.request.urlopen(f"{address}/status") as answer,
        ):
            return not json.loads(answer.read())["open"]
        return False

    try:
        packed = [base64.urlsafe_b64decode(token) for token in tokens.values()]
        sent.append(post("/reports/batch", pack_batch(folder.study.id, packed[:30], bodies[:30]), BATCH))
        sent.append(post("/reports", b"SENTINEL", "text/SENTINEL", tokens[int(answers.users[0])]))
        for (node, token), body in zip(tokens.items(), bodies, strict=True):
            sent.append(post("/reports", study + body, PACKED, token))
            sent.append(post("/reports", study + bytes(reversed(body)) + b"SENTINEL", PACKED, token))
            sent.append(post("/reports", b'{"SENTINEL": ', "application/json", token))
            sent.append(post("/reports", study + body, PACKED, f"SENTINEL{node}"))
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(b"SENTINEL no HTTP at all\r\n\r\n")
            raw.recv(1000)
        rotate_keys(folder.path, "operator")
        store = folder.store()
        store.close()
        store.dispose()
        wait_until(closed, pause=0.2)  # the collector looks once a second
    finally:
        server.terminate()
        log = server.communicate(timeout=PATIENCE)[1].decode()
    assert {200, 201, 401, 415, 422, 429} <= set(sent)
    for event in ("start", "keys", "closed", "refused", "stop"):
        assert event in log
    assert folder.study.id in log
    secrets = [
        *tokens.values(),
        *folder.keys.operator,
        folder.keys.signing[0].hex(),
        "SENTINEL",
        "127.0.0.1",
        "192.0.2",
    ]
    secrets += [text for body in bodies for text in (body.hex(), base64.b64encode(body).decode(), repr(body)[2:-1])]
    assert [text for text in secrets if text in log] == []
    if form == "json":
        assert all({"time", "event"} <= set(json.loads(line)) for line in log.splitlines())


def test_a_full_disk_is_named_once_a_minute_whoever_says_it():
    log, now = io.StringIO(), [0.0]
    troubles = Troubles(Events(log), lambda: now[0])
    for error in (
        StoreFailure("database or disk is full"),
        StoreFailure('could not extend file "base/5/1": No space left on device'),
        OSError(errno.ENOSPC, "No space left on device"),
        StoreFailure("disk I/O error near 'secret body'"),
    ):
        troubles(error)
    now[0] = 61.0
    troubles(StoreFailure("database or disk is full"))
    events = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(each["event"], each["problem"]) for each in events] == [
        ("store fails", "the disk is full"),
        ("store fails", "StoreFailure"),
        ("store fails", "the disk is full"),
    ]


def test_the_same_complaint_is_written_once_a_minute():
    log, now = io.StringIO(), [0.0]
    handler = Complaints(Events(log), lambda: now[0])
    record = logging.LogRecord("uvicorn.error", logging.WARNING, "x.py", 7, "Invalid HTTP request.", None, None)
    for _ in range(5):
        handler.emit(record)
    now[0] = 61.0
    handler.emit(record)
    assert len(log.getvalue().splitlines()) == 2


def test_a_collector_on_a_full_disk_says_so(tmp_path):
    """SQLite's own limit on the number of pages stands for the disk."""
    long = {"mechanism": "multi-bit", "epsilon": 1.0, "sample": 1000}
    study = make_study(schema=Schema.numeric(1000, low=0.0, high=1.0, classes=3), features=long)
    log, store = io.StringIO(), Store.open(tmp_path / "reports.sqlite", study)
    sa.event.listen(store._engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1"))
    store._engine.dispose()
    service = Service(study, store)
    app = create_app(store, service.tokens, service.key, Limits(rate=0.0), events=Events(log))
    with TestClient(app) as service.client:
        sent = [service.send(node).status_code for node in service.nodes[:20]]
    assert 503 in sent
    assert '"event": "store fails", "problem": "the disk is full"' in log.getvalue()
    store.dispose()
