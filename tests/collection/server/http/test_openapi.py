"""The OpenAPI document: every route, and what each of them takes and answers."""

from prometheus_client import CONTENT_TYPE_LATEST
from simulated_studies import PACKED


def test_the_document_names_every_route(service):
    paths = service.client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        *("/study", "/status", "/reports", "/reports/batch", "/operator/summary", "/operator/close", "/metrics"),
        *("/operator/erasures", "/operator/next", "/operator/export"),
        *("/public/{digest}", "/invitation/{study}", "/reports/{study}"),
        *("/healthz", "/readyz"),
    }
    assert set(paths["/reports"]["post"]["requestBody"]["content"]) == {"application/json", PACKED}
    assert set(paths["/metrics"]["get"]["responses"]["200"]["content"]) == {CONTENT_TYPE_LATEST}
    assert {"410"} <= set(paths["/reports"]["post"]["responses"])
    assert set(paths["/reports"]) == {"post", "delete"}
    for path in ("/reports", "/reports/batch"):
        assert "404" in paths[path]["post"]["responses"]
