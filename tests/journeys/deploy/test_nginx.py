"""deploy/nginx.conf for real: HTTPS from a browser and from the Python client through nginx to two collectors."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys

import pytest
from crowd import crowd
from simulated_studies import PACKED, simulated

from privet.collection.device.client import Collector, NotDelivered
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.errors import InvalidParameter

CHROMIUM = os.environ.get("PRIVET_CHROMIUM") or shutil.which("chromium")
BURST = 1000  # of the collectors' own rate limit


class Connection:
    """One TLS connection from an address of loopback's network."""

    def __init__(self, site, source="127.0.0.1"):
        port = int(site.url.rpartition(":")[2])
        context = ssl.create_default_context(cafile=site.ca)
        raw = socket.create_connection(("127.0.0.1", port), 120, source_address=(source, 0))
        self._socket = context.wrap_socket(raw, server_hostname="localhost")
        self._file = self._socket.makefile("rb")

    def ask(self, path, method="GET", body=b"", length=None, **headers):
        """Return the status, the headers and the body of an answer; ``length`` is a lie about the body."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length or len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        status = int(self._file.readline().split()[1])
        found = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode().partition(":")
            found[name.lower()] = value.strip()
        return status, found, self._file.read(int(found.get("content-length", 0)))

    def close(self):
        self._file.close()
        self._socket.close()


@pytest.fixture
def connect(request):
    """Open connections that are closed in the end."""
    site = request.getfixturevalue("own_site" if "own_site" in request.fixturenames else "site")
    opened = []

    def make(source="127.0.0.1"):
        opened.append(Connection(site, source))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_the_python_client_reports_over_https(site):
    collector = Collector(site.url, ca=site.ca)
    device = Participant(Ledger(":memory:"))
    study = device.check(collector.manifest(site.folder.study.id), site.folder.study.id)
    device.agree(study)
    reply = device.answer(study, 3, PrivateAnswers([1.0] * 6, 1))
    assert device.deliver(reply, collector, site.folder.tokens.issue(3)) == "stored"
    assert site.folder.store().get(3) == reply.body
    with pytest.raises(NotDelivered, match="certificate"):
        Collector(site.url, attempts=1).manifest(study.id)
    with pytest.raises(InvalidParameter, match="certificates"):
        Collector(site.url, ca=site.prefix / "nowhere.pem")


def test_the_command_line_trusts_ssl_cert_file_and_reads_the_link_from_its_input(site, tmp_path):
    (tmp_path / "me.json").write_text(json.dumps({"features": [1.0] * 6, "label": 1}))
    link = f"{site.url}/#study={site.folder.study.id}&token={site.folder.tokens.issue(5)}"
    environment = {**os.environ, "SSL_CERT_FILE": str(site.ca), "XDG_DATA_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "privet.cli", "participate", "-", "--answers", str(tmp_path / "me.json"), "--yes"]
    done = subprocess.run(command, input=link + "\n", env=environment, capture_output=True, text=True, timeout=120)
    assert "The collector has it." in done.stdout, done.stderr


def test_a_browser_takes_part_over_http_2(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (PRIVET_CHROMIUM)")
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        browser = started.chromium.launch(executable_path=CHROMIUM, args=options)
        page = browser.new_context(ignore_https_errors=True).new_page()
        loaded = page.goto(f"{site.url}/#study={site.folder.study.id}&token={site.folder.tokens.issue(7)}")
        assert loaded.status == 200
        assert page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        assert page.evaluate("isSecureContext")
        body = site.folder.study.release.wire.pack(simulated(site.folder.study, 0))[0]
        sent = page.evaluate(
            """async ([study, token, body]) => {
                const bytes = Uint8Array.from([...study, ...body]);
                const headers = {"Authorization": `Bearer ${token}`, "Content-Type": "application/vnd.privet.report"};
                return (await fetch("/reports", {method: "POST", headers, body: bytes})).status;
            }""",
            [list(bytes.fromhex(site.folder.study.id)), site.folder.tokens.issue(7), list(body)],
        )
        browser.close()
    assert sent == 201
    assert site.folder.store().get(7) == body


def test_thirty_fresh_browsers_behind_one_address_load_the_page(school):
    """A class behind one address, with the limits that an operator gets who changes none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (PRIVET_CHROMIUM)")
    study, tokens = school.folder.study, school.folder.tokens
    links = [f"{school.url}/#study={study.id}&token={tokens.issue(node)}" for node in range(30)]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        with crowd(browser, links, ignore_https_errors=True) as pages:
            for page in pages:
                page.locator("#form").wait_for()
                assert page.locator("#refusal, #stuck").locator("visible=true").count() == 0
        browser.close()


def test_the_rate_limit_counts_forwarded_addresses_and_believes_no_client(site, connect):
    first, second = connect("127.0.0.3"), connect("127.0.0.4")
    for number in range(2 * BURST + 60):  # two collectors, each with a burst of its own
        if number % 900 == 899:  # nginx closes a connection after a thousand requests
            first = connect("127.0.0.3")
        status, headers, _ = first.ask("/study", X_Forwarded_For=f"203.0.113.{number % 250}")
        if status == 429:
            break
    assert status == 429
    assert "retry-after" in headers
    assert second.ask("/study")[0] == 200
    assert second.ask("/study", X_Forwarded_For="127.0.0.3")[0] == 200


def test_too_large_a_body_is_refused_before_a_collector_sees_it(site, connect):
    assert connect().ask("/reports/batch", "POST", bytes(1 << 20))[0] == 415
    assert connect().ask("/reports/batch", "POST", length=(9 << 20) + 1)[0] == 413


def test_a_report_goes_to_the_other_collector_when_one_is_killed(own_site, connect):
    answers = simulated(own_site.folder.study, 0, count=60)
    bodies = own_site.folder.study.release.wire.pack(answers)
    study, line = bytes.fromhex(own_site.folder.study.id), connect()
    for number, (node, body) in enumerate(zip(answers.users.tolist(), bodies, strict=True)):
        if number == 20:
            own_site.collectors[0].kill()
        token = own_site.folder.tokens.issue(node)
        headers = {"Content_Type": PACKED, "Authorization": f"Bearer {token}"}
        assert line.ask("/reports", "POST", study + body, **headers)[0] in (200, 201)
    assert own_site.folder.store().bodies(answers.users.tolist()) == dict(
        zip(answers.users.tolist(), bodies, strict=True)
    )


def test_headers_and_doors(site, connect):
    here, elsewhere = connect(), connect("127.0.0.2")
    status, headers, _ = here.ask("/")
    assert (status, headers["strict-transport-security"]) == (200, "max-age=63072000")
    assert headers["server"] == "nginx"
    assert "content-security-policy" in headers
    for path in ("/operator", "/operator/summary", "/metrics", "/healthz", "/readyz"):
        assert elsewhere.ask(path)[0] == 403
        assert here.ask(path)[0] in (200, 401)
    assert elsewhere.ask("/operators")[0] == 404
    with socket.create_connection(("localhost", int(site.plain.rpartition(":")[2])), 120) as plain:
        plain.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = plain.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 301")
    assert f"Location: {site.url}/x".encode() in answer


def test_no_file_of_nginx_and_no_log_has_an_address_or_a_token(own_site, connect):
    token = own_site.folder.tokens.issue(9)
    second = connect("127.0.0.2")
    second.ask("/reports", "POST", b"SENTINEL", Authorization=f"Bearer {token}", Content_Type=PACKED)
    second.ask("/metrics")
    own_site.collectors[0].kill()
    own_site.collectors[1].kill()
    assert second.ask("/study")[0] in (502, 503, 504)
    logs = [each.communicate(timeout=120)[1] for each in own_site.collectors]
    logs += [path.read_bytes() for path in own_site.prefix.iterdir() if path.suffix == ".log"]
    for kind in ("client_body", "proxy"):
        assert not any(path.is_file() for path in (own_site.prefix / kind).rglob("*"))
    for text in (b"127.0.0.2", b"SENTINEL", token.encode()):
        assert not any(text in log for log in logs)
