from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.reproduction.cells import Cell, PublishedTable

CELLS = (
    Cell("cora", "eps 1", {"epsilon_features": 1.0}, 30.0, 1.0),
    Cell("cora", "eps 2", {"epsilon_features": 2.0}, 99.9),
    Cell("lastfm", "eps 1", {"epsilon_features": 1.0}, 86.1, available=False),
)
TABLE = PublishedTable("test-1", "A table of tests", "lpgnn", CELLS)


def test_only_some_cells() -> None:
    assert [cell.label for cell in TABLE.only(condition="eps 2").cells] == ["eps 2"]
    assert len(TABLE.only(condition="eps*").cells) == 3
    assert [cell.dataset for cell in TABLE.only(["last*"]).cells] == ["lastfm"]


def test_unknown_datasets_and_conditions_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match="among cora; lastfm"):
        TABLE.only(["cora", "reddit"])
    with pytest.raises(InvalidParameter, match="eps 1; eps 2"):
        TABLE.only(condition="eps 3")
