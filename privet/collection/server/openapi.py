"""OpenAPI descriptions of each route's requests and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from prometheus_client import CONTENT_TYPE_LATEST

from privet.collection.server.batches import MOST_REPORTS
from privet.release import WireForm

__all__ = ["CLOSE", "MANIFEST", "METRICS", "STATUS", "SUMMARY", "batch_route", "report_route"]

_JSON = "application/json"
_STUDY_ID = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": sorted(properties), "properties": properties, "additionalProperties": False}


def _bearer(what: str) -> dict[str, Any]:
    """Describe the header that carries a token or a key."""
    return {
        "name": "Authorization",
        "in": "header",
        "required": True,
        "description": f"'Bearer ' and {what}.",
        "schema": {"type": "string", "pattern": "^Bearer [A-Za-z0-9_-]+$"},
    }


def _good(text: str, schema: dict[str, Any], kind: str = _JSON) -> dict[str, Any]:
    return {"description": text, "content": {kind: {"schema": schema}}}


_SENTENCE = _object(error=_TEXT)
_REFUSALS = {
    "400": "The body did not arrive whole.",
    "401": "The token or the key is missing, wrong or revoked.",
    "403": "The study is not open.",
    "404": "The request is for another study.",
    "408": "The body did not arrive in time.",
    "409": "A different report of this participant is stored.",
    "413": "The body is too large.",
    "415": "The Content-Type is not one of those listed.",
    "422": "The body is none that a device could have sent; nothing of it was stored.",
    "429": "Too many requests from this address; see Retry-After.",
    "503": "The store is busy or away; see Retry-After.",
}


def _responses(good: dict[str, dict[str, Any]], *refusals: str) -> dict[str, Any]:
    """Describe a route's answers: the good ones, the refusals named, and those that every route has."""
    listed = sorted({*refusals, "429", "503"})
    return {"responses": good | {status: _good(_REFUSALS[status], _SENTENCE) for status in listed}}


_BODY = ("400", "404", "408", "413", "415", "422")
MANIFEST: dict[str, Any] = _responses({"200": _good("The manifest's canonical bytes.", {"type": "object"})})
STATUS: dict[str, Any] = _responses(
    {
        "200": _good(
            "Whether reports are taken now, and if not, why.",
            _object(study=_STUDY_ID, open={"type": "boolean"}, reason=_TEXT),
        )
    }
)
METRICS: dict[str, Any] = _responses({"200": _good("Counts in Prometheus' text form.", _TEXT, CONTENT_TYPE_LATEST)})
SUMMARY: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    **_responses({"200": _good("Counts for the operator.", {"type": "object"})}, "401"),
}
CLOSE: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    **_responses({"200": _good("The study is closed.", _object(closed={"type": "boolean"}))}, "401"),
}


def report_route(wire: WireForm) -> dict[str, Any]:
    """Describe the route for one report of a study."""
    packed = {"type": "string", "format": "binary", "description": "32 bytes of study id, then the body."}
    outcome = _object(status={"type": "string", "enum": ["stored", "repeated"]})
    return {
        "parameters": [_bearer("the participant's token")],
        "requestBody": {
            "required": True,
            "content": {
                _JSON: {"schema": _object(study=_STUDY_ID, report=_report_schema(wire))},
                "application/vnd.privet.report": {"schema": packed},
            },
        },
        **_responses(
            {
                "201": _good("Stored, and on disk.", outcome),
                "200": _good("The same report was stored before.", outcome),
            },
            *("401", "403", "409", *_BODY),
        ),
    }


def batch_route(wire: WireForm) -> dict[str, Any]:
    """Describe the route for many reports of a study."""
    entry = _object(token=_TEXT, report=_report_schema(wire))
    reports = {"type": "array", "items": entry, "minItems": 1, "maxItems": MOST_REPORTS}
    refused = {"type": "array", "items": _object(row=_COUNT, status=_COUNT, error=_TEXT)}
    return {
        "requestBody": {
            "required": True,
            "content": {
                _JSON: {"schema": _object(study=_STUDY_ID, reports=reports)},
                "application/vnd.privet.batch": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **_responses(
            {
                "200": _good(
                    "How many were stored, and each refused row.",
                    _object(stored=_COUNT, repeated=_COUNT, refused=refused),
                )
            },
            *_BODY,
        ),
    }


def _report_schema(wire: WireForm) -> dict[str, Any]:
    """Describe the JSON form of a report: one property a question."""
    properties: dict[str, Any] = {}
    for each in wire.columns:
        limits = np.iinfo(each.column.dtype)
        one = {"type": "integer", "minimum": int(limits.min), "maximum": int(limits.max)}
        if each.column.count is None:
            properties[each.question] = {"type": "array", "items": one, "description": "Ascending."}
        elif each.column.name:
            exact = {"minItems": each.column.count, "maxItems": each.column.count}
            entry = properties.setdefault(each.question, _object())
            entry["properties"][each.column.name] = {"type": "array", "items": one, **exact}
            entry["required"] = sorted(entry["properties"])
        else:
            properties[each.question] = one
    return _object(**properties)
