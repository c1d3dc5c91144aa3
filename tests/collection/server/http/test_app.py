"""The HTTP service as a whole: within its limits, and silent about who sent what."""

import pytest
from simulated_studies import Service
from starlette.testclient import TestClient

from privet.collection.server.store.store import Store, StoreFailure


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


@pytest.mark.parametrize("path", ["/study", "/status", "/openapi.json", "/metrics"])
def test_all_but_the_pages_files_is_within_the_rate_limit(tmp_path, study, path):
    service = Service(study, Store.open(tmp_path / "reports", study), rate=0.001, burst=2)
    with TestClient(service.app) as client:
        assert [client.get(path).status_code for _ in range(3)] == [200, 200, 429]


def test_a_client_cannot_write_its_own_address(tmp_path, study):
    headers = [{"X-Forwarded-For": f"10.0.0.{i}, 203.0.113.9"} for i in range(4)]
    for proxied, given in ((False, headers), (True, headers), (True, [{"X-Forwarded-For": "x" * 50}] * 4)):
        place = tmp_path / f"{proxied}{len(given[0]['X-Forwarded-For'])}"
        service = Service(study, Store.open(place, study), rate=0.001, burst=3, proxied=proxied)
        with TestClient(service.app) as client:
            assert [client.get("/study", headers=each).status_code for each in given] == [200, 200, 200, 429]
    service = Service(study, Store.open(tmp_path / "apart", study), rate=0.001, burst=1, proxied=True)
    with TestClient(service.app) as client:
        apart = [client.get("/study", headers={"X-Forwarded-For": f"1.1.1.1, 10.0.0.{i}"}) for i in range(4)]
        network = [client.get("/study", headers={"X-Forwarded-For": f"2001:db8::{i}"}) for i in range(2)]
    assert [answer.status_code for answer in (*apart, *network)] == [200] * 5 + [429]


def test_an_address_that_asks_too_often_waits(tmp_path, study):
    service = Service(study, Store.open(tmp_path / "reports", study), rate=0.001, burst=3)
    with TestClient(service.app) as service.client:
        statuses = [service.send(node) for node in service.nodes[:5]]
    assert [answer.status_code for answer in statuses] == [201, 201, 201, 429, 429]
    assert int(statuses[-1].headers["Retry-After"]) >= 1


def test_nothing_is_logged_of_a_report(service, capfd, caplog):
    with caplog.at_level("DEBUG"):
        service.send(service.nodes[0])
        service.send(service.nodes[1], b"bad")
    out, error = capfd.readouterr()
    logged = [record for record in caplog.records if record.name.startswith(("privet", "uvicorn"))]
    assert (out, error, logged) == ("", "", [])


def test_no_answer_leads_to_the_host_that_a_request_names(service):
    for path in ("/reports/", "/study/", "/operator/", "/web"):
        answer = service.client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
        assert answer.status_code == 404
        assert "location" not in answer.headers
