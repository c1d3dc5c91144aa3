from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from privet.data import KNOWN, load
from privet.evaluation.cache import Store
from privet.evaluation.evaluate import evaluate
from privet.reproduction.papers import TABLES
from privet.reproduction.published import Cell, PublishedTable
from privet.reproduction.runner import figures_needed, run_table, shrunk, stand_in, thinned
from privet.systems import LPGNN, HeterPoisson
from privet.systems.presets import prepared


@pytest.fixture
def table(dataset: Path) -> PublishedTable:
    quick = {"hops": 1, "max_epochs": 3}
    cells = (
        Cell(str(dataset), "eps 1", {"epsilon_features": 1.0, **quick}, 30.0, 1.0),
        Cell(str(dataset), "eps 2", {"epsilon_features": 2.0, **quick}, 99.9),
        Cell("lastfm", "eps 1", {"epsilon_features": 1.0}, 86.1),
    )
    return PublishedTable("test-1", "A table of tests", "lpgnn", cells, remark="A remark.")


def test_a_table_is_measured_once_and_then_read(
    table: PublishedTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    first = run_table(table, None, 2, Store(tmp_path), progress=done.append)
    assert len(done) == figures_needed(table, 2) == 2 * 2 * 8
    cells = first.cells
    assert cells[0].guarantee.epsilon == 1.0
    assert cells[1].measured.mean < 99.9
    assert cells[1].difference < 0
    assert cells[2].measured is None
    # Reports without information are measured once for both budgets.
    assert cells[0].controls["structure_only"] == cells[1].controls["structure_only"]
    monkeypatch.setattr(LPGNN, "fit", lambda *_: pytest.fail("a finished figure was computed again"))
    assert run_table(table, None, 2, Store(tmp_path)) == first


def test_an_interrupted_table_goes_on(table: PublishedTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, real = [], LPGNN.fit

    def interrupted(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(LPGNN, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_table(table, None, 1, Store(tmp_path))
    run_table(table, None, 1, Store(tmp_path))
    # Of each budget its own, the paper's and the features' figure; five controls do not depend on the budget.
    assert len(list(tmp_path.iterdir())) == 2 * 3 + 5
    # Trainings: one was interrupted, two share no budget, two are as published, and raw data try two numbers of hops.
    assert len(calls) == 1 + 2 + 2 + 3


def test_a_cell_may_be_of_another_system_and_have_references(dataset: Path, tmp_path: Path) -> None:
    cells = (
        Cell(str(dataset), "ours", {"panel": 0.3}, 90.0, references={"raw (paper)": 95.0}),
        Cell(str(dataset), "theirs", {"hops": 1, "max_epochs": 3}, None, system="lpgnn", controls=False),
    )
    table = PublishedTable("t", "T", "inquiry", cells, beside=("structure", "panel_only"), printed="prototype")
    found = run_table(table, None, 1, Store(tmp_path))
    assert found.printed == "prototype"
    assert [list(cell.controls) for cell in found.cells] == [["structure", "panel_only"], []]
    assert [dict(cell.references) for cell in found.cells] == [{"raw (paper)": 95.0}, {}]
    assert len(list(tmp_path.iterdir())) == 3 + 1


def test_controls_that_do_not_depend_on_a_setting_are_measured_once(dataset: Path, tmp_path: Path) -> None:
    quick = {"noise_multiplier": 2.0, "batch_size": 40, "epochs": 1.0, "hidden_channels": 8}
    cells = tuple(Cell(str(dataset), b, {"backbone": b, **quick}, None) for b in ("gin", "sage"))
    result = run_table(PublishedTable("t", "T", "heterpoisson", cells), None, 1, Store(tmp_path))
    assert [cell.guarantee.model for cell in result.cells] == ["central", "central"]
    # The system itself with either noise and without has a backbone; eight others do not.
    assert len(list(tmp_path.iterdir())) == 2 * 3 + 8


def test_a_table_and_an_evaluation_share_their_figures(dataset: Path, tmp_path: Path) -> None:
    cell = Cell(str(dataset), "tiny", {"hops": 1, "max_epochs": 2}, None)
    table = run_table(PublishedTable("t", "T", "lpgnn", (cell,)), None, 1, Store(tmp_path)).cells[0]
    before = len(list(tmp_path.iterdir()))
    result = evaluate(LPGNN(hops=1, max_epochs=2), load(dataset), 1, store=Store(tmp_path))
    assert len(list(tmp_path.iterdir())) == before + 1  # the ceiling, which tables do not have
    assert table.measured is not None
    assert table.measured.values == result.metrics["accuracy"].values


def test_a_table_may_ask_for_few_columns_and_cells_for_another_protocol(dataset: Path, tmp_path: Path) -> None:
    cells = tuple(
        Cell(str(dataset), f"{rate:.0%}", {"hops": 1, "max_epochs": 3}, None, at=rate, protocol={"label_rate": rate})
        for rate in (0.02, 0.4)
    )
    alone = replace(cells[0], label="alone", at=1.0, controls=False)
    table = PublishedTable("t", "T", "lpgnn", (*cells, alone), statement="As said.", beside=("label_propagation",))
    found = run_table(table, None, 1, Store(tmp_path)).cells
    assert [list(cell.controls) for cell in found] == [["label_propagation"], ["label_propagation"], []]
    assert len(list(tmp_path.iterdir())) == 2 * 2
    few, many = (cell.controls["label_propagation"].mean for cell in found[:2])
    assert few < many


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda t: t.name)
def test_few_cells_that_can_be_measured(table) -> None:
    few = thinned(table).cells
    assert 1 <= len(few) <= 6
    assert all(cell.available for cell in few)
    assert {(cell.dataset, cell.label) for cell in few} <= {(cell.dataset, cell.label) for cell in table.cells}


def test_hardly_any_training() -> None:
    assert shrunk(LPGNN(max_epochs=500, networks=5)).max_epochs == 2
    small = shrunk(HeterPoisson(target_epsilon=2.0))
    assert (small.epochs, small.batch_size, small.target_epsilon) == (1.0, 64, 2.0)


def test_every_dataset_has_a_stand_in_that_the_presets_accept() -> None:
    for dataset in KNOWN:
        graph = stand_in(dataset)
        assert graph.schema.classes == KNOWN[dataset].classes
        for system in ("rgnn", "heterpoisson"):
            assert prepared(graph, system, dataset).features.shape[1] >= 10


def test_a_quick_table_has_one_seed_and_says_that_it_is_quick(tmp_path: Path) -> None:
    result = run_table(TABLES["lpgnn-3"], None, 5, Store(tmp_path), quick=True)
    assert result.seeds == 1
    assert result.quick
