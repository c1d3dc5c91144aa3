"""The OpenAPI descriptions of each route's requests and answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.release import WireForm

__all__ = ["CLOSE", "MANIFEST", "METRICS", "SUMMARY", "batch_route", "report_route"]

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
SUMMARY: dict[str, Any] = {
    "parameters": [_BEARER],
    "responses": _answers(s200="Counts for the operator.", s401=_COMMON["s401"], s429=_COMMON["s429"]),
}
CLOSE: dict[str, Any] = {
    "parameters": [_BEARER],
    "responses": _answers(s200="The study is closed.", s401=_COMMON["s401"], s429=_COMMON["s429"]),
}


def report_route(wire: WireForm) -> dict[str, Any]:
    """Describe the route for one report of a study."""
    return {
        "parameters": [_BEARER],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": _object(study=_STUDY_ID, report=_report_schema(wire))},
                "application/vnd.privet.report": {
                    "schema": {
                        "type": "string",
                        "format": "binary",
                        "description": "32 bytes of study id, then the body.",
                    }
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


def batch_route(wire: WireForm) -> dict[str, Any]:
    """Describe the route for many reports of a study."""
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": _object(
                        study=_STUDY_ID,
                        reports={
                            "type": "array",
                            "items": _object(token={"type": "string"}, report=_report_schema(wire)),
                        },
                    )
                },
                "application/vnd.privet.batch": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        "responses": _answers(
            s200="How many were stored, and each refused row.", s403="The study is not open.", **_COMMON
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
