"""Priors of simulations are kept for other systems and budgets; what goes wrong on disk changes no figure."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import numpy as np
import pytest

from privet.data import Graph, split_nodes
from privet.estimation.priors import structural_prior as prior
from privet.estimation.priors.shelf import lent
from privet.estimation.priors.structural_prior import structural_prior
from privet.evaluation import arrays
from privet.evaluation.arrays import ArrayShelf
from privet.evaluation.evaluate import evaluate
from privet.systems import Inquiry, Structure
from privet.systems.controls import simulate


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prior, "_RECENT", {})


def file_of_shape(shape: tuple[int, ...]) -> bytes:
    """Return the head of a file of numbers."""
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(made, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return made.getvalue()


def test_an_array_is_read_back_whole_or_not_at_all(tmp_path: Path) -> None:
    shelf, array = ArrayShelf(tmp_path / "priors"), np.random.default_rng(0).normal(size=(5, 3))
    assert shelf.get("a") is None
    shelf.put("a", array)
    np.testing.assert_array_equal(shelf.get("a"), array)
    assert shelf.get("b") is None
    (file,) = (tmp_path / "priors").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.write_bytes(file.read_bytes()[:-8])
    assert shelf.get("a") is None
    file.write_bytes(b"")
    assert shelf.get("a") is None
    for spoiled in (b"PK\x03\x04", file_of_shape((10**13,)), file_of_shape((4,))[:40]):
        file.write_bytes(spoiled)
        assert shelf.get("a") is None
    with file.open("wb") as stream:
        np.save(stream, np.array([{"pickled": 1}], dtype=object), allow_pickle=True)
    assert shelf.get("a") is None


def test_large_arrays_and_places_that_cannot_be_written_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    ArrayShelf(tmp_path / "file" / "x").put("a", np.ones(3))
    monkeypatch.setattr(arrays, "_LARGEST", 16)
    ArrayShelf(tmp_path / "priors").put("a", np.ones(3))
    assert not (tmp_path / "priors").exists()


def test_a_prior_is_learned_once_and_is_the_same(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.where(np.arange(graph.num_nodes) % 2, graph.labels, -1)
    with lent(ArrayShelf(tmp_path)):
        first = structural_prior(graph.adjacency, labels, 3, seed=0)
        prior._RECENT.clear()
        with monkeypatch.context() as broken:
            broken.setattr(prior, "_new_prior", lambda *_: pytest.fail("learned again"))
            np.testing.assert_array_equal(structural_prior(graph.adjacency, labels, 3, seed=0), first)
        (file,) = tmp_path.iterdir()
        np.save(file, np.zeros((2, 2)))  # whole, and of another shape
        prior._RECENT.clear()
        np.testing.assert_array_equal(structural_prior(graph.adjacency, labels, 3, seed=0), first)


def test_an_evaluation_keeps_priors_and_anything_else_does_not(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path))
    simulate(Structure(), graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0)), 0)
    assert not list(tmp_path.iterdir())
    prior._RECENT.clear()
    evaluate(Structure(), graph, 1, controls=False)
    (file,) = (tmp_path / "priors").iterdir()
    prior._RECENT.clear()
    with monkeypatch.context() as broken:
        broken.setattr(prior, "_new_prior", lambda *_: pytest.fail("learned again"))
        evaluate(Inquiry(), graph, 1, controls=False)
    assert [file] == list((tmp_path / "priors").iterdir())
