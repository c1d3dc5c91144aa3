"""A live collector keeps to its OpenAPI document, whatever it is asked."""

import contextlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from patience import PATIENCE

BOUNDED = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


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
