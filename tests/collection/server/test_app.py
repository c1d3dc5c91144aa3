"""The HTTP service: idempotent, strict, and silent about who sent what."""

import pytest
from fastapi.testclient import TestClient
from simulated_studies import Service, make_study

from privet.collection.server.store import Store, StoreFailure


def test_the_manifest_is_served_in_its_canonical_bytes(service):
    assert service.client.get("/study").content == service.study.canonical()


def test_stored_repeated_and_refused(service):
    first, second = service.nodes[:2]
    assert (service.send(first).status_code, service.send(first).status_code) == (201, 200)
    answer = service.send(first, service.bodies[second])
    expected = 200 if service.bodies[first] == service.bodies[second] else 409
    assert answer.status_code == expected
    assert service.send(first, bytes(reversed(service.bodies[first]))).status_code == 422
    assert service.store.get(first) == service.bodies[first]


def test_a_different_report_is_refused_and_recorded(service):
    node = service.nodes[0]
    form = service.study.release.wire
    features = ({"coordinates": [1], "symbols": [symbol]} for symbol in (1, -1))
    one, two = (form.from_json({"features": each, "label": 0}) for each in features)
    assert service.send(node, one).status_code == 201
    answer = service.send(node, two)
    assert (answer.status_code, service.store.conflicts()) == (409, 1)
    assert "cannot be changed" in answer.json()["error"]
    assert service.store.get(node) == one


def test_a_batch_is_stored_row_by_row(service):
    nodes = service.nodes
    assert service.batch(nodes[:150]).json() == {"stored": 150, "repeated": 0, "refused": []}
    bodies = [service.bodies[node] for node in nodes[140:170]]
    bodies[15] = b"\x00" * len(bodies[15])
    bodies[16] = b"short"
    answer = service.batch(nodes[140:170], bodies).json()
    assert (answer["stored"], answer["repeated"]) == (18, 10)
    assert [(row["row"], row["status"]) for row in answer["refused"]] == [(15, 422), (16, 422)]
    assert service.store.count() == 168


def test_a_batch_as_json(service):
    form = service.study.release.wire
    entries = [
        {"token": service.tokens.issue(node), "report": form.to_json(service.bodies[node])}
        for node in service.nodes[:3]
    ]
    entries[2]["token"] = 5
    answer = service.client.post("/reports/batch", json={"study": service.study.id, "reports": entries})
    assert (answer.json()["stored"], answer.json()["refused"][0]["status"]) == (2, 401)


def test_refusals_are_counted_by_reason(service):
    for _ in range(3):
        service.client.post("/reports", headers={"Authorization": "Bearer x"})
    summary = service.client.get("/operator/summary", headers={"Authorization": f"Bearer {service.key}"}).json()
    assert summary["rejected"] == {"token": 3}


def test_the_operator_s_summary_needs_the_key(service):
    service.send(service.nodes[0])
    assert service.client.get("/operator/summary").status_code == 401
    assert service.client.post("/operator/close", headers={"Authorization": "Bearer x"}).status_code == 401
    summary = service.client.get("/operator/summary", headers={"Authorization": f"Bearer {service.key}"}).json()
    assert (summary["stored"], summary["nodes"], summary["closed"]) == (1, 500, False)
    assert summary["guarantee"]["epsilon"] == 2.0


def test_a_closed_study_takes_nothing_new_and_acknowledges_what_it_has(service):
    first, second = service.nodes[:2]
    service.send(first)
    assert service.client.post("/operator/close", headers={"Authorization": f"Bearer {service.key}"}).json()["closed"]
    assert service.send(first).status_code == 200
    assert service.send(second).status_code == 403
    answer = service.batch([first, second]).json()
    assert (answer["stored"], answer["repeated"]) == (0, 1)
    assert [(row["row"], row["status"]) for row in answer["refused"]] == [(1, 403)]
    assert service.store.count() == 1


def test_closed_by_another_process_it_stores_nothing_more(service):
    first, second = service.nodes[:2]
    service.send(first)
    service.store.close()  # the collector has not looked yet
    assert (service.send(first).status_code, service.send(second).status_code) == (200, 403)
    assert service.store.count() == 1


def test_a_store_that_is_away_is_no_error_of_ours(service, monkeypatch):
    key = {"Authorization": f"Bearer {service.key}"}
    for name in ("count", "close", "bodies"):
        monkeypatch.setattr(service.store, name, lambda *_: (_ for _ in ()).throw(StoreFailure("secret")))
    asked = [
        service.client.get("/metrics"),
        service.client.get("/operator/summary", headers=key),
        service.client.post("/operator/close", headers=key),
    ]
    assert [answer.status_code for answer in asked] == [503] * 3
    assert not any("secret" in answer.text for answer in asked)


@pytest.mark.parametrize("path", ["/", "/study", "/web/style.css", "/openapi.json", "/metrics"])
def test_everything_is_within_the_rate_limit(tmp_path, study, path):
    service = Service(study, Store.open(tmp_path / "reports", study), rate=0.1, burst=2)
    with TestClient(service.app) as client:
        assert [client.get(path).status_code for _ in range(3)] == [200, 200, 429]


def test_a_client_cannot_write_its_own_address(tmp_path, study):
    headers = [{"X-Forwarded-For": f"10.0.0.{i}, 203.0.113.9"} for i in range(4)]
    for proxied, given in ((False, headers), (True, headers), (True, [{"X-Forwarded-For": "x" * 50}] * 4)):
        place = tmp_path / f"{proxied}{len(given[0]['X-Forwarded-For'])}"
        service = Service(study, Store.open(place, study), rate=0.1, burst=3, proxied=proxied)
        with TestClient(service.app) as client:
            assert [client.get("/study", headers=each).status_code for each in given] == [200, 200, 200, 429]
    service = Service(study, Store.open(tmp_path / "apart", study), rate=0.1, burst=1, proxied=True)
    with TestClient(service.app) as client:
        apart = [client.get("/study", headers={"X-Forwarded-For": f"1.1.1.1, 10.0.0.{i}"}) for i in range(4)]
        network = [client.get("/study", headers={"X-Forwarded-For": f"2001:db8::{i}"}) for i in range(2)]
    assert [answer.status_code for answer in (*apart, *network)] == [200] * 5 + [429]


def test_before_its_opening_it_takes_nothing(tmp_path):
    study = make_study(opens="2029-01-01T00:00:00Z")
    service = Service(study, Store.open(tmp_path / "reports", study))
    with TestClient(service.app) as service.client:
        answer = service.send(service.nodes[0])
        assert (answer.status_code, service.store.count()) == (403, 0)
        assert "2029-01-01" in answer.json()["error"]


def test_revoked_tokens_are_refused_soon(service):
    node = service.nodes[0]
    service.store.revoke(node, 0)
    # The collector looks once a second; one that starts looks at once.
    with TestClient(service.app) as client:
        service.client = client
        assert service.send(node).status_code == 401


def test_metrics_count_and_name_nobody(service):
    service.send(service.nodes[0])
    service.send(service.nodes[0])
    text = service.client.get("/metrics").text
    assert 'privet_reports_total{outcome="stored"} 1.0' in text
    assert 'privet_reports_total{outcome="repeated"} 1.0' in text
    assert "privet_reports_in_store 1.0" in text


def test_an_address_that_asks_too_often_waits(tmp_path, study):
    service = Service(study, Store.open(tmp_path / "reports", study), rate=0.5, burst=3)
    with TestClient(service.app) as service.client:
        statuses = [service.send(node) for node in service.nodes[:5]]
    assert [answer.status_code for answer in statuses] == [201, 201, 201, 429, 429]
    assert int(statuses[-1].headers["Retry-After"]) >= 1


def test_a_store_that_fails_is_no_acknowledgement(service, monkeypatch):
    monkeypatch.setattr(service.store, "insert", lambda *_: (_ for _ in ()).throw(OSError("secret body")))
    answer = service.send(service.nodes[0])
    assert answer.status_code == 503
    assert "secret" not in answer.text
    monkeypatch.undo()
    assert service.send(service.nodes[0]).status_code == 201


def test_nothing_is_logged_of_a_report(service, capfd, caplog):
    with caplog.at_level("DEBUG"):
        service.send(service.nodes[0])
        service.send(service.nodes[1], b"bad")
    out, error = capfd.readouterr()
    logged = [record for record in caplog.records if record.name.startswith(("privet", "uvicorn"))]
    assert (out, error, logged) == ("", "", [])


def test_the_status_tells_a_device_before_it_makes_a_report(service):
    assert service.client.get("/status").json() == {"study": service.study.id, "open": True, "reason": ""}
    service.client.post("/operator/close", headers={"Authorization": f"Bearer {service.key}"})
    closed = service.client.get("/status").json()
    assert (closed["open"], closed["reason"]) == (False, "The study was closed by its operator.")
