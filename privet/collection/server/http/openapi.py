"""The OpenAPI document of a collector, made from a table of its operations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privet.collection.server.http.replies import Endpoint
from privet.release import WireForm

__all__ = [
    "COUNT",
    "JSON",
    "STUDY_ID",
    "TEXT",
    "Operation",
    "array_of",
    "document",
    "one_of",
    "record",
    "report_schema",
]

JSON = "application/json"
TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
STUDY_ID: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_REFUSALS = {
    400: "The body did not arrive whole.",
    401: "The token or the key is missing, wrong or revoked.",
    403: "The study is not open.",
    404: "The request is for another study.",
    408: "The body did not arrive in time.",
    409: "Another report of this participant is stored, or no next round can begin now.",
    410: "The reports of this participant were erased.",
    413: "The body is too large.",
    415: "The Content-Type is not one of those listed.",
    422: "No device could have sent this body; nothing of it was stored.",
    429: "Too many requests from this address, or for a round that opens in a moment; see Retry-After.",
    503: "The store is busy or away; see Retry-After.",
}


def record(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has exactly these properties."""
    return {"type": "object", "required": sorted(properties), "properties": properties, "additionalProperties": False}


def one_of(*words: str) -> dict[str, Any]:
    """Return the schema of a string that is one of some words."""
    return {"type": "string", "enum": list(words)}


def array_of(items: dict[str, Any], least: int = 0, most: int | None = None) -> dict[str, Any]:
    """Return the schema of a list."""
    longest = {} if most is None else {"maxItems": most}
    return {"type": "array", "items": items, "minItems": least, **longest}


@dataclass(frozen=True)
class Operation:
    """A route with its description.

    Attributes:
        method: The HTTP method.
        path: The path, with names in braces; each of them is a SHA-256 in hexadecimal.
        endpoint: Answers the request; its docstring describes the operation.
        answers: By status, a description and the schema of the JSON answer, or media types with their schemas.
        refusals: The statuses of refusals beside 429 and 503, which every limited operation has.
        bearer: The token or key in the Authorization header; none if empty. A "?" at its end makes it optional.
        query: The schemas of the query's parameters, which are all optional.
        body: The schemas of the request's body by media type; none without it.
        body_required: Whether there must be a body.
        limited: Whether the operation counts against the rate limit and may be refused.
    """

    method: str
    path: str
    endpoint: Endpoint
    answers: Mapping[int, tuple[str, Mapping[str, Any]]]
    refusals: tuple[int, ...] = ()
    bearer: str = ""
    query: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    body: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    body_required: bool = True
    limited: bool = True

    def describe(self) -> dict[str, Any]:
        """Return the operation's entry in the document."""
        responses = {str(status): _answer(*answer) for status, answer in self.answers.items()}
        for status in sorted({*self.refusals, 429, 503}) if self.limited else ():
            responses[str(status)] = _answer(_REFUSALS[status], record(error=TEXT))
        text = inspect.getdoc(self.endpoint) or ""
        entry: dict[str, Any] = {"summary": text.partition("\n")[0], "description": text, "responses": responses}
        if parameters := [*self._in_path(), *self._in_query(), *self._in_header()]:
            entry["parameters"] = parameters
        if self.body:
            content = {kind: {"schema": schema} for kind, schema in self.body.items()}
            entry["requestBody"] = {"required": self.body_required, "content": content}
        return entry

    def _in_path(self) -> Iterable[dict[str, Any]]:
        names = [part.strip("{}") for part in self.path.split("/") if part.startswith("{")]
        return ({"name": name, "in": "path", "required": True, "schema": STUDY_ID} for name in names)

    def _in_query(self) -> Iterable[dict[str, Any]]:
        return ({"name": name, "in": "query", "schema": schema} for name, schema in self.query.items())

    def _in_header(self) -> Iterable[dict[str, Any]]:
        if self.bearer:
            schema = {"type": "string", "pattern": "^Bearer [A-Za-z0-9_-]+$"}
            what, required = self.bearer.rstrip("?"), not self.bearer.endswith("?")
            header = {"name": "Authorization", "in": "header", "required": required, "schema": schema}
            yield {**header, "description": f"'Bearer ' and {what}."}


def _answer(text: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Describe an answer; a content without media types is the schema of JSON."""
    kinds = content if all("/" in name for name in content) else {JSON: content}
    return {"description": text, "content": {kind: {"schema": schema} for kind, schema in kinds.items()}}


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = each.describe()
    about = "Takes perturbed reports of one study. Raw answers never leave a device."
    return {
        "openapi": "3.1.0",
        "info": {"title": "privet collector", "description": about, "version": "1"},
        "paths": paths,
    }


def report_schema(wire: WireForm) -> dict[str, Any]:
    """Describe the JSON form of a report: one property a question."""
    properties: dict[str, Any] = {}
    for each in wire.columns:
        limits, size = np.iinfo(each.column.dtype), each.column.count
        one = {"type": "integer", "minimum": int(limits.min), "maximum": int(limits.max)}
        if size is None:
            properties[each.question] = {**array_of(one), "description": "Ascending."}
        elif each.column.name:
            columns = properties.get(each.question, record())["properties"]
            properties[each.question] = record(**columns, **{each.column.name: array_of(one, size, size)})
        else:
            properties[each.question] = one
    return record(**properties)
