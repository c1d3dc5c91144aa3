"""The published tables and figures by id; each paper's are described in a file of its own."""

from __future__ import annotations

from privet.errors import InvalidParameter
from privet.reproduction.cells import PublishedTable
from privet.reproduction.papers import (
    blink,
    heterpoisson,
    inquiry,
    inquiry_friends,
    inquiry_worth,
    lpgnn,
    privge,
    revisit,
    rgnn,
    solitude,
)

__all__ = ["TABLES", "published_table"]

_PAPERS = (lpgnn, solitude, privge, rgnn, heterpoisson, inquiry, inquiry_friends, inquiry_worth, revisit, blink)
TABLES: dict[str, PublishedTable] = {table.name: table for paper in _PAPERS for table in paper.TABLES}


def published_table(name: str) -> PublishedTable:
    """Return the table of an id; an unknown id is an error that lists them all."""
    if name not in TABLES:
        raise InvalidParameter("name", "one of " + ", ".join(TABLES), name)
    return TABLES[name]
