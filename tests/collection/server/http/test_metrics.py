"""Metrics: counts by outcome and reason, times of commits, what waits; for the operator only if so wished."""

from fastapi.testclient import TestClient
from simulated_studies import Service

from privet.collection.server.http.metrics import Metrics
from privet.collection.server.store.store import Store


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
