"""The device's network: patient with a server that is away, and deaf to redirections."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from privet.collection.device.client import Collector, Invited, NotDelivered
from privet.collection.device.participant import Reply
from privet.errors import InvalidParameter

methods = []
DEFAULTS = {201: b'{"status": "stored"}', 200: b'{"status": "repeated"}'}


@pytest.fixture
def scripted():
    """A server that gives the statuses in its list, in order, and remembers what it was sent."""
    script, seen, bodies = [], [], []
    methods.clear()

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            methods.append(self.command)
            seen.append((self.path, self.headers.get("Authorization"), self.rfile.read(length)))
            status = script.pop(0)
            body = bodies.pop(0) if bodies else DEFAULTS.get(status, b'{"error": "No."}')
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  (names of the standard library)

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
        Collector("http://127.0.0.1:9", attempts=3, sleep=lambda _: None).manifest("0" * 64)


@pytest.mark.parametrize("url", ["ftp://host", "host:80", "", "http://", "http://[::1"])
def test_other_addresses_are_refused(url):
    with pytest.raises(InvalidParameter, match="address"):
        Collector(url)


def test_it_asks_whether_a_report_would_be_taken(scripted):
    url, script, seen, bodies = scripted
    script += [200, 409, 410, 404]
    bodies += [b'{"status": "welcome"}', b'{"error": "Another \\u001b[2J is stored."}', b"{}"]
    found = [Collector(url).why_refused("0" * 64, "token") for _ in range(4)]
    assert found[:2] == [None, "Another  [2J is stored."]
    assert ("410" in found[2], bool(found[3])) == (True, True)
    assert {path for path, *_ in seen} == {"/reports/" + "0" * 64}


def test_it_asks_whether_the_study_is_open_first(scripted):
    url, script, seen, bodies = scripted
    script += [200, 200, 200, 404]
    bodies += [
        b'{"open": true, "reason": ""}',
        b'{"open": false, "reason": "It was \\u001b[2J closed."}',
        b'{"open": 1}',
    ]
    assert Collector(url).why_closed("0" * 64) is None
    assert Collector(url).why_closed("0" * 64) == "It was  [2J closed."
    for _ in range(2):
        with pytest.raises(NotDelivered, match="did not say whether the study is open"):
            Collector(url).why_closed("0" * 64)
    assert {path for path, *_ in seen} == {"/status/" + "0" * 64}


def test_it_asks_for_erasure_until_it_is_told_of_it(scripted):
    url, script, seen, bodies = scripted
    script += [503, 200]
    bodies += [b"", b'{"status": "erased"}']
    Collector(url, sleep=lambda _: None).withdraw("token")
    assert (seen, methods) == ([("/reports", "Bearer token", b"")] * 2, ["DELETE"] * 2)


@pytest.mark.parametrize("page", [b"<html>Please log in</html>", b'{"status": "stored"}', b"[]"])
def test_only_the_collector_s_own_words_are_an_erasure(scripted, page):
    url, script, _, bodies = scripted
    script += [200]
    bodies += [page]
    with pytest.raises(NotDelivered, match="did not erase your reports"):
        Collector(url).withdraw("token")


@pytest.mark.parametrize("host", ["study.example.org", "192.0.2.1:8000", "127.0.0.1.example.org", "[2001:db8::1]", "x"])
def test_a_token_goes_to_another_machine_over_https_only(host):
    with pytest.raises(InvalidParameter, match=r"another machine.*use https\."):
        Collector(f"http://{host}/")
    Collector(f"http://{host}/", insecure=True)
    Collector(f"https://{host}/")


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.9.8.7", "localhost:80", "LOCALHOST", "[::1]:8000"])
def test_this_machine_needs_no_certificate(host):
    Collector(f"http://{host}/")


def test_public_data_are_asked_for_with_the_token(scripted):
    url, script, seen, bodies = scripted
    script += [200, 401]
    bodies += [b"0,Ann", b'{"error": "No."}']
    invited = Invited(Collector(url), "token")
    assert invited.blob("0" * 64) == b"0,Ann"
    with pytest.raises(NotDelivered, match="status 401"):
        invited.blob("0" * 64)
    assert seen == [("/public/" + "0" * 64, "Bearer token", b"")] * 2


def test_an_invitation_has_a_largest_size(scripted):
    url, script, _, bodies = scripted
    script += [200, 200]
    bodies += [b"x" * (1 << 20), b"x" * ((1 << 20) + 1)]
    assert len(Collector(url).invitation("0" * 64, "token")) == 1 << 20
    with pytest.raises(NotDelivered, match="more than 1 MiB"):
        Collector(url).invitation("0" * 64, "token")
