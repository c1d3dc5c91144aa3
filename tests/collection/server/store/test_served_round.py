"""A round as a collector serves it: invitations whose proofs hold, and its state in a sentence."""

import json

from made_rounds import (
    ASKED,
    DIRECTORY,
    ME,
    NODES,
    OFFERS,
    PANEL,
    SCORER,
    first_round,
    later_round,
    resemblance,
)
from patience import wait_until
from simulated_studies import PACKED
from starlette.testclient import TestClient

from privet.collection.device.preparation import prepare
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.store.served_round import ServedRound
from privet.collection.server.store.store import Store
from privet.collection.study.tokens import Tokens
from privet.release.blobs import blob_of
from privet.release.tree import verify_row


def stored(*rounds, place=":memory:"):
    store = Store.open(place, rounds[0])
    store.publish(blob_of(PANEL), blob_of(ASKED), DIRECTORY.lines)
    store.publish_asks(resemblance().ask)
    for each in rounds[1:]:
        store.at(each)
    return store


def test_an_invitation_proves_its_row():
    first = first_round()
    second = later_round(first, resemblance())
    found = ServedRound(stored(first, second).at(second)).invitation(ME)
    own = found["rows"]["resemblance"]["offers"]
    assert own["row"] == OFFERS[ME].tolist()
    verify_row(second.asked[0]["offers"], NODES, ME, own["row"], own["salt"], own["proof"])
    assert set(found) == {"study", "node", "rows"}
    assert ServedRound(stored(first)).invitation(ME)["rows"] == {}


def test_a_closed_round_says_why():
    first = first_round()
    store = stored(first)
    found = ServedRound(store)
    assert found.is_open()
    assert found.why_closed() == ""
    store.close()
    found.look()
    assert not found.is_open()
    assert "closed by its operator" in found.why_closed()
    early = ServedRound(stored(first_round(opens="2028-01-01T00:00:00Z")))
    assert "from 2028-01-01" in early.why_closed()


def test_routes_of_all_rounds():
    first = first_round()
    second = later_round(first, resemblance())
    store = stored(first, second)
    tokens = Tokens(first, bytes(32))
    with TestClient(create_app(store, tokens, "k" * 16, Limits(rate=0.0))) as client:
        assert client.get("/study").content == second.canonical()
        for study in (first, second):
            assert client.get(f"/public/{study.id}").content == study.canonical()
            assert client.get(f"/status/{study.id}").json() == {"study": study.id, "open": True, "reason": ""}
        store.close()
        wait_until(lambda: not client.get(f"/status/{first.id}").json()["open"])
        old = client.get(f"/status/{first.id}").json()
        assert (old["open"], "a newer one has begun" in old["reason"]) == (False, True)
        welcome = client.get(f"/reports/{first.id}", headers=known(tokens))
        assert (welcome.status_code, welcome.json()["error"]) == (403, old["reason"])
        assert client.get(f"/reports/{second.id}", headers=known(tokens)).status_code == 200
        scorer = second.asked[0]["scorer"].removeprefix("sha256:")
        answer = client.get(f"/public/{scorer}", headers=known(tokens))
        assert answer.content == blob_of(SCORER)
        assert "immutable" in answer.headers["cache-control"]

        class Device:
            def blob(self, digest):
                return client.get(f"/public/{digest}", headers=known(tokens)).content

            def invitation(self, study_id):
                return client.get(f"/invitation/{study_id}", headers=known(tokens)).content

        assert prepare(second, ME, Device()).release.questions[0].ask.rows("offers", [ME]).tolist() == [[0, 2, -1]]
        # Everybody's offers are in one table, which nobody is given; a row needs the person's own token.
        for path in (f"/public/{second.asked[0]['offers']}", f"/public/{second.asked[0]['offers'][5:]}"):
            assert client.get(path, headers=known(tokens)).status_code == 404
        assert client.get(f"/invitation/{second.id}").status_code == 401
        assert client.get(f"/invitation/{'0' * 64}", headers=known(tokens)).status_code == 404
        assert client.get(f"/status/{'0' * 64}").status_code == 404


def known(tokens):
    return {"Authorization": f"Bearer {tokens.issue(ME)}"}


def test_a_round_that_another_collector_opened_a_moment_ago(tmp_path):
    """Devices try again after 429; after a second the round is here."""
    first = first_round()
    second = later_round(first, resemblance())
    store, tokens = stored(first, place=tmp_path / "reports.sqlite"), Tokens(first, bytes(32))
    with TestClient(create_app(store, tokens, "k" * 16, Limits(rate=0.0))) as client:
        store.at(second)
        answer = client.get(f"/status/{second.id}")
        assert answer.status_code in (429, 200)
        body = bytes.fromhex(second.id) + b"x"
        sent = client.post("/reports", content=body, headers={**known(tokens), "Content-Type": PACKED})
        assert sent.status_code in (429, 422)
        wait_until(lambda: client.get(f"/status/{second.id}").status_code != 429)
        assert json.loads(client.get("/study").content)["earlier"] == [first.id]
    store.dispose()
