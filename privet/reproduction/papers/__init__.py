"""The published tables and figures by id; each paper's are described in a file, or a package, of its own."""

from privet.errors import InvalidParameter
from privet.reproduction.papers import blink, heterpoisson, inquiry, lpgnn, privge, revisit, rgnn, solitude
from privet.reproduction.published import PublishedTable

__all__ = ["TABLES", "published_table"]

_PAPERS = (lpgnn, solitude, privge, rgnn, heterpoisson, inquiry, revisit, blink)
TABLES: dict[str, PublishedTable] = {table.name: table for paper in _PAPERS for table in paper.TABLES}


def published_table(name: str) -> PublishedTable:
    """Return the table of an id; an unknown id is an error that lists them all."""
    if name not in TABLES:
        raise InvalidParameter("name", "one of " + ", ".join(TABLES), name)
    return TABLES[name]
