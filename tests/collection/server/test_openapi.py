"""The OpenAPI document: every route, what each of them takes and answers, and a live collector that keeps to it."""

import contextlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from patience import PATIENCE
from prometheus_client import CONTENT_TYPE_LATEST
from simulated_studies import PACKED

BOUNDED = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_the_document_names_every_route(service):
    paths = service.client.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        *("/study", "/status", "/reports", "/reports/batch", "/operator/summary", "/operator/close", "/metrics"),
        *("/operator/erasures", "/operator/next", "/operator/export"),
        *("/public/{digest}", "/invitation/{study}"),
        *("/healthz", "/readyz"),
    }
    assert set(paths["/reports"]["post"]["requestBody"]["content"]) == {"application/json", PACKED}
    assert set(paths["/metrics"]["get"]["responses"]["200"]["content"]) == {CONTENT_TYPE_LATEST}
    assert {"410"} <= set(paths["/reports"]["post"]["responses"])
    assert set(paths["/reports"]) == {"post", "delete"}
    for path in ("/reports", "/reports/batch"):
        assert "404" in paths[path]["post"]["responses"]


def test_a_live_collector_keeps_to_the_document(live):
    """Requests that fit the document and requests that do not: every answer is one that the document names."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    address, _ = live
    document = schemathesis.openapi.from_url(f"{address}/openapi.json")
    asked = 0
    for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
        for operation in (found.ok() for found in document.get_all_operations()):

            @BOUNDED
            @given(case=operation.as_strategy(generation_mode=mode))
            def keeps_to_it(case):
                nonlocal asked
                asked += 1
                case.call_and_validate(timeout=PATIENCE)

            with contextlib.suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
                keeps_to_it()
    assert asked > 100
