"""Health and metrics: a collector is ready only while its store is; counts and times name nobody."""

import io
import json

import pytest
from patience import wait_until
from simulated_studies import Service
from starlette.testclient import TestClient

from privet.collection.server.http.monitoring import FRESH_SECONDS, Events, Health, Metrics
from privet.collection.server.store.store import Store, StoreFailure


def test_it_is_ready_while_the_store_answered_lately():
    now, log = [0.0], io.StringIO()
    health = Health(Events(log), clock=lambda: now[0])
    assert not health.ready
    with health.look():
        pass
    assert health.ready
    now[0] = FRESH_SECONDS + 1  # the last look hangs
    assert not health.ready
    with health.look():
        pass
    for _ in range(2):
        with pytest.raises(StoreFailure), health.look():
            raise StoreFailure("secret")
    assert not health.ready
    with health.look():
        pass
    assert health.ready
    told = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(event["event"], event.get("error")) for event in told] == [
        ("store away", "StoreFailure"),
        ("store back", None),
    ]
    assert "secret" not in log.getvalue()


def test_the_routes_are_outside_the_rate_limit_and_follow_the_store(tmp_path, study, monkeypatch):
    service = Service(study, Store.open(tmp_path / "reports", study), rate=0.001, burst=1)
    with TestClient(service.app) as client:
        assert {client.get(path).status_code for path in ("/healthz", "/readyz") for _ in range(5)} == {200}
        assert client.get("/healthz").json() == {"status": "alive"}
        assert client.get("/readyz").json() == {"status": "ready"}
        monkeypatch.setattr(service.store, "revoked", lambda: (_ for _ in ()).throw(StoreFailure("away")))
        wait_until(lambda: client.get("/readyz").status_code == 503)  # the collector looks once a second
        assert client.get("/readyz").json() == {"status": "store away"}
        assert client.get("/healthz").status_code == 200


def test_everything_is_counted():
    metrics = Metrics()
    metrics.count("stored", 3)
    metrics.refuse(["token", "token", "too large"])
    metrics.commit(0.03)
    text = metrics.text(waiting=5, stored=9).decode()
    for line in (
        'privet_reports_total{outcome="stored"} 3.0',
        'privet_reports_total{outcome="refused"} 3.0',
        'privet_refused_total{reason="token"} 2.0',
        'privet_commit_seconds_bucket{le="0.02"} 0.0',
        'privet_commit_seconds_bucket{le="0.05"} 1.0',
        "privet_reports_waiting 5.0",
        "privet_reports_in_store 9.0",
    ):
        assert line in text


def test_a_collector_measures_its_commits(service):
    service.batch(service.nodes)
    text = service.client.get("/metrics").text
    assert "privet_commit_seconds_count 1.0" in text
    assert "privet_reports_waiting 0.0" in text


def test_private_metrics_need_the_operator_s_key(tmp_path, study):
    service = Service(study, Store.open(tmp_path / "reports", study), private_metrics=True)
    with TestClient(service.app) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"Authorization": f"Bearer {service.key}"}).status_code == 200
        responses = client.get("/openapi.json").json()["paths"]["/metrics"]["get"]["responses"]
        assert "401" in responses
