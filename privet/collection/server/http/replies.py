"""Answers of the collector: JSON that nobody caches and no browser reads as anything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Response

__all__ = ["HEADERS", "reply"]

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def reply(status: int, document: Any, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON.

    Args:
        status: The HTTP status.
        document: What is answered.
        headers: Further headers.
    """
    body = json.dumps(document, separators=(",", ":"))
    return Response(body, status, {**HEADERS, **(headers or {})}, "application/json")
