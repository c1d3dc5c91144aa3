"""The routes of results: what people answered, for the operator at any time, and for everybody if the manifest says so.

Everybody sees them once the study has closed and asks nothing more: while it is open, results could sway answers.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from privet.collection.server.http.collector import CollectorState
from privet.collection.server.http.pages import PAGE_HEADERS
from privet.collection.server.http.replies import HEADERS, Refused
from privet.collection.server.store.store import Store
from privet.errors import PrivetError

__all__ = ["Renderer", "ResultsRoutes"]

_LANGUAGES = ("en", "de", "fr", "es")
_KEPT = 16  # answers that are not computed again as long as no report comes


class Renderer(Protocol):
    """A function that makes HTML of results."""

    def __call__(self, stores: Sequence[Store], *, by: str | None, language: str, whole: bool) -> str:
        """Return the results as HTML.

        Args:
            stores: The stores of all rounds, oldest first.
            by: The question whose groups are told, too; None for none.
            language: The language of the words around the study's own.
            whole: True for a page that everybody sees, False for a part of the operator's page.
        """


_State: TypeAlias = tuple[object, ...]


@dataclass(eq=False)
class ResultsRoutes:
    """The requests for results.

    Attributes:
        render: Makes HTML of results.
        kept: Results that were made before, with the reports that they were made from.
    """

    collector: CollectorState
    render: Renderer
    kept: OrderedDict[_State, str] = field(default_factory=OrderedDict)

    async def operator(self, request: Request) -> Response:
        """Return the results so far as a part of a page, for the operator."""
        self.collector.check_operator(request)
        by, language = request.query_params.get("by") or None, _language(request)
        try:
            made = await asyncio.to_thread(self._made, by, language, False)
        except PrivetError as error:
            raise Refused(422, "invalid results", str(error)) from None
        return Response(made, media_type="text/html", headers=HEADERS)

    async def everybody(self, request: Request) -> Response:
        """Return the results of a closed study as a page, if its manifest says that they are published."""
        newest = self.collector.newest
        if not newest.study.publish_results:
            raise Refused(404, "not published", "The operator of this study does not publish its results here.")
        chain = await asyncio.to_thread(self.collector.store.chain)
        if not newest.has_ended() or chain.planned:
            raise Refused(404, "not published", "The results are published here when the study has closed.")
        if await asyncio.to_thread(self.collector.store.expired) is not None:
            raise Refused(404, "deleted", "The reports were deleted as the study promised, and the results with them.")
        made = await asyncio.to_thread(self._made, None, _language(request), True)
        return Response(made, media_type="text/html", headers=PAGE_HEADERS)

    def _made(self, by: str | None, language: str, whole: bool) -> str:
        self.collector.flush()
        stores = [each.store for each in self.collector.rounds.values()]
        state = (by, language, whole, len(stores[0].erasures()), *(store.count() for store in stores))
        if state not in self.kept:
            self.kept[state] = self.render(stores, by=by, language=language, whole=whole)
        self.kept.move_to_end(state)
        while len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        return self.kept[state]


def _language(request: Request) -> str:
    """Return the language that an address asks for, else the first one of the browser that there is."""
    asked = request.query_params.get("lang", "")
    wishes = [asked, *request.headers.get("accept-language", "").split(",")]
    codes = (wish.strip()[:2].lower() for wish in wishes)
    return next((code for code in codes if code in _LANGUAGES), _LANGUAGES[0])
