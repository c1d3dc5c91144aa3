"""A study in rounds on the command line: declared, played, continued, verified and trained."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from simulated_studies import privet

pytest.importorskip("starlette", reason="the collection extra is not installed")

from privet.collection.operator.folder import StudyFolder
from privet.collection.study.open_answers import OpenForm
from privet.data import social_graph
from privet.mechanisms import SeededBits
from privet.release import PrivateData


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A directory with a schema and edges, and the graph that they are of."""
    path = tmp_path_factory.mktemp("home")
    graph = social_graph(150, classes=3, features=8, active_features=3, feature_signal=0.8, seed=0)
    (path / "schema.json").write_text(graph.schema.to_json())
    pairs = sp.triu(graph.adjacency).tocoo()
    lines = "".join(f"{one},{other}\n" for one, other in zip(pairs.row, pairs.col, strict=True))
    (path / "edges.csv").write_text("source,target\n" + lines)
    return path, graph


ABOUT = ["--title", "Rounds", "--purpose", "To be tested.", "--operator", "privet developers", "--nodes", 150]
BUDGETS = ["--epsilon-features", 1.5, "--epsilon-labels", 1.5]


def new(home, name, *options, status=0):
    known = [*ABOUT, "--schema", home / "schema.json", "--system", "inquiry", "--graph", home / "edges.csv"]
    return privet("study", "new", home / name, *known, *BUDGETS, *options, home=home, status=status)


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
    said = new(home, "study", "--panel", 0.2, "--ask-class", 0.4)
    assert "All rounds together cost at most 3." in said
    path = home / "study"
    assert "Wrote 90 links" in privet(
        "study", "links", path, "--url", "http://localhost", "--out", home / "l", home=home
    )
    play(path, graph)
    said = privet("study", "next", path, home=home)
    assert "Round 2 of Rounds is open" in said
    assert "people: resemblance" in said
    play(path, graph)
    assert "train on the answers" in privet("study", "next", path, home=home, status=2)
    record = home / "record.sqlite"
    assert "public record with" in privet("study", "export", path, "--public", "--out", record, home=home)
    assert ": as its manifest says." in privet("study", "verify", record, home=home)
    options = ["train", "--study", path, "--out", home / "model", "--json", "--system"]
    assert "that of the study's plan, inquiry" in privet(*options, "lpgnn", home=home, status=2)
    assert "left out" in privet(*options, "inquiry", "--graph", home / "edges.csv", home=home, status=2)
    facts = json.loads(privet(*options, "inquiry", home=home))
    assert facts["respondents"] > 100
    assert facts["gain_margin"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--panel", "1.5"], "above 0 and below 1"),
        (["--panel", "nobody.csv"], "nobody.csv"),
        (["--panel", "0.1", "--set", "pilot=0.1"], "a scorer has one source"),
        (["--system", "lpgnn"], "one that asks in rounds"),
        (["--panel", "0.1", "--set", "no_such=1"], "no_such"),
    ],
)
def test_plans_that_do_not_fit_leave_nothing(home, options, words):
    home, _ = home
    assert words in new(home, "other", *options, status=2)
    assert not (home / "other").exists()


def test_options_of_rounds_need_a_system(home):
    home, _ = home
    known = ["study", "new", home / "other", *ABOUT, "--schema", home / "schema.json"]
    assert "given with --system" in privet(*known, "--panel", 0.1, home=home, status=2)
