"""The collector's service to participants: idempotent and strict."""

import hashlib

from simulated_studies import Service, make_study
from starlette.testclient import TestClient

from privet.collection.downloads import DOWNLOADS
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.store.store import Store
from privet.collection.study.tokens import Access


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


def test_a_store_that_fails_is_no_acknowledgement(service, monkeypatch):
    monkeypatch.setattr(service.store, "insert", lambda *_: (_ for _ in ()).throw(OSError("secret body")))
    answer = service.send(service.nodes[0])
    assert answer.status_code == 503
    assert "secret" not in answer.text
    monkeypatch.undo()
    assert service.send(service.nodes[0]).status_code == 201


def test_the_status_tells_a_device_before_it_makes_a_report(service):
    assert service.client.get("/status").json() == {"study": service.study.id, "open": True, "reason": ""}
    service.client.post("/operator/close", headers={"Authorization": f"Bearer {service.key}"})
    closed = service.client.get("/status").json()
    assert (closed["open"], closed["reason"]) == (False, "The study was closed by its operator.")


def test_a_device_hears_what_its_report_would_get_before_it_makes_one(service):
    first, second, third = service.nodes[:3]

    def asked(node, study=service.study.id):
        answer = service.client.get(f"/reports/{study}", headers=service.headers(node))
        return answer.status_code, answer.json()

    assert asked(first) == (200, {"status": "welcome"})
    service.send(first)
    service.client.delete("/reports", headers=service.headers(second))
    assert [asked(node)[0] for node in (first, second, third)] == [409, 410, 200]
    assert (asked(first, "0" * 64)[0], service.client.get(f"/reports/{service.study.id}").status_code) == (404, 401)
    service.client.post("/operator/close", headers={"Authorization": f"Bearer {service.key}"})
    assert [asked(node)[0] for node in (second, third)] == [410, 403]
    assert service.store.conflicts() == 0


def test_a_participant_withdraws_and_nothing_is_taken_any_more(service):
    first, second = service.nodes[:2]
    service.send(first)
    erased = [service.client.delete("/reports", headers=service.headers(first)) for _ in range(2)]
    assert [(answer.status_code, answer.json()) for answer in erased] == [(200, {"status": "erased"})] * 2
    assert service.store.get(first) is None
    again = service.send(first)
    assert (again.status_code, "erased" in again.json()["error"]) == (410, True)
    answer = service.batch([second, first]).json()
    assert (answer["stored"], [(row["row"], row["status"]) for row in answer["refused"]]) == (1, [(1, 410)])
    key = {"Authorization": f"Bearer {service.key}"}
    summary = service.client.get("/operator/summary", headers=key).json()
    assert (summary["stored"], summary["erasures"], summary["rejected"]) == (1, 1, {"erased": 2})
    listed = service.client.get("/operator/erasures", headers=key).json()
    assert (listed["count"], listed["erasures"][0]["node"], listed["erasures"][0]["by"]) == (1, first, "participant")


def test_after_closing_people_can_withdraw_all_the_same(service):
    first, second = service.nodes[:2]
    service.send(first)
    service.client.post("/operator/close", headers={"Authorization": f"Bearer {service.key}"})
    assert service.client.delete("/reports", headers=service.headers(first)).json() == {"status": "erased"}
    assert (service.store.count(), service.send(first).status_code, service.send(second).status_code) == (0, 410, 403)
    rows = service.batch([first, second]).json()["refused"]
    assert [row["status"] for row in rows] == [410, 403]


def test_nobody_withdraws_for_another_or_sees_who_did(service):
    service.send(service.nodes[0])
    assert service.client.delete("/reports").status_code == 401
    assert service.client.delete("/reports", headers={"Authorization": "Bearer x"}).status_code == 401
    assert service.client.get("/operator/erasures").status_code == 401
    assert service.store.count() == 1


def test_manifests_are_everybody_s_and_names_are_not(service):
    names = b"0,Ann\n1,Ben\n"
    service.store.publish(names)
    path, node = f"/public/{hashlib.sha256(names).hexdigest()}", service.nodes[0]
    key = {"Authorization": f"Bearer {service.key}"}
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Bearer {service.key}x"}):
        refused = service.client.get(path, headers=headers)
        assert (refused.status_code, b"Ann" in refused.content) == (401, False)
    for headers in (service.headers(node), key):
        given = service.client.get(path, headers=headers)
        assert (given.status_code, given.content) == (200, names)
        assert given.headers["cache-control"] == "private, immutable, max-age=31536000"
    open_to_all = service.client.get(f"/public/{service.study.id}")
    assert open_to_all.content == service.study.canonical()
    assert open_to_all.headers["cache-control"].startswith("public, immutable")


def test_a_revoked_token_opens_no_names(service):
    names = b"0,Ann\n1,Ben\n"
    service.store.publish(names)
    service.store.revoke(service.nodes[0], 0)
    path = f"/public/{hashlib.sha256(names).hexdigest()}"
    with TestClient(service.app) as client:
        assert client.get(path, headers=service.headers(service.nodes[0])).status_code == 401
        assert client.get(path, headers=service.headers(service.nodes[1])).status_code == 200


def test_while_keys_cannot_be_read_no_operator_is_known(service):
    """The key that was good last may have been retired since; participants lose nothing."""
    readable = [True]

    def renew():
        if not readable[0]:
            raise PermissionError("keys.json")
        return Access(service.tokens, (service.key,))

    limits = Limits(rate=0.0)
    app = create_app(service.store, service.tokens, service.key, limits, renew=renew, downloads=DOWNLOADS)
    key = {"Authorization": f"Bearer {service.key}"}
    names = b"0,Ann\n"
    service.store.publish(names)
    paths = ("/operator/summary", "/operator/erasures", "/operator/export")
    with TestClient(app) as service.client:
        assert service.client.get("/operator/summary", headers=key).status_code == 200
    readable[0] = False
    with TestClient(app) as service.client:  # one that starts looks at once
        refused = [service.client.get(path, headers=key) for path in paths]
        assert [answer.status_code for answer in refused] == [503] * 3
        assert "cannot read its keys" in refused[0].json()["error"]
        assert service.client.get(f"/public/{hashlib.sha256(names).hexdigest()}", headers=key).status_code == 401
        ready = service.client.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"status": "keys unreadable"})
        assert service.send(service.nodes[0]).status_code == 201
    readable[0] = True
    with TestClient(app) as service.client:
        assert service.client.get("/readyz").status_code == 200
        assert service.client.get("/operator/summary", headers=key).status_code == 200
