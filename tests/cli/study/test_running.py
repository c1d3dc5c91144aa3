"""A study while it runs: serving, status, and rounds until a model is trained."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from patience import PATIENCE, wait_until
from rehearsed_rounds import add_second_round, first_round, people
from simulated_studies import STORES, declaration, make_study, privet, store_place

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import free_port
from privet.collection.study.forms import OpenForm
from privet.collection.study.tokens import new_key
from privet.data import social_graph
from privet.mechanisms import SeededBits
from privet.release import PrivateData

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
    printed = privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path)
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
        error = privet("study", "new", declaration(tmp_path), option, "x", home=tmp_path, status=2)
        assert "No such option" in error
    error = privet("participate", "http://x/#study=1", "--answers", "me.json", "--token", "x", home=tmp_path, status=2)
    assert "No such option" in error


def test_a_bad_store_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "PRIVET_STORE", "mysql://me:word@db")
    error = privet("study", "new", declaration(tmp_path), "--out", tmp_path / "study", home=tmp_path, status=2)
    assert "PRIVET_STORE" in error
    assert "word" not in error
    assert error.count("\n") == 1
    assert not (tmp_path / "study").exists()


def test_it_shows_each_round(tmp_path):
    folder = first_round(tmp_path / "study", people())
    store = folder.store()
    said = privet("study", "status", folder.path, home=tmp_path)
    assert "Round 1 (open, until " in said
    assert "their class; 0 of 136 answered (0.0%)." in said
    assert "  40 show their features and class as they are (the panel)" in said
    assert "To come: resemblance; 'privet study next' opens the next round." in said
    second = add_second_round(store)
    store.dispose()
    said = privet("study", "status", folder.path, home=tmp_path)
    assert f"Round 1 (closed, {folder.study.id[:12]}): their class" in said
    assert "the class that they resemble most, of a few; 0 of 80 answered (0.0%)." in said
    assert "  50 are offered 2 classes, by what is public of them" in said
    assert "To come" not in said
    found = json.loads(privet("study", "status", folder.path, "--json", home=tmp_path))
    assert [each["id"] for each in found["rounds"]] == [folder.study.id, second.study.id]
    assert [each["round"] for each in found["screening"]] == [1, 2]
    assert (found["study"], found["to_come"], found["erased"]) == (second.study.id, [], {"by": {}, "days": []})


def test_a_study_of_one_round_is_told_in_one_line(tmp_path):
    folder = StudyFolder.create(tmp_path / "study", make_study(nodes=20, title="Short"))
    said = privet("study", "status", folder.path, home=tmp_path)
    assert said.splitlines()[1] == "0 of 20 answered (0.0%)."
    assert "Screening: Reports were not screened" in said
    assert "Round" not in said


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A directory with a schema and edges, and the graph that they are of."""
    path = tmp_path_factory.mktemp("home")
    graph = social_graph(150, classes=3, features=8, active_features=3, feature_signal=0.8, seed=0)
    (path / "rounds.toml").write_text(ROUNDS)
    pairs = sp.triu(graph.adjacency).tocoo()
    lines = "".join(f"{one},{other}\n" for one, other in zip(pairs.row, pairs.col, strict=True))
    (path / "edges.csv").write_text("source,target\n" + lines)
    return path, graph


ROUNDS = """
title = "Rounds"
purpose = "To be tested."
operator = { name = "privet developers", contact = "at home" }
people = { nodes = 150 }
questions = [{ answers = 2, repeat = 8 }]
class = { answers = 3 }
budgets = { features = 1.5, labels = 1.5 }
system = { name = "inquiry" }
public = { edges = "edges.csv" }
schedule = { later_rounds = 7 }
"""


def new(home, name, *changes, status=0):
    options = [option for change in changes for option in ("--set", change)]
    return privet("study", "new", home / "rounds.toml", "--out", home / name, *options, home=home, status=status)


def play(path, graph):
    """Let everybody whom the newest round asks answer."""
    store = StudyFolder.open(path).newest()
    form, features = store.form, graph.features.toarray()
    others = np.setdiff1d(form.everybody(), form.panel)
    bodies = form.release.wire.pack(form.release.perturb(PrivateData.of(graph, others), SeededBits(1)))
    shown = [OpenForm(store.study.declared).pack(features[node], int(graph.labels[node])) for node in form.panel]
    store.insert([*others.tolist(), *form.panel.tolist()], [*bodies, *shown])
    store.dispose()


def test_from_a_plan_to_a_model(home):
    home, graph = home
    said = new(home, "study", "people.panel=0.2", "people.ask_class=0.4")
    assert "All rounds together cost at most 3." in said
    path = home / "study"
    assert "Wrote 90 links" in privet(
        "study", "links", path, "--url", "http://localhost", "--out", home / "l", home=home
    )
    with (home / "l").open() as file:
        panel = {int(row["node"]) for row in csv.DictReader(file) if row["panel"] == "yes"}
    with StudyFolder.open(path).store() as store:
        assert panel == set(store.form.panel.tolist())
    assert panel
    play(path, graph)
    waiting = privet("study", "links", path, "--url", "http://localhost", "--out", home / "l", "--waiting", home=home)
    assert "Wrote 0 links of people who have not answered" in waiting
    assert "did not agree" in privet("study", "next", path, home=home, given="n\n", status=2)
    said = privet("study", "next", path, home=home, given="y\n")
    assert "Close round 1 for good (" in said
    assert "Round 2 of Rounds is open" in said
    assert "people: resemblance" in said
    play(path, graph)
    assert "train on the answers" in privet("study", "next", path, "--yes", home=home, status=2)
    record = home / "record.sqlite"
    assert "public record with" in privet("study", "export", path, "--public", "--out", record, home=home)
    assert ": as its manifest says." in privet("study", "verify", record, home=home)
    options = ["train", "--study", path, "--out", home / "model", "--json", "--system"]
    assert "The study's plan names inquiry" in privet(*options, "lpgnn", home=home, status=2)
    again = [*options, "inquiry", "--graph", home / "edges.csv"]
    assert "binds the public topology" in privet(*again, home=home, status=2)
    facts = json.loads(privet(*options, "inquiry", home=home))
    assert facts["respondents"] > 100
    assert facts["gain_margin"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["people.panel=1.5"], "above 0 and below 1"),
        (["people.panel=nobody.csv"], "nobody.csv"),
        (["people.panel=0.1", "system.settings.pilot=0.1"], "A scorer has one source"),
        (["system.name=heterpoisson"], "Name a system of the local model"),
        (["people.panel=0.1", "system.settings.no_such=1"], "no setting no_such"),
        (["people.panel=0.1", "mechanism.name=hds"], "is for studies without a [system]"),
    ],
)
def test_plans_that_do_not_fit_leave_nothing(home, options, words):
    home, _ = home
    assert words in new(home, "other", *options, status=2)
    assert not (home / "other").exists()
