"""The published tables and figures by id; each paper's are described in files of its own, one runner is for all."""

from __future__ import annotations

from privet.errors import InvalidParameter
from privet.reproduction.cells import Cell, PublishedTable
from privet.reproduction.papers.heterpoisson import HETERPOISSON_TABLES
from privet.reproduction.papers.heterpoisson_figures import HETERPOISSON_FIGURES
from privet.reproduction.papers.lpgnn import LPGNN_TABLES
from privet.reproduction.papers.privge import PRIVGE_TABLES
from privet.reproduction.papers.rgnn import RGNN_TABLES
from privet.reproduction.papers.solitude import SOLITUDE_TABLES

__all__ = ["TABLES", "Cell", "PublishedTable", "published_table"]

TABLES = {
    table.name: table
    for table in (
        *LPGNN_TABLES,
        *SOLITUDE_TABLES,
        *PRIVGE_TABLES,
        *RGNN_TABLES,
        *HETERPOISSON_TABLES,
        *HETERPOISSON_FIGURES,
    )
}


def published_table(name: str) -> PublishedTable:
    """The table of that name; an unknown name lists them all."""
    if name not in TABLES:
        raise InvalidParameter("ID", "privet table", "all, list, or one of " + ", ".join(TABLES), name)
    return TABLES[name]
