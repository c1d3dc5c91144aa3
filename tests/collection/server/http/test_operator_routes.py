"""The routes of the operator's page: closing, the next round, erasures, downloads, each with the operator's key."""

import csv
import io
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from patience import wait_until
from rehearsed_rounds import ASKED, PANEL, add_second_round, first_round, people
from simulated_studies import STORES, Service, make_study, store_place
from starlette.testclient import TestClient

from privet.collection.downloads import DOWNLOADS
from privet.collection.operator.export.answer_files import read_answers
from privet.collection.operator.export.public_record import open_record
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.store.store import Store
from privet.collection.study.forms import OpenForm
from privet.mechanisms import SeededBits
from privet.release import PrivateData

KEY = "the-key"
HEADERS = {"Authorization": f"Bearer {KEY}"}
PATHS = [("GET", "/operator/summary"), ("POST", "/operator/close"), ("POST", "/operator/next")]
PATHS += [("GET", "/operator/erasures"), ("GET", "/operator/export")]


@pytest.fixture
def graph():
    return people()


@pytest.fixture
def folder(tmp_path, graph):
    return first_round(tmp_path / "study", graph)


def fill(store, graph):
    """Let the panel show everything, and 30 people answer for their class."""
    private, release = PrivateData(ASKED[:30], labels=graph.labels[ASKED[:30]]), store.study.release
    store.insert(ASKED[:30].tolist(), release.wire.pack(release.perturb(private, SeededBits(0))))
    form, rows = OpenForm(graph.schema), graph.features[PANEL]
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    shown = [form.pack(row.tolist(), int(graph.labels[node])) for node, row in zip(PANEL, dense, strict=True)]
    store.insert(PANEL.tolist(), shown)
    return dense


def opened(folder, store, command=None):
    app = create_app(store, folder.tokens, KEY, Limits(rate=0), next_round=command, downloads=DOWNLOADS)
    return TestClient(app, headers=HEADERS)


def script(text):
    """A command that takes the place of the computation of a round."""
    return lambda days: [sys.executable, "-c", text, str(days)]


def wait_for(client, good):
    def look():
        found = client.get("/operator/summary").json()
        return found if good(found) else None

    return wait_until(look)


def test_nothing_is_told_or_done_without_the_key(folder):
    store = folder.store()
    with opened(folder, store, script("raise SystemExit(9)")) as client:
        for method, path in PATHS:
            for headers in ({"Authorization": ""}, {"Authorization": "Bearer x"}):
                assert client.request(method, path, headers=headers).status_code == 401, path
        assert client.get("/operator/summary").json()["next"] == {
            "possible": True, "running": False, "since": None, "problem": ""
        }  # fmt: skip
        assert not store.is_closed()
    store.dispose()


def test_the_next_round_is_computed_once_at_a_time_and_adopted(folder):
    store = folder.store()
    waiting = folder.path / "go"
    code = f"import pathlib, sys, time\nwhile not pathlib.Path({str(waiting)!r}).exists(): time.sleep(0.05)\n"
    with opened(folder, store, script(code + "assert sys.argv[1] == '7.0'")) as client:
        begun = client.post("/operator/next", json={"days": 7})
        assert (begun.status_code, begun.json()) == (202, {"round": 2, "running": True})
        again = client.post("/operator/next")
        assert (again.status_code, again.json()["error"]) == (409, "The next round is being computed already.")
        assert client.get("/operator/summary").json()["next"]["running"]
        newest = add_second_round(store)  # which the computation would have done
        summary = wait_for(client, lambda found: len(found["rounds"]) == 2)
        assert not summary["next"]["running"]  # it is here, although the process still runs
        assert summary["to_come"] == []
        waiting.touch()
        found = client.post("/operator/next")
        assert (found.status_code, "All questions" in found.json()["error"]) == (409, True)
        assert client.get(f"/status/{newest.study.id}").json()["open"]
        assert not client.get(f"/status/{folder.study.id}").json()["open"]
    store.dispose()


def test_a_failed_computation_tells_its_one_sentence_and_can_be_tried_again(folder):
    store = folder.store()
    code = "import sys\nprint('Traceback', file=sys.stderr)\nsys.exit('privet: Nobody of class 3 has answered.')"
    with opened(folder, store, script(code)) as client:
        for _ in range(2):
            assert client.post("/operator/next").status_code == 202
            problem = wait_for(client, lambda found: not found["next"]["running"])["next"]["problem"]
            assert problem == "Nobody of class 3 has answered."
    store.dispose()


def test_a_computation_ends_with_the_collector(folder):
    store, pid = folder.store(), folder.path / "pid"
    code = f"import os, pathlib, time\npathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\ntime.sleep(600)"
    with opened(folder, store, script(code)) as client:
        assert client.post("/operator/next").status_code == 202
        wait_until(lambda: pid.exists() and pid.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    store.dispose()


@pytest.mark.parametrize("days", ["seven", True, 0, 1e9, None])
def test_a_span_that_no_round_can_have_is_refused(folder, days):
    store = folder.store()
    with opened(folder, store, script("")) as client:
        refused = client.post("/operator/next", json={"days": days})
        assert (refused.status_code, "number of days from 0.001 to 3650" in refused.json()["error"]) == (422, True)
        assert client.post("/operator/next", content=b"x" * 2000).status_code == 413
        assert client.post("/operator/next", json={"weeks": 1}).status_code == 422
        assert client.get("/operator/summary").json()["next"]["running"] is False
    store.dispose()


def test_a_study_without_a_plan_or_a_command_has_no_next_round(folder, tmp_path):
    store, single = folder.store(), make_study()
    with opened(folder, store) as client:
        assert "without a way to compute" in client.post("/operator/next").json()["error"]
        assert not client.get("/operator/summary").json()["next"]["possible"]
    store.dispose()
    other = Store.open(tmp_path / "other.sqlite", single)
    with TestClient(create_app(other, folder.tokens, KEY, next_round=script("")), headers=HEADERS) as client:
        assert "no next round" in client.post("/operator/next").json()["error"]
    other.dispose()


def test_exports_are_files_of_one_round_and_leave_nothing_behind(folder, graph, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    store = folder.store()
    features = fill(store, graph)
    store.forget(int(ASKED[0]), "operator")
    add_second_round(store)
    with opened(folder, store) as client:
        answer = client.get("/operator/export", params={"round": 1, "form": "parquet"})
        assert 'filename="round-1-answers.parquet"' in answer.headers["content-disposition"]
        assert answer.headers["cache-control"] == "no-store"
        study, answers = read_answers(kept(tmp_path / "a.parquet", answer))
        assert (study.id, answers.users.tolist()) == (folder.study.id, ASKED[1:30].tolist())

        table = list(csv.reader(io.StringIO(client.get("/operator/export?round=1&form=csv").text)))
        assert table[0] == ["node", "label"]
        assert [int(node) for node, _ in table[1:]] == ASKED[1:30].tolist()
        assert [int(label) for _, label in table[1:]] == answers["label"].reports.symbols.ravel().tolist()

        panel = list(csv.reader(io.StringIO(client.get("/operator/export?round=1&form=panel").text)))
        assert panel[0] == ["node", *(f"feature_{i}" for i in range(features.shape[1])), "label"]
        np.testing.assert_array_equal(np.array(panel[1:], dtype=float)[:, 1:-1], features)

        record = open_record(kept(tmp_path / "r.sqlite", client.get("/operator/export?form=record")))
        assert (record.count(), len(record.chain().rounds), len(record.erasures())) == (69, 2, 1)
        record.dispose()
        for query in ("round=3", "round=0", "round=x", "round=2&form=panel"):
            assert client.get(f"/operator/export?{query}").status_code == 404, query
        assert client.get("/operator/export?form=xlsx").status_code == 422
        assert client.get("/operator/export?form=csv").text == "node,resemblance\n"  # of the newest round
    for name in ("a.parquet", "r.sqlite"):
        (tmp_path / name).unlink()
    assert sorted(tmp_path.iterdir()) == before
    store.dispose()


def kept(path: Path, answer) -> Path:
    assert answer.status_code == 200
    path.write_bytes(answer.content)
    return path


@pytest.mark.parametrize("kind", STORES)
def test_the_operator_closes_the_newest_round_only(kind, tmp_path, graph, monkeypatch):
    place = store_place(kind, tmp_path)
    if kind == "postgresql":
        monkeypatch.setenv("PRIVET_STORE", place)
    folder = first_round(tmp_path / "study", graph)
    store = folder.store()
    newest = add_second_round(store)
    with opened(folder, store) as client:
        assert client.post("/operator/close").json() == {"closed": True}
        assert newest.is_closed()
        assert [each["state"] for each in client.get("/operator/summary").json()["rounds"]] == ["closed", "closed"]
    store.dispose()


def test_the_operator_s_summary_needs_the_key(service):
    service.send(service.nodes[0])
    assert service.client.get("/operator/summary").status_code == 401
    assert service.client.post("/operator/close", headers={"Authorization": "Bearer x"}).status_code == 401
    summary = service.client.get("/operator/summary", headers={"Authorization": f"Bearer {service.key}"}).json()
    assert (summary["stored"], summary["nodes"], summary["closed"]) == (1, 500, False)
    assert summary["guarantee"]["epsilon"] == 2.0


def test_the_summary_says_when_reports_are_deleted(tmp_path):
    study = make_study(closes="2029-01-31T12:00:00Z", delete_after=30)
    service = Service(study, Store.open(tmp_path / "reports", study))
    with TestClient(service.app) as client:
        summary = client.get("/operator/summary", headers={"Authorization": f"Bearer {service.key}"}).json()
    assert (summary["delete_on"], summary["deleted"]) == ("2029-03-02T12:00:00+00:00", None)


def test_refusals_are_counted_by_reason(service):
    for _ in range(3):
        service.client.post("/reports", headers={"Authorization": "Bearer x"})
    summary = service.client.get("/operator/summary", headers={"Authorization": f"Bearer {service.key}"}).json()
    assert summary["rejected"] == {"token": 3}
