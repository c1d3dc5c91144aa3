"""The commands of a study, run as an operator and a participant run them."""

import csv
import json
import os
import socket
import stat
import subprocess
import sys
import time

import pytest

from privet.collection.device.ledger import Ledger
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port, start_collector
from privet.data import Schema


def privet(*arguments, home, status=0, given=None):
    command = [sys.executable, "-m", "privet.cli", *map(str, arguments)]
    environment = {**os.environ, "XDG_DATA_HOME": str(home), "COLUMNS": "200"}
    result = subprocess.run(command, capture_output=True, text=True, input=given, env=environment, timeout=120)
    assert result.returncode == status, result.stderr + result.stdout
    return result.stdout if not status else result.stderr


@pytest.fixture
def made(tmp_path):
    (tmp_path / "schema.json").write_text(Schema.numeric(4, low=0.0, high=10.0, classes=2).to_json())
    (tmp_path / "questions.txt").write_text("Hours of sleep\nCups of coffee\nKilometres on foot\nBooks in a month\n")
    arguments = [
        "--title", "Habits", "--nodes", 20, "--schema", tmp_path / "schema.json", "--epsilon-labels", 1,
        "--questions", tmp_path / "questions.txt", "--class-names", "lark,owl",
    ]  # fmt: skip
    printed = privet("study", "new", tmp_path / "study", *arguments, home=tmp_path)
    return tmp_path, StudyFolder.open(tmp_path / "study"), printed


def test_from_a_declaration_to_an_export(made):
    home, folder, printed = made
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


def test_a_lost_token_is_replaced(made):
    home, folder, _ = made
    printed = privet("study", "revoke", folder.path, 3, home=home)
    token = printed.split()[-1]
    assert folder.tokens.check(token, folder.store().revoked()) == 3
    with (folder.path / "tokens.csv").open() as file:
        old = next(row["token"] for row in csv.DictReader(file) if row["node"] == "3")
    assert (3, 0) in folder.store().revoked()
    assert old != token
    privet("study", "links", folder.path, "--url", "https://study.example.org/", "--out", home / "links.csv", home=home)
    with (home / "links.csv").open() as file:
        links = {int(row["node"]): row["link"] for row in csv.DictReader(file)}
    assert links[3] == f"https://study.example.org/#study={folder.study.id}&token={token}"
    assert links[4].endswith(folder.tokens.issue(4))
    assert stat.S_IMODE((home / "links.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--epsilon-features", 0], "features.epsilon"),
        (["--mechanism", "magic"], "features.mechanism"),
        (["--epsilon-edges", 3], "edges are private"),
        (["--opens", "tomorrow"], "2026-03-01T12:00:00Z"),
        (["--schema", "no-such-file"], "no-such-file"),
        (["--store", "mysql://x"], "postgresql://"),
    ],
)
def test_a_bad_declaration_leaves_nothing(tmp_path, arguments, expected):
    (tmp_path / "schema.json").write_text(Schema.numeric(4, low=0.0, high=10.0, classes=2).to_json())
    base = ["--title", "Habits", "--nodes", 20, "--schema", tmp_path / "schema.json"]
    error = privet("study", "new", tmp_path / "study", *base, *arguments, home=tmp_path, status=2)
    assert expected in error
    assert error.count("\n") == 1
    assert not (tmp_path / "study").exists()


def test_a_port_in_use_is_told_of_before_anything_is_served(made):
    home, folder, _ = made
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        error = privet("study", "serve", folder.path, "--port", taken.getsockname()[1], home=home, status=2)
    assert "an address that is free" in error
    assert error.count("\n") == 1


def test_a_ledger_is_not_invented(made):
    home, _, _ = made
    assert "existing file" in privet("ledger", "--ledger", home / "typo.sqlite", home=home, status=2)
    assert not (home / "typo.sqlite").exists()
    (home / "open").touch(mode=0o644)
    privet("ledger", "--ledger", home / "open", home=home)
    assert stat.S_IMODE((home / "open").stat().st_mode) == 0o600


def test_a_process_that_is_ended_leaves_nothing(tmp_path):
    (tmp_path / "schema.json").write_text(Schema.numeric(4, low=0.0, high=10.0, classes=2).to_json())
    options = ["--title", "Habits", "--nodes", "3000000", "--schema", "schema.json"]
    command = [sys.executable, "-m", "privet.cli", "study", "new", "study", *options]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob(".study.*/tokens.csv")):
        assert process.poll() is None
        time.sleep(0.01)
    process.terminate()
    assert process.wait(30) == 143
    assert [path.name for path in tmp_path.iterdir()] == ["schema.json"]


def test_an_odd_title_is_printed_as_it_is(tmp_path):
    (tmp_path / "schema.json").write_text(Schema.numeric(4, low=0.0, high=10.0, classes=2).to_json())
    title = "[/] [red]x[/] [conceal]"
    options = ["--title", title, "--nodes", 5, "--schema", tmp_path / "schema.json"]
    assert title in privet("study", "new", tmp_path / "study", *options, home=tmp_path)
    assert title in privet("study", "status", tmp_path / "study", home=tmp_path)
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve(StudyFolder.open(tmp_path / "study").study, 1, lambda: b"")
    assert title in privet("ledger", "--ledger", tmp_path / "ledger", home=tmp_path)


def test_other_mistakes_end_in_one_sentence(made):
    home, folder, _ = made
    for arguments, expected in [
        (["study", "status", home / "nowhere"], "privet study new"),
        (["study", "revoke", folder.path, 20], "below 20"),
        (["study", "links", folder.path, "--url", "study.example.org"], "https://"),
        (["study", "export", folder.path, "--out", home / "no" / "where.parquet"], "existing directory"),
        (["participate", "ftp://x", "--answers", home / "schema.json"], "token"),
        (["participate", "http://x/#study=a&token=b", "--answers", home / "schema.json"], "enrolment token"),
    ]:
        error = privet(*arguments, home=home, status=2)
        assert expected in error
        assert error.count("\n") == 1


def test_a_missing_extra_is_named(made):
    _, folder, _ = made
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        f"sys.argv = ['privet', 'study', 'status', {str(folder.path)!r}]\n"
        "from privet.cli import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert "the extra 'collection'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_training_takes_its_budgets_from_the_manifest_and_refuses_early(made):
    home, folder, _ = made
    base = ["train", "--study", folder.path, "--system", "lpgnn"]
    for arguments, expected in [
        (["--out", home / "model", "--study-id", "0" * 64], "--study-id"),
        (["--out", home / "model", "--set", "delta=0.1"], "does not decide"),
        (["--out", home / "model", "--set", "epsilon_features=9"], "does not decide"),
        (["--out", home / "no" / "where"], "existing directory"),
    ]:
        error = privet(*base, *arguments, home=home, status=2)
        assert expected in error
        assert error.count("\n") == 1
    assert not (home / "model").exists()
