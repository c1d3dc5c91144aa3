from __future__ import annotations

import pytest

from privet.data import KNOWN
from privet.errors import InvalidParameter
from privet.reproduction.papers import TABLES, published_table
from privet.reproduction.published import ACCURACY
from privet.systems.controls import OWN
from privet.systems.presets import system_for

# What each paper has, and the ids under which it must be found.
EXPERIMENTS = {
    "lpgnn": "3 labels fig5 fig6 fig7",
    "solitude": "2 3 fig4 fig5",
    "privge": "fig1 fig2 2 fig3 fig4",
    "rgnn": "1 ablation fig2 fig3 fig4",
    "heterpoisson": "2 3 4 fig1 fig5 fig6 fig7 fig8 public",
    "inquiry": "features edges friends person list waves units false worth",
    "revisit": "1 6",
    "blink": "cora citeseer",
}


def test_every_experiment_of_the_papers_has_an_id() -> None:
    assert list(TABLES) == [f"{paper}-{each}" for paper, names in EXPERIMENTS.items() for each in names.split()]


def test_unknown_tables_list_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match=r"lpgnn-3, lpgnn-labels, .*, solitude-3, .*, heterpoisson-2"):
        published_table("lpgnn-4")


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_cells_are_complete(table) -> None:
    for cell in table.cells:
        assert cell.available == (cell.dataset in KNOWN or table.made is not None)
        assert cell.paper is None or 20 < cell.paper < 100
        assert cell.at is not None
        assert all(value > 0 for name, value in cell.settings.items() if "epsilon" in name and value is not None)
        system_for(
            cell.system or table.system, cell.dataset, cell.settings, cell.condition
        )  # refuses a setting that does not exist
    labels = [(cell.dataset, cell.label) for cell in table.cells]
    assert len(set(labels)) == len(labels)
    places = [(cell.panel or cell.dataset, cell.series, cell.at) for cell in table.cells]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_a_table_has_printed_figures_or_a_statement(table) -> None:
    own = table.system == "inquiry"  # no paper has it
    assert own or table.statement or any(cell.paper is not None for cell in table.cells)
    built = [
        system_for(each.system or table.system, each.dataset, each.settings, each.condition) for each in table.cells
    ]
    columns = [column for system in built for column in table.measure.columns(system)]
    assert columns[0].key == OWN.key
    assert set(table.beside or ()) <= {column.key for column in columns if column.key != OWN.key}
    assert all(column.short and column.title for column in columns if column.key != OWN.key)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_the_strong_structure_stands_beside_the_old_control(table) -> None:
    cell = table.cells[0]
    system = system_for(cell.system or table.system, cell.dataset, cell.settings, cell.condition)
    keys = {column.key for column in table.measure.columns(system)}
    shown = keys if table.beside is None else keys & set(table.beside)
    if "structure_only" in shown and table.measure is ACCURACY:
        assert "structure" in shown


def test_rgnn_budgets_are_the_true_ones() -> None:
    first = TABLES["rgnn-1"].cells[0]
    assert first.settings == {"epsilon_features": 10.0, "epsilon_labels": 3.0}
    assert "true 10" in first.label


def test_blink_is_met_at_both_prices() -> None:
    for name in ("blink-cora", "blink-citeseer"):
        cells = TABLES[name].cells
        assert [cell.settings["epsilon_edges"] for cell in cells] == [1.0, 2.0, 3.0, 4.0, 2.0, 4.0, 6.0, 8.0]
        assert all(cell.settings["public_features"] for cell in cells)
    references = {(c.dataset, c.at): c.references for c in TABLES["inquiry-edges"].cells if "public" in c.label}
    assert references["cora", 2.0] == {"Blink": TABLES["blink-cora"].cells[1].paper}
    assert references["cora", 0.5] == {}


def test_central_tables_name_the_papers_delta() -> None:
    tables = [table for name, table in TABLES.items() if name.startswith("heterpoisson")]
    noisy = [cell for table in tables for cell in table.cells if "target_epsilon" in cell.settings]
    assert len(noisy) > 100
    assert {cell.settings.get("delta") for cell in noisy} == {"paper"}


def test_few_labels_have_a_split_of_their_own() -> None:
    few = [cell for cell in TABLES["inquiry-features"].cells if "10 %" in cell.label]
    assert {cell.dataset for cell in few} == {"acm", "blogcatalog", "citeseer"}
    assert all(cell.protocol == {"split": [0.1, 0.1]} and cell.settings["panel"] == 0.05 for cell in few)


def test_the_inductive_table_trains_on_training_nodes_alone() -> None:
    for cell in TABLES["heterpoisson-4"].cells:
        system = system_for("heterpoisson", cell.dataset, cell.settings, cell.condition)
        assert system.settings()["setting"] == "inductive"
