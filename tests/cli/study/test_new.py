"""``privet study`` as an operator runs it."""

import contextlib
import csv
import hashlib
import json
import signal
import socket
import stat
import subprocess
import sys
import urllib.request

import pytest
from patience import PATIENCE, wait_until
from simulated_studies import HABITS, declaration, privet

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port

pytest.importorskip("starlette", reason="the collection extra is not installed")


@pytest.fixture
def made(tmp_path):
    """A study that was declared by the command: where, its folder, and what was printed."""
    printed = privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
    return tmp_path, StudyFolder.open(tmp_path / "study"), printed


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("budgets.features=0", "--set budgets.features: budgets.features must be above 0, not 0."),
        ("mechanism.name=magic", "not magic"),
        ("people.panel=0.1", "is for studies with a [system]"),
        ("schedule.opens=tomorrow", "2026-03-01T12:00:00Z"),
        ("people.directory=no-such-file", "no-such-file"),
        ("questions.0.answers=3", "needs low and high for a number, or answers for categories"),
        ("questions.9.low=3", "there is no table questions.9 to change"),
        ("questions=[{answers=3}]", "has answers without an order, which multi-bit would read as the numbers 0 to 2"),
        ("people.nodes=1_000_000_000_000", "people.nodes must be at most"),
    ],
)
def test_a_bad_declaration_leaves_nothing(tmp_path, change, expected):
    given = [declaration(tmp_path), "--out", tmp_path / "study", "--set", change]
    error = privet("study", "new", *given, home=tmp_path, status=2)
    assert expected in error
    assert error.count("\n") == 1
    assert not (tmp_path / "study").exists()


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


def test_a_port_in_use_is_told_of_before_anything_is_served(made):
    home, folder, _ = made
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        error = privet("study", "serve", folder.path, "--port", taken.getsockname()[1], home=home, status=2)
    assert "an address that is free" in error
    assert error.count("\n") == 1


def test_a_process_that_is_ended_leaves_nothing(tmp_path):
    options = [declaration(tmp_path), "--out", "study", "--set", "people.nodes=3000000"]
    command = [sys.executable, "-m", "privet.cli", "study", "new", *map(str, options)]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or list(tmp_path.glob(".study.*/*tokens*.csv")), pause=0.01)
    process.terminate()
    assert process.wait(PATIENCE) == 143
    assert sorted(path.name for path in tmp_path.iterdir()) == ["habits.toml"]


def test_an_odd_title_is_printed_as_it_is(tmp_path):
    title = "[/] [red]x[/] [conceal]"
    options = [declaration(tmp_path), "--out", tmp_path / "study", "--set", f"title='{title}'"]
    assert title in privet("study", "new", *options, home=tmp_path)
    assert f'title = "{title}"' in privet("study", "show", tmp_path / "study", home=tmp_path)
    assert title in privet("study", "status", tmp_path / "study", home=tmp_path)


def test_a_missing_extra_is_named(made):
    _, folder, _ = made
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        f"sys.argv = ['privet', 'study', 'status', {str(folder.path)!r}]\n"
        "from privet.cli import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 2
    assert "the extra 'collection'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_other_mistakes_end_in_one_sentence(made):
    home, folder, _ = made
    for arguments, expected in [
        (["study", "status", home / "nowhere"], "a study's directory"),
        (["study", "revoke", folder.path, 20], "below 20"),
        (["study", "links", folder.path, "--url", "study.example.org"], "https://"),
        (["study", "export", folder.path, "--out", home / "no" / "where.parquet"], "existing directory"),
    ]:
        error = privet(*arguments, home=home, status=2)
        assert expected in error
        assert error.count("\n") == 1


@pytest.mark.parametrize("missing", ["purpose", "operator"])
def test_who_asks_and_why_must_be_said(tmp_path, missing):
    file = declaration(tmp_path)
    file.write_text("".join(line for line in HABITS.splitlines(keepends=True) if not line.startswith(missing)))
    error = privet("study", "new", file, "--out", tmp_path / "study", home=tmp_path, status=2)
    assert f"habits.toml: {missing} is missing." in error
    assert not (tmp_path / "study").exists()


def test_budgets_that_nobody_s_default_limit_allows_need_a_word(tmp_path):
    options = [declaration(tmp_path), "--out", tmp_path / "study", "--set", "budgets.features=3.5"]
    error = privet("study", "new", *options, home=tmp_path, status=2)
    assert "budgets cost 4.5 together" in error
    assert "high_cost = true" in error
    assert not (tmp_path / "study").exists()
    printed = privet("study", "new", *options, "--set", "budgets.high_cost=true", home=tmp_path)
    assert "costs a participant 4.5" in printed
    assert "most devices will refuse it" in printed


def test_a_directory_is_bound_into_the_manifest(tmp_path):
    people = "".join(f"{node},person {node}\n" for node in range(20))
    (tmp_path / "people.csv").write_text("node,name\n" + people)
    options = [declaration(tmp_path), "--out", tmp_path / "study", "--set", "people.directory=people.csv"]
    privet("study", "new", *options, home=tmp_path)
    assert StudyFolder.open(tmp_path / "study").study.directory == hashlib.sha256(people.encode()).hexdigest()
    error = privet("study", "new", *options, "--set", "people.nodes=19", home=tmp_path, status=2)
    assert "names 20 participants, and people.nodes says 19" in error


def test_the_template_is_a_study_once_it_is_filled_in(tmp_path):
    privet("study", "template", "--out", tmp_path / "sleep.toml", home=tmp_path)
    error = privet("study", "new", tmp_path / "sleep.toml", home=tmp_path, status=2)
    assert error.count("is still to be filled in.") == error.count("line ") == 4
    text = (tmp_path / "sleep.toml").read_text()
    (tmp_path / "sleep.toml").write_text(
        text.replace('"..."', '"Sleep"').replace('# language = "en"', 'language = "de"')
    )
    assert "study.toml" in privet("study", "new", tmp_path / "sleep.toml", home=tmp_path)
    folder = StudyFolder.open(tmp_path / "sleep")
    assert folder.study.question(1) == "Do you drink coffee?"
    links = tmp_path / "links.csv"
    privet("study", "links", folder.path, "--url", "https://study.example.org", "--out", links, home=tmp_path)
    assert all(line.endswith("&lang=de") for line in links.read_text().splitlines()[1:])
    assert "exists already" in privet("study", "template", "--out", tmp_path / "sleep.toml", home=tmp_path, status=2)


def test_a_study_of_one_round_needs_no_torch(tmp_path):
    """An operator who installed the extra 'collection' alone declares, runs and looks after a study."""
    folder = tmp_path / "study"
    commands = [
        ["new", declaration(tmp_path), "--out", folder],
        ["links", folder, "--url", "https://study.example.org", "--out", tmp_path / "links.csv"],
        ["status", folder],
        ["forget", folder, 3, "--yes"],
        ["rotate", folder, "tokens"],
        ["backup", folder, "--out", tmp_path / "study.backup"],
        ["restore", tmp_path / "study.backup", tmp_path / "restored"],
        ["export", folder, "--out", tmp_path / "reports.parquet"],
        ["close", folder],
        ["expire", folder, "--now", "--yes"],
    ]
    program = (
        "import json, sys\n"
        "from typer.testing import CliRunner\n"
        "sys.modules |= dict.fromkeys(['torch', 'torch_geometric', 'dp_accounting', 'pymetis', 'matplotlib'])\n"
        "from privet.cli.app import app\n"
        "for command in json.load(sys.stdin):\n"
        "    found = CliRunner().invoke(app, ['study', *command])\n"
        "    assert found.exit_code == 0, (command, found.output, found.exception)\n"
    )
    given = json.dumps([[str(part) for part in command] for command in commands])
    subprocess.run([sys.executable, "-c", program], input=given, text=True, check=True, timeout=PATIENCE)


def test_a_preview_serves_the_page_until_ctrl_c(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "privet", "study", "preview", str(declaration(tmp_path)), "--port", str(port)]
    shown = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def status():
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/status") as answer:
            return json.loads(answer.read())
        return None

    try:
        assert wait_until(status)["open"] is True
    finally:
        shown.send_signal(signal.SIGINT)
        told, _ = shown.communicate(timeout=PATIENCE)
    assert "If all 20 people answer, chance leaves this much" in told
    assert f"A participant's page: http://localhost:{port}/#study=" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["habits.toml"]
