"""The collector under uvicorn: silent about who asked, and stopped by a signal."""

import signal
import urllib.request

from privet.collection.operator.rehearsal import free_port, start_collector


def test_it_writes_no_access_log_names_no_software_and_stops_when_told(folder):
    port = free_port()
    server = start_collector(folder, port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/study") as answer:
            assert answer.read() == folder.study.canonical()
            assert answer.headers["Server"] is None
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=30)[1]
    assert b"127.0.0.1" not in said
    assert said == b""
    assert server.returncode in (0, 143, -signal.SIGTERM)
