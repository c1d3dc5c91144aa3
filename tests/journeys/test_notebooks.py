"""The notebooks of the documentation: as committed, and run anew in a real kernel."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.ipynb"))


def outputs(notebook: nbformat.NotebookNode) -> list[list[str]]:
    """Return the kinds of output of each code cell, in order and without repetition."""
    kinds = [
        [each.get("name", each.output_type) for each in c.outputs] for c in notebook.cells if c.cell_type == "code"
    ]
    return [list(dict.fromkeys(each)) for each in kinds]


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first-model", "reports-to-results"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_fails_and_what_is_committed_is_what_it_shows(path: Path, tmp_path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    fresh = nbformat.from_dict(committed)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = nbclient.NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's manager, which is not ours
        client.execute(env={**os.environ, "PYTHONWARNINGS": "ignore"})  # raises where a cell fails
    assert outputs(fresh) == outputs(nbformat.read(path, as_version=4))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_outputs_are_whole_and_tell_nothing_of_a_machine(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not {kind for kinds in outputs(notebook) for kind in kinds} & {"stderr", "error"}
    assert any(outputs(notebook))
    assert str(Path.home()) + "/" not in path.read_text()
    assert "site-packages" not in path.read_text()
