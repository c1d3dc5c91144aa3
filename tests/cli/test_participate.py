"""``privet participate`` against a live collector."""

import json
import urllib.request

import pytest
from patience import PATIENCE, wait_until
from simulated_studies import declaration, privet

from privet.collection.device.ledger import Ledger
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.collection.study.chain import Chain

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_from_a_declaration_to_an_export(tmp_path):
    home = tmp_path
    printed = privet("study", "new", declaration(home), "--out", home / "study", home=home)
    folder = StudyFolder.open(home / "study")
    assert folder.study.id in printed
    assert "by at most 7.39" in printed
    port = free_port()
    server = start_collector(folder, port)
    link = f"http://127.0.0.1:{port}/#study={folder.study.id}&token={folder.tokens.issue(7)}"
    answers = home / "me.json"
    answers.write_text(json.dumps({"features": [8, 12, 3, 1], "label": 1}))
    try:
        refused = privet("participate", link, "--answers", answers, home=home, status=2, given="y\nn\n")
        assert "Nothing was" in refused
        doubtful = privet("participate", link, "--answers", answers, "--yes", home=home, status=2)
        assert "Cups of coffee is not a number from 0 to 10" in doubtful
        assert "--clip" in doubtful
        assert not json.loads(privet("ledger", "--json", home=home))["reports"]
        printed = privet("participate", link, "--answers", answers, home=home, given="y\ny\n")
        for expected in (
            "Hours of sleep",
            "'lark', 'owl'",
            "The collector has it. Spent so far: 2 of 4.",
            "Let it count as 10?",
        ):
            assert expected in printed
        again = privet("participate", link, "--answers", answers, home=home)
        assert "same one is sent again" in again
        assert "The collector has it." in again
        sent = [text[text.index("What was sent;") :].partition("The collector")[0] for text in (printed, again)]
        assert sent[0] == sent[1]
        assert "chance may have changed each of your answers" in sent[0]
        assert "'owl'" in sent[0] or "'lark'" in sent[0]
        assert " answer\n" in sent[0]
        assert "{" not in sent[0]
        other = home / "another"
        second = privet("participate", link, "--answers", answers, "--yes", "--clip", home=other, status=2)
        assert "stored already, and a report cannot be changed. No report was made" in second
        assert not json.loads(privet("ledger", "--json", home=other))["reports"]
        link = link.replace(folder.tokens.issue(7), folder.tokens.issue(8))
        over = privet("participate", link, "--answers", answers, "--limit", 1, "--yes", "--clip", home=other, status=2)
        assert "limit 1" in over
        wrong = link.replace(folder.study.id, "0" * 64)
        assert "invited to, 0000" in privet("participate", wrong, "--answers", answers, "--yes", home=other, status=2)
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
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
        ("https://x/#study=a&token=b", "enrolment token"),
        ("http://x/#study=a&token=b", "use https"),
    ):
        error = privet("participate", address, "--answers", tmp_path / "me.json", home=tmp_path, status=2)
        assert expected in error
        assert error.count("\n") == 1
    insecure = ["participate", "http://x/#study=a&token=b", "--answers", tmp_path / "me.json", "--insecure"]
    assert "enrolment token" in privet(*insecure, home=tmp_path, status=2)


@pytest.fixture
def collector(tmp_path):
    """A live collector of a declared study: its folder and a participant's link."""
    privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    folder, port = StudyFolder.open(tmp_path / "study"), free_port()
    server = start_collector(folder, port)
    (tmp_path / "me.json").write_text(json.dumps({"features": [8, 2, 3, 1], "label": 1}))
    yield folder, f"http://127.0.0.1:{port}/#study={folder.study.id}&token={folder.tokens.issue(7)}"
    server.terminate()
    server.communicate(timeout=PATIENCE)


def test_without_a_file_the_questions_are_asked(collector, tmp_path):
    folder, link = collector
    given = "8\n1.500\n2,5\n11\n1\nOWL\nn\n"  # the second answer is asked for again, and 11 is outside its range
    asked = privet("participate", link, home=tmp_path, given=given, status=2)
    assert "did not" in asked or "Correct it" in asked
    printed = privet("participate", link, home=tmp_path, given="8\n1.500\n2,5\n3\n1\nOWL\ny\n")
    for expected in (
        "1. Hours of sleep (a number from 0 to 10)",
        "1.500 could be 1.5 or 1500. Write 1500, or 1.5000.",
        "  1  owl",
        "The collector has it.",
    ):
        assert expected in printed
    assert folder.store().count() == 1
    nobody = privet(
        "participate", link.replace(folder.tokens.issue(7), folder.tokens.issue(8)), home=tmp_path / "b", status=2
    )
    assert "give your answers in a file with --answers" in nobody


def open_at(link):
    with urllib.request.urlopen(f"{link.partition('/#')[0]}/status") as answer:
        return json.loads(answer.read())["open"]


def test_a_closed_study_charges_nothing_and_a_report_that_never_left_is_refunded(collector, tmp_path):
    folder, link = collector
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve(Chain((folder.study,)), 7, lambda: b"made and never sent")
    store = folder.store()
    store.close()
    store.dispose()
    wait_until(lambda: not open_at(link))  # the collector looks once a second
    command = ["participate", link, "--answers", tmp_path / "me.json", "--yes"]
    assert "nothing was spent" in privet(*command, home=tmp_path, status=2)
    assert json.loads(privet("ledger", "--json", home=tmp_path))["spent"] == 0
    refused = privet(*command, "--ledger", tmp_path / "ledger", home=tmp_path, status=2)
    assert "never sent; it is destroyed, and 2 is refunded" in refused
    shown = privet("ledger", "--ledger", tmp_path / "ledger", home=tmp_path)
    assert "Refunded 2 for 'Habits'" in shown
    assert "closed by its operator" in shown
