"""The OpenAPI document: every route, and what each of them takes and answers."""

from simulated_studies import PACKED


def test_the_openapi_document_names_every_route(service):
    paths = service.client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/study", "/reports", "/reports/batch", "/operator/summary", "/operator/close", "/metrics"}
    assert set(paths["/reports"]["post"]["requestBody"]["content"]) == {"application/json", PACKED}
