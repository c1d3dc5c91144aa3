from __future__ import annotations

import pytest

from privet.data import KNOWN
from privet.errors import InvalidParameter
from privet.evaluation.choosing import system_for
from privet.reproduction.catalogue import TABLES, published_table
from privet.reproduction.figures.made_graphs import MADE
from privet.reproduction.measures import OWN

# What each paper has, and the ids under which it must be found.
EXPERIMENTS = {
    "lpgnn": "3 labels fig5 fig6 fig7",
    "solitude": "2 3 fig4 fig5",
    "privge": "fig1 fig2 2 fig3 fig4",
    "rgnn": "1 ablation fig2 fig3 fig4",
    "heterpoisson": "2 3 4 fig1 fig5 fig6 fig7 fig8",
    "inquiry": "worth",
}


def test_every_experiment_of_the_papers_has_an_id() -> None:
    assert list(TABLES) == [f"{paper}-{each}" for paper, names in EXPERIMENTS.items() for each in names.split()]


def test_unknown_tables_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match=r"lpgnn-3, lpgnn-labels, .*, solitude-3, .*, heterpoisson-2"):
        published_table("lpgnn-4")


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_cells_are_complete(table) -> None:
    for cell in table.cells:
        assert cell.available == (cell.dataset in KNOWN or cell.dataset in MADE)
        assert cell.paper is None or 20 < cell.paper < 100
        assert cell.at is not None
        assert all(value > 0 for name, value in cell.settings.items() if "epsilon" in name and value is not None)
        system_for(table.system, cell.dataset, cell.settings, cell.condition)  # refuses a setting that does not exist
    labels = [(cell.dataset, cell.label) for cell in table.cells]
    assert len(set(labels)) == len(labels)
    places = [(cell.panel or cell.dataset, cell.series, cell.at) for cell in table.cells]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_a_table_has_printed_figures_or_a_statement(table) -> None:
    own = table.system == "inquiry"  # no paper has it
    assert own or table.statement or any(cell.paper is not None for cell in table.cells)
    cell = table.cells[0]
    columns = table.measure.columns(system_for(table.system, cell.dataset, cell.settings, cell.condition))
    assert columns[0].key == OWN
    assert set(table.beside or ()) <= {column.key for column in columns[1:]}
    assert all(column.short and column.title for column in columns[1:])


def test_rgnn_budgets_are_the_true_ones() -> None:
    first = TABLES["rgnn-1"].cells[0]
    assert first.settings == {"epsilon_features": 10.0, "epsilon_labels": 3.0}
    assert "true 10" in first.label


def test_the_inductive_table_trains_on_training_nodes_alone() -> None:
    for cell in TABLES["heterpoisson-4"].cells:
        system = system_for("heterpoisson", cell.dataset, cell.settings, cell.condition)
        assert system.settings()["setting"] == "inductive"
