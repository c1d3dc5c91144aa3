"""Health: the process answers whatever happens, and is ready only while its store is."""

import io
import json

import pytest
from fastapi.testclient import TestClient
from patience import wait_until
from simulated_studies import Service

from privet.collection.server.http.events import Events
from privet.collection.server.http.health import FRESH_SECONDS, Health
from privet.collection.server.store.store import Store, StoreFailure


def test_it_is_ready_while_the_store_was_heard_of_lately():
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
