"""``privet study serve``: no secret in the list of processes, and a log for people or for machines."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE, wait_until
from simulated_studies import STORES, declaration, privet, store_place

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port
from privet.collection.study.tokens import new_key

pytest.importorskip("starlette", reason="the collection extra is not installed")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no /proc")
@pytest.mark.parametrize("kind", STORES)
def test_the_list_of_processes_shows_no_secret(tmp_path, kind, monkeypatch):
    signing = new_key().hex()
    (tmp_path / "signing").write_text(signing)
    monkeypatch.setitem(os.environ, "PRIVET_SIGNING_KEY_FILE", str(tmp_path / "signing"))
    place = store_place(kind, tmp_path)
    if kind == "postgresql":
        monkeypatch.setitem(os.environ, "PRIVET_STORE", place)
    printed = privet("study", "new", tmp_path / "study", *declaration(tmp_path), home=tmp_path)
    folder, port = StudyFolder.open(tmp_path / "study"), free_port()
    secrets = [signing, folder.keys.operator[0], "postgresql:", folder.tokens.issue(0)]
    assert not any(secret in printed for secret in secrets)
    assert 'keys.json, under "operator"' in printed
    command = [sys.executable, "-m", "privet.cli", "study", "serve", str(folder.path), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            wait_until(lambda: server.poll() is not None or listens(port))
            assert server.poll() is None
            shown = Path(f"/proc/{server.pid}/cmdline").read_bytes().decode()
        finally:
            server.send_signal(signal.SIGTERM)
            log = server.communicate(timeout=PATIENCE)[1]
    assert str(folder.path) in shown
    assert not any(secret in shown + log for secret in secrets)
    events = [json.loads(line)["event"] for line in log.splitlines()]  # no terminal: JSON
    assert events[0] == "start"
    assert events[-1] == "stop"


def test_secrets_are_no_options(tmp_path):
    for option in ("--store", "--operator-key", "--signing-key"):
        error = privet("study", "new", tmp_path / "study", *declaration(tmp_path), option, "x", home=tmp_path, status=2)
        assert "No such option" in error
    error = privet("participate", "http://x/#study=1", "--answers", "me.json", "--token", "x", home=tmp_path, status=2)
    assert "No such option" in error


def test_a_bad_store_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "PRIVET_STORE", "mysql://me:word@db")
    error = privet("study", "new", tmp_path / "study", *declaration(tmp_path), home=tmp_path, status=2)
    assert "PRIVET_STORE" in error
    assert "word" not in error
    assert error.count("\n") == 1
    assert not (tmp_path / "study").exists()
