from __future__ import annotations

from pathlib import Path

import pytest

from privet.data import KNOWN
from privet.evaluation.cache import Store
from privet.reproduction.catalogue import TABLES
from privet.reproduction.quick import shrunk, stand_in, thinned
from privet.reproduction.runner import run_table
from privet.systems import LPGNN, HeterPoisson
from privet.systems.presets import prepared


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
