"""The collector under uvicorn: silent about who asked, and stopped by a signal."""

import signal
import subprocess
import sys
import urllib.request

from patience import PATIENCE

from privet.collection import serving
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.serving import next_round_command


def test_it_writes_no_access_log_names_no_software_and_stops_when_told(folder):
    port = free_port()
    server = start_collector(folder, port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/study") as answer:
            assert answer.read() == folder.study.canonical()
            assert answer.headers["Server"] is None
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=PATIENCE)[1]
    assert b"127.0.0.1" not in said
    assert said == b""
    assert server.returncode in (0, 143, -signal.SIGTERM)


def test_torch_stays_out_of_the_collector_and_the_next_round_is_a_command(folder):
    code = "import sys, privet.collection.serving; print('torch' in sys.modules, 'pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"
    command = next_round_command(folder, 7.0)
    assert command[1:] == ["-m", "privet.cli", "study", "next", str(folder.path), "--days", "7.0", "--yes"]
    failed = subprocess.run(command, capture_output=True, text=True)
    assert (failed.returncode, "one round only" in failed.stderr) == (2, True)


def test_without_torch_no_next_round_is_offered(folder, monkeypatch):
    assert serving._next_round(folder)(7.0) == next_round_command(folder, 7.0)
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    assert serving._next_round(folder) is None
