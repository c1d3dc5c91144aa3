"""A study behind nginx as deploy/nginx.conf sets it up: processes on loopback, a certificate made on the spot."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from privet.collection import StudyFolder, free_port, start_collector

TEMPLATE = Path(__file__).parents[2] / "deploy" / "nginx.conf"
NGINX = os.environ.get("PRIVET_NGINX") or shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
OPENSSL = shutil.which("openssl")
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True)
class Site:
    """A study behind nginx.

    Attributes:
        url: Its https:// address.
        plain: The address of the redirection to it.
        ca: The certificate to trust.
        folder: The study's directory.
        prefix: nginx's directory, with its logs.
        collectors: The two processes behind it.
    """

    url: str
    plain: str
    ca: Path
    folder: StudyFolder
    prefix: Path
    collectors: list[subprocess.Popen[bytes]]


def installed() -> bool:
    """Tell whether nginx and openssl are here."""
    return NGINX is not None and OPENSSL is not None


@contextmanager
def behind_nginx(folder: StudyFolder, prefix: Path, rate: float = 0.0) -> Iterator[Site]:
    """Serve a study by two collectors behind nginx as long as the block runs.

    Args:
        folder: The study's directory. Two collectors share one SQLite file here, which bears two on one machine.
        prefix: A directory for nginx's files.
        rate: Requests a second that a collector takes from one address; 0 for any number.
    """
    _make_certificate(prefix)
    ports, secure, plain = [free_port(), free_port()], free_port(), free_port()
    text = _configuration(prefix, secure, plain, ports)
    if not rate:  # a rehearsal's people all come from one address
        text = text.replace("rate=200r/s", "rate=100000r/s")
    (prefix / "nginx.conf").write_text(text)
    command = [str(NGINX), "-p", str(prefix), "-c", str(prefix / "nginx.conf"), "-e", str(prefix / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=60)
    if checked.returncode:
        raise RuntimeError(checked.stderr)
    collectors = [start_collector(folder, port, rate, proxied=True, log="json") for port in ports]
    server = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.PIPE)
    try:
        _wait_for(secure, server)
        url, redirecting = f"https://localhost:{secure}", f"http://localhost:{plain}"
        yield Site(url, redirecting, prefix / "cert.pem", folder, prefix, collectors)
    finally:
        for each in (server, *collectors):
            if each.poll() is None:
                each.terminate()
            each.communicate(timeout=60)


def _make_certificate(directory: Path) -> None:
    """Make a certificate for localhost that its own key has signed."""
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    options = ["req", "-x509", *curve, "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem")]
    subprocess.run([str(OPENSSL), *options, *names, *files], check=True, capture_output=True, timeout=60)


def _configuration(directory: Path, secure: int, plain: int, ports: Sequence[int]) -> str:
    """Return the template with these places instead of the machine's."""
    text = TEMPLATE.read_text()
    for old, new in {
        "user www-data;": "user root;" if os.geteuid() == 0 else "",
        "/var/log/nginx/error.log": str(directory / "error.log"),
        "/run/nginx.pid": str(directory / "nginx.pid"),
        "http {": "http {\n" + "".join(f"    {kind}_temp_path {directory}/{kind};\n" for kind in TEMPORARY),
        "server 127.0.0.1:8001 ": f"server 127.0.0.1:{ports[0]} ",
        "server 127.0.0.1:8002 ": f"server 127.0.0.1:{ports[1]} ",
        "listen 80;\n        listen [::]:80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl http2;\n        listen [::]:443 ssl http2;": f"listen 127.0.0.1:{secure} ssl http2;",
        "/etc/letsencrypt/live/study.example.org/fullchain.pem": str(directory / "cert.pem"),
        "/etc/letsencrypt/live/study.example.org/privkey.pem": str(directory / "key.pem"),
        "server_name study.example.org;": "server_name localhost;",
        "https://study.example.org$request_uri": f"https://localhost:{secure}$request_uri",
    }.items():
        if text.count(old) != 1:
            raise RuntimeError(f"deploy/nginx.conf must have {old!r} once.")
        text = text.replace(old, new)
    return text


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until nginx listens."""
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if server.poll() is not None:
                raise RuntimeError(server.communicate()[1].decode()) from None
            time.sleep(0.05)
    raise RuntimeError("nginx does not listen.")
