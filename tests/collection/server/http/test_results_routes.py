"""The routes of results: the operator's at any time, everybody's after closing and only if the manifest says so."""

import pytest
from answered_studies import COMMUTING, answered
from patience import wait_until
from simulated_studies import Service, make_study
from starlette.testclient import TestClient

from privet.collection.downloads import DOWNLOADS
from privet.collection.operator.results.reading import results_html
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import InvalidManifest, Study
from privet.collection.study.tokens import Tokens, new_key

KEY = {"Authorization": "Bearer the-key"}


@pytest.fixture
def open_page(tmp_path):
    """Open a collector of an answered study; the client knows no key."""

    def opened(publish=True):
        text = COMMUTING if not publish else f"publish_results = true\n{COMMUTING}"
        folder = answered(tmp_path, declaration=text)
        store = folder.store()
        app = create_app(store, folder.tokens, "the-key", Limits(rate=0), results=results_html, downloads=DOWNLOADS)
        return store, TestClient(app)

    return opened


def test_the_operator_sees_results_by_group_and_in_a_language(open_page):
    store, client = open_page()
    with client, store:
        assert client.get("/operator/results").status_code == 401
        part = client.get("/operator/results", headers=KEY, params={"by": "class", "lang": "de"})
        assert part.status_code == 200
        assert part.headers["content-type"].startswith("text/html")
        assert "Nach Gruppen: Where do you live?" in part.text
        assert "By group" not in client.get("/operator/results", headers=KEY).text
        refused = client.get("/operator/results", headers=KEY, params={"by": "hats"})
        assert (refused.status_code, refused.json()["error"]) == (
            422,
            "There is no question 'hats'. Say class, or a number from 1 to 2.",
        )


def test_results_are_made_again_only_if_reports_came_or_went(open_page):
    store, client = open_page()
    with client, store:
        before = client.get("/operator/results", headers=KEY).text
        assert client.get("/operator/results", headers=KEY).text == before
        assert "All figures are about people like the 300 who answered." in before
        store.forget(store.reports()[0][0], "participant")
        after = client.get("/operator/results", headers=KEY).text
        assert "All figures are about people like the 299 who answered." in after


def test_everybody_sees_them_after_closing(open_page):
    store, client = open_page()
    with client, store:
        early = client.get("/results")
        assert (early.status_code, early.json()["error"]) == (
            404,
            "The results are published here when the study has closed.",
        )
        store.close()
        wait_until(lambda: client.get("/results").status_code == 200)
        page = client.get("/results", headers={"Accept-Language": "xx, fr-CH;q=0.9, en"})
        assert '<html lang="fr">' in page.text
        assert '<html lang="es">' in client.get("/results", params={"lang": "es"}).text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "<style" not in page.text
        assert "<script" not in page.text


def test_nobody_sees_them_before_a_round_opens(tmp_path):
    """Its people would answer after they had seen what others answered in the rounds before."""
    study = make_study(publish_results=True, opens="2029-01-01T00:00:00Z", closes="2029-02-01T00:00:00Z")
    with Store.open(tmp_path / "reports.sqlite", study) as store:
        tokens = Tokens(study, new_key())
        app = create_app(store, tokens, "the-key", Limits(rate=0), results=results_html, downloads=DOWNLOADS)
        with TestClient(app) as client:
            refused = client.get("/results")
    assert (refused.status_code, refused.json()["error"]) == (
        404,
        "The results are published here when the study has closed.",
    )


def test_results_end_with_the_reports_that_they_are_made_from(open_page):
    store, client = open_page()
    with client, store:
        store.close()
        store.expire(early=True)
        wait_until(lambda: "deleted as the study promised" in client.get("/results").json()["error"])


def test_nobody_sees_results_that_the_manifest_does_not_promise(open_page):
    store, client = open_page(publish=False)
    with client, store:
        store.close()
        wait_until(lambda: not client.get("/status").json()["open"])
        refused = client.get("/results")
        assert (refused.status_code, refused.json()["error"]) == (
            404,
            "The operator of this study does not publish its results here.",
        )


def test_results_are_downloaded(open_page):
    store, client = open_page()
    with client, store:
        page = client.get("/operator/export", params={"form": "results"}, headers=KEY)
        assert page.headers["content-disposition"] == 'attachment; filename="results.html"'
        assert "<style>" in page.text
        rows = client.get("/operator/export", params={"form": "results-csv"}, headers=KEY).text.splitlines()
        assert rows[1].startswith("1,How do you get to work?,,on foot,")


def test_a_collector_without_results_has_no_routes_for_them(tmp_path):
    study = make_study()
    with Store.open(tmp_path / "reports.sqlite", study) as store:
        service = Service(study, store)
        with TestClient(service.app) as client:
            assert client.get("/results").status_code == 404


def test_the_promise_is_in_the_manifest_only_where_it_is_made():
    silent, told = make_study(title="Same"), make_study(title="Same", publish_results=True)
    assert b"publish_results" not in silent.canonical()
    assert b'"publish_results":true' in told.canonical()
    assert Study.from_bytes(told.canonical()) == told
    spelled = silent.canonical().replace(b'"purpose"', b'"publish_results":false,"purpose"')
    with pytest.raises(InvalidManifest, match="not in canonical form"):
        Study.from_bytes(spelled)
