"""A crowd of fresh browsers that open a study at once from one address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from patience import PATIENCE

__all__ = ["crowd"]


@contextmanager
def crowd(browser: Any, links: Sequence[str], **options: Any) -> Iterator[list[Any]]:
    """Yield a page for each link, each in a profile of its own, which all began to load at the same moment."""
    contexts = [browser.new_context(**options) for _ in links]
    pages = [context.new_page() for context in contexts]
    begin = "(link) => { setTimeout(() => window.location.assign(link), 3000 - (Date.now() % 3000)); }"
    for page, link in zip(pages, links, strict=True):
        page.set_default_timeout(1000 * PATIENCE)
        page.evaluate(begin, link)
    try:
        yield pages
    finally:
        for context in contexts:
            context.close()
