"""The device's network: patient with a server that is away, and deaf to redirections."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from privet.collection.device.client import Collector, NotDelivered
from privet.collection.device.participant import Reply
from privet.errors import InvalidParameter

DEFAULTS = {201: b'{"status": "stored"}', 200: b'{"status": "repeated"}'}


@pytest.fixture
def scripted():
    """A server that gives the statuses in its list, in order, and remembers what it was sent."""
    script, seen, bodies = [], [], []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            seen.append((self.path, self.headers.get("Authorization"), self.rfile.read(length)))
            status = script.pop(0)
            body = bodies.pop(0) if bodies else DEFAULTS.get(status, b'{"error": "No."}')
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815  (names of the standard library)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", script, seen, bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_tries_again_with_the_same_bytes(scripted, study):
    url, script, seen, _ = scripted
    waits = []
    script += [503, 429, 500, 201]
    assert Collector(url, sleep=waits.append).send(Reply(study, b"body"), "token") == "stored"
    assert seen == [("/reports", "Bearer token", bytes.fromhex(study.id) + b"body")] * 4
    assert len(waits) == 3
    assert all(0 < wait <= 60 for wait in waits)


def test_it_tells_why_a_report_was_refused(scripted, study):
    url, script, _, _ = scripted
    script += [409]
    with pytest.raises(NotDelivered, match=r"refused the report: No \(status 409\)\."):
        Collector(url).send(Reply(study, b"body"), "token")


@pytest.mark.parametrize("page", [b"<html>Please log in</html>", b'{"status": "repeated"}', b"[" * 60_000, b"[]"])
def test_only_the_collector_s_own_words_are_an_acknowledgement(scripted, study, page):
    url, script, _, bodies = scripted
    script += [201]
    bodies += [page]
    with pytest.raises(NotDelivered, match="status 201"):
        Collector(url).send(Reply(study, b"body"), "token")


def test_what_a_server_says_cannot_write_to_the_screen(scripted, study):
    url, script, _, bodies = scripted
    script += [409]
    bodies += [b'{"error": "\\u001b]0;pwned\\u0007\\u001b[2J no' + b"o" * 500 + b'"}']
    with pytest.raises(NotDelivered) as caught:
        Collector(url).send(Reply(study, b"body"), "token")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 350


def test_it_follows_no_redirection(scripted, study):
    url, script, seen, _ = scripted
    script += [302]
    with pytest.raises(NotDelivered, match="302"):
        Collector(url).send(Reply(study, b"body"), "token")
    assert len(seen) == 1


def test_it_gives_up_in_one_sentence(study):
    with pytest.raises(NotDelivered, match=r"did not answer in 3 attempts .* Nothing was made yet\."):
        Collector("http://127.0.0.1:9", attempts=3, sleep=lambda _: None).manifest()


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "", "http://", "http://[::1"])
def test_other_addresses_are_refused(url):
    with pytest.raises(InvalidParameter, match="address"):
        Collector(url)


def test_it_asks_whether_the_study_is_open_first(scripted):
    url, script, seen, bodies = scripted
    script += [200, 200, 200, 404]
    bodies += [
        b'{"open": true, "reason": ""}',
        b'{"open": false, "reason": "It was \\u001b[2J closed."}',
        b'{"open": 1}',
    ]
    assert Collector(url).why_closed() is None
    assert Collector(url).why_closed() == "It was  [2J closed."
    for _ in range(2):
        with pytest.raises(NotDelivered, match="did not say whether the study is open"):
            Collector(url).why_closed()
    assert {path for path, *_ in seen} == {"/status"}
