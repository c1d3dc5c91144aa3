from __future__ import annotations

import pytest

from privet.data import KNOWN
from privet.errors import InvalidParameter
from privet.experiments.published import TABLES, published_table


def test_unknown_tables_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match=r"lpgnn-3, lpgnn-labels, .*, solitude-3, heterpoisson-2"):
        published_table("lpgnn-4")


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_cells_are_complete(table) -> None:
    for cell in table.cells:
        assert cell.available == (cell.dataset in KNOWN)
        assert cell.paper is None or 30 < cell.paper < 100
        assert all(value > 0 for name, value in cell.settings.items() if "epsilon" in name and value is not None)
    labels = [(cell.dataset, cell.label) for cell in table.cells]
    assert len(set(labels)) == len(labels)


def test_rgnn_budgets_are_the_true_ones() -> None:
    first = TABLES["rgnn-1"].cells[0]
    assert first.settings == {"epsilon_features": 10.0, "epsilon_labels": 3.0}
    assert "true 10" in first.label
