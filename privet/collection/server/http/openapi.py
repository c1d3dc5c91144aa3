"""OpenAPI descriptions of each route's requests and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from prometheus_client import CONTENT_TYPE_LATEST

from privet.collection.server.store.batches import MOST_REPORTS
from privet.release import WireForm

__all__ = [
    "ALIVE", "CLOSE", "ERASURES", "EXPORT", "INVITATION", "MANIFEST", "NEXT", "PUBLIC", "READY", "STATUS",
    "SUMMARY", "WELCOME", "WITHDRAWAL", "batch_route", "metrics_route", "report_route",
]  # fmt: skip

_JSON = "application/json"
_STUDY_ID = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": sorted(properties), "properties": properties, "additionalProperties": False}


def _bearer(what: str, required: bool = True) -> dict[str, Any]:
    """Describe the header that carries a token or a key."""
    return {
        "name": "Authorization",
        "in": "header",
        "required": required,
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
    "409": "It contradicts what is: another report of this participant is stored, or no next round can begin now.",
    "410": "The reports of this participant were erased.",
    "413": "The body is too large.",
    "415": "The Content-Type is not one of those listed.",
    "422": "The body is none that a device could have sent; nothing of it was stored.",
    "429": "Too many requests from this address, or for a round that opens in a moment; see Retry-After.",
    "503": "The store is busy or away; see Retry-After.",
}


def _responses(good: dict[str, dict[str, Any]], *refusals: str) -> dict[str, Any]:
    """Describe a route's answers: the good ones, the refusals named, and those that every route has."""
    listed = sorted({*refusals, "429", "503"})
    return {"responses": good | {status: _good(_REFUSALS[status], _SENTENCE) for status in listed}}


_BODY = ("400", "404", "408", "413", "415", "422")
MANIFEST: dict[str, Any] = _responses({"200": _good("The manifest's canonical bytes.", {"type": "object"})})
_IN_PATH = {"in": "path", "required": True, "schema": _STUDY_ID}
PUBLIC: dict[str, Any] = {
    "parameters": [
        {"name": "digest", **_IN_PATH, "description": "The SHA-256 of the bytes."},
        _bearer("a participant's token or the operator's key; manifests need neither", required=False),
    ],
    **_responses({"200": _good("The bytes with this hash.", _TEXT, "application/octet-stream")}, "401", "404"),
}
INVITATION: dict[str, Any] = {
    "parameters": [
        {"name": "study", **_IN_PATH, "description": "The id of the round."},
        _bearer("the participant's token"),
    ],
    **_responses(
        {"200": _good("The participant's own rows of the round's tables, with proofs.", {"type": "object"})},
        "401",
        "404",
    ),
}
WELCOME: dict[str, Any] = {
    "parameters": [
        {"name": "study", **_IN_PATH, "description": "The id of the round."},
        _bearer("the participant's token"),
    ],
    **_responses(
        {"200": _good("A report of this participant would be taken now.", _object(status={"const": "welcome"}))},
        *("401", "403", "404", "409", "410"),
    ),
}
STATUS: dict[str, Any] = _responses(
    {
        "200": _good(
            "Whether reports are taken now, and if not, why.",
            _object(study=_STUDY_ID, open={"type": "boolean"}, reason=_TEXT),
        )
    }
)


def _health(*states: tuple[str, list[str], str]) -> dict[str, Any]:
    """Describe a route outside the rate limit that answers with one of some states."""
    return {
        "responses": {
            status: _good(text, _object(status={"type": "string", "enum": named})) for status, named, text in states
        }
    }


ALIVE: dict[str, Any] = _health(("200", ["alive"], "The process lives."))
READY: dict[str, Any] = _health(
    ("200", ["ready"], "The store answers; reports can be taken."),
    ("503", ["store away", "keys unreadable"], "The store does not answer, or the keys cannot be read."),
)
SUMMARY: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    **_responses({"200": _good("Counts for the operator.", {"type": "object"})}, "401"),
}
CLOSE: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    **_responses({"200": _good("The study is closed.", _object(closed={"type": "boolean"}))}, "401"),
}
WITHDRAWAL: dict[str, Any] = {
    "parameters": [_bearer("the participant's token")],
    **_responses(
        {"200": _good("All reports of the participant are erased.", _object(status={"const": "erased"}))}, "401"
    ),
}
_ERASURE = _object(node=_COUNT, minute=_COUNT, by={"type": "string", "enum": ["participant", "operator"]})
ERASURES: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    **_responses(
        {
            "200": _good(
                "Whose reports were erased, when and by whom, oldest first.",
                _object(count=_COUNT, erasures={"type": "array", "items": _ERASURE}),
            )
        },
        "401",
    ),
}


NEXT: dict[str, Any] = {
    "parameters": [_bearer("the operator's key")],
    "requestBody": {
        "required": False,
        "content": {_JSON: {"schema": _object(days={"type": "number", "minimum": 0.001, "maximum": 3650})}},
    },
    **_responses(
        {
            "202": _good(
                "The next round is being computed; the summary tells how it goes.",
                _object(round=_COUNT, running={"type": "boolean"}),
            )
        },
        *("400", "401", "408", "409", "413", "422"),
    ),
}
_FILES = ("application/vnd.apache.parquet", "text/csv", "application/vnd.sqlite3")
EXPORT: dict[str, Any] = {
    "parameters": [
        _bearer("the operator's key"),
        {
            "name": "round",
            "in": "query",
            "description": "The number of the round, from 1 on; the newest by default.",
            "schema": {"type": "integer", "minimum": 1},
        },
        {
            "name": "form",
            "in": "query",
            "description": "Answers as Parquet or CSV, what the panel shows as CSV, or the public record as SQLite.",
            "schema": {"type": "string", "enum": ["parquet", "csv", "panel", "record"]},
        },
    ],
    **_responses(
        {"200": {"description": "The file.", "content": {kind: {"schema": _TEXT} for kind in _FILES}}},
        *("401", "404", "422"),
    ),
}


def metrics_route(private: bool) -> dict[str, Any]:
    """Describe the route of metrics, for everybody or for the operator only."""
    good = {"200": _good("Counts and times in Prometheus' text form.", _TEXT, CONTENT_TYPE_LATEST)}
    return {"parameters": [_bearer("the operator's key")], **_responses(good, "401")} if private else _responses(good)


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
            *("401", "403", "409", "410", *_BODY),
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
