"""``privet participate`` against a live collector."""

import json

import pytest
from simulated_studies import declaration, privet

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector

pytest.importorskip("fastapi", reason="the collection extra is not installed")


def test_from_a_declaration_to_an_export(tmp_path):
    home = tmp_path
    printed = privet("study", "new", home / "study", *declaration(home), home=home)
    folder = StudyFolder.open(home / "study")
    assert folder.study.id in printed
    assert "by at most 7.39" in printed
    port = free_port()
    server = start_collector(folder, port)
    link = f"http://127.0.0.1:{port}/#study={folder.study.id}&token={folder.tokens.issue(7)}"
    answers = home / "me.json"
    answers.write_text(json.dumps({"features": [8, 12, 3, 1], "label": 1}))
    try:
        refused = privet("participate", link, "--answers", answers, home=home, status=2, given="n\n")
        assert "Nothing was" in refused
        printed = privet("participate", link, "--answers", answers, home=home, given="y\n")
        for expected in ("Hours of sleep", "lark, owl", "Spent so far: 2 of 10", "(stored)", "counts as 10"):
            assert expected in printed
        again = privet("participate", link, "--answers", answers, home=home)
        assert "same one is sent again" in again
        assert "(repeated)" in again
        sent = [line for line in (printed + again).splitlines() if line.startswith("What is sent: ")]
        assert len(set(sent)) == 1
        other = home / "another"
        over = privet("participate", link, "--answers", answers, "--limit", 1, "--yes", home=other, status=2)
        assert "limit 1" in over
        wrong = link.replace(folder.study.id, "0" * 64)
        assert "must be 0000" in privet("participate", wrong, "--answers", answers, "--yes", home=other, status=2)
    finally:
        server.terminate()
        server.communicate(timeout=20)
    status = json.loads(privet("study", "status", folder.path, "--json", home=home))
    assert (status["stored"], status["open"]) == (1, True)
    assert "1 of 20 answered" in privet("study", "status", folder.path, home=home)
    assert "Closed with 1 report" in privet("study", "close", folder.path, home=home)
    assert json.loads(privet("study", "status", folder.path, "--json", home=home))["open"] is False
    privet("study", "export", folder.path, "--out", home / "reports.parquet", home=home)
    assert (home / "reports.parquet").stat().st_size > 0
    ledger = json.loads(privet("ledger", "--json", home=home))
    assert (ledger["spent"], ledger["reports"][0]["sent"]) == (2.0, True)


def test_mistakes_end_in_one_sentence(tmp_path):
    (tmp_path / "me.json").write_text("{}")
    for address, expected in (
        ("ftp://x", "token"),
        ("http://x/#study=a&token=b", "enrolment token"),
    ):
        error = privet("participate", address, "--answers", tmp_path / "me.json", home=tmp_path, status=2)
        assert expected in error
        assert error.count("\n") == 1
