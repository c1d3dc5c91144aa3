"""The published tables and figures by id; each paper's are described in files of its own, one runner is for all."""

from __future__ import annotations

from privet.errors import InvalidParameter
from privet.experiments.cells import Cell, PublishedTable
from privet.experiments.published_heterpoisson import HETERPOISSON_TABLES
from privet.experiments.published_heterpoisson_figures import HETERPOISSON_FIGURES
from privet.experiments.published_lpgnn import LPGNN_TABLES
from privet.experiments.published_privge import PRIVGE_TABLES
from privet.experiments.published_rgnn import RGNN_TABLES
from privet.experiments.published_solitude import SOLITUDE_TABLES

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
