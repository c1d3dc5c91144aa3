"""What the OpenAPI document says of each route's requests and answers."""

from __future__ import annotations

from typing import Any

__all__ = ["BATCH", "CLOSE", "MANIFEST", "METRICS", "REPORT", "SUMMARY"]

_INTEGERS = {"type": "array", "items": {"type": "integer"}}
_REPORT_BODY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["symbols"],
    "properties": {
        "coordinates": {**_INTEGERS, "description": "The sampled features, ascending; absent if all are reported."},
        "symbols": {**_INTEGERS, "description": "One symbol of the mechanism's alphabet a feature."},
        "label": {"type": "integer", "description": "The reported class, if the study asks for it."},
        "neighbours": {**_INTEGERS, "description": "The reported neighbours, ascending, if the study asks for them."},
    },
}
_STUDY_ID = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_BEARER = {"name": "Authorization", "in": "header", "required": True, "schema": {"type": "string"}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": sorted(properties), "properties": properties, "additionalProperties": False}


def _answers(**statuses: str) -> dict[str, Any]:
    sentence = {"application/json": {"schema": _object(error={"type": "string"})}}
    return {
        status.removeprefix("s"): {"description": text, **({"content": sentence} if status[1] in "45" else {})}
        for status, text in statuses.items()
    }


_COMMON = {
    "s401": "The token or the key is missing, wrong or revoked.",
    "s413": "The body is too large.",
    "s415": "The Content-Type is not one of those listed.",
    "s422": "The report is none that a device could have sent; nothing of it was stored.",
    "s429": "Too many requests from this address; see Retry-After.",
    "s503": "The store is busy; see Retry-After.",
}

MANIFEST: dict[str, Any] = {"responses": _answers(s200="The manifest's canonical bytes.")}
METRICS: dict[str, Any] = {"responses": _answers(s200="Prometheus text.")}
REPORT: dict[str, Any] = {
    "parameters": [_BEARER],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _object(study=_STUDY_ID, report=_REPORT_BODY)},
            "application/vnd.privet.report": {
                "schema": {"type": "string", "format": "binary", "description": "32 bytes of study id, then the body."}
            },
        },
    },
    "responses": _answers(
        s201="Stored, and on disk.",
        s200="The same report was stored before.",
        s403="The study is not open.",
        s409="A different report of this participant is stored.",
        **_COMMON,
    ),
}
BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": _object(
                    study=_STUDY_ID,
                    reports={"type": "array", "items": _object(token={"type": "string"}, report=_REPORT_BODY)},
                )
            },
            "application/vnd.privet.batch": {"schema": {"type": "string", "format": "binary"}},
        },
    },
    "responses": _answers(s200="How many were stored, and each refused row.", s403="The study is not open.", **_COMMON),
}
SUMMARY: dict[str, Any] = {
    "parameters": [_BEARER],
    "responses": _answers(s200="Counts for the operator.", s401=_COMMON["s401"], s429=_COMMON["s429"]),
}
CLOSE: dict[str, Any] = {
    "parameters": [_BEARER],
    "responses": _answers(s200="The study is closed.", s401=_COMMON["s401"], s429=_COMMON["s429"]),
}
