from __future__ import annotations

import io
import multiprocessing
import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from patience import wait_until

from privet.data import Graph, split_nodes
from privet.errors import InvalidParameter
from privet.estimation.priors import structural_prior as prior
from privet.estimation.priors.shelf import lent
from privet.estimation.priors.structural_prior import structural_prior
from privet.evaluation import cache
from privet.evaluation.cache import LIMIT, ArrayShelf, Store, canonical, usual_store
from privet.evaluation.evaluate import evaluate
from privet.systems import Inquiry, Structure
from privet.systems.controls import simulate

KEY = {"system": "lpgnn", "settings": {"hops": 4, "epsilon": 1.0}}


def counted(calls: list[int]) -> Callable[[], dict[str, float]]:
    def work() -> dict[str, float]:
        calls.append(1)
        return {"test": 0.5}

    return work


def test_a_finished_figure_is_not_computed_twice(tmp_path: Path) -> None:
    store, calls = Store(tmp_path / "results"), list[int]()
    assert store.get(KEY) is None
    assert store.compute(KEY, counted(calls)) == {"test": 0.5}
    assert store.compute(dict(reversed(KEY.items())), counted(calls)) == {"test": 0.5}
    assert len(calls) == 1
    store.compute({**KEY, "seed": 1}, counted(calls))
    assert len(calls) == 2


def test_an_interrupted_figure_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupted() -> dict[str, float]:
        raise KeyboardInterrupt

    store = Store(tmp_path / "results")
    with pytest.raises(KeyboardInterrupt):
        store.compute(KEY, interrupted)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "text", ["not json", "", "[]", "[" * 200_000, '{"value": {"test": 1.0}}', '{"key": {"a": 1}, "value": {}}'], ids=len
)
def test_a_spoiled_or_foreign_file_is_measured_again(tmp_path: Path, text: str) -> None:
    store, calls = Store(tmp_path), list[int]()
    store.compute(KEY, counted(calls))
    next(tmp_path.iterdir()).write_text(text)
    assert store.get(KEY) is None
    assert store.compute(KEY, counted(calls)) == store.get(KEY) == {"test": 0.5}
    assert len(calls) == 2


def test_figures_may_be_kept_in_memory_and_infinity_has_a_name() -> None:
    store = Store(None)
    assert store.compute({"a": 1}, lambda: {"test": 0.5}) == store.get({"a": 1}) == {"test": 0.5}
    assert canonical({"clip": float("inf"), "hops": 2}) == {"clip": "inf", "hops": 2}


def test_fresh_measures_once_more_and_keeps_the_new_figure(tmp_path: Path) -> None:
    calls: list[int] = []
    Store(tmp_path).compute(KEY, lambda: {"test": 0.1})
    fresh = Store(tmp_path, fresh=True)
    for _ in range(2):
        assert fresh.compute(KEY, counted(calls)) == {"test": 0.5}
    assert len(calls) == 1
    assert Store(tmp_path).get(KEY) == {"test": 0.5}


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    Store(tmp_path / "a").compute(KEY, lambda: {"test": 0.1})
    (file,) = (tmp_path / "a").iterdir()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_figures_whose_last_use_is_longest_ago_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_ROUND", 1)
    store = Store(tmp_path, limit=10_000)
    for number in range(4):
        store.compute({"n": number}, lambda: {"test": "x" * 2000})
        (newest,) = (path for path in tmp_path.iterdir() if path.stat().st_mtime > 1e6)
        os.utime(newest, (number, number))
    assert store.get({"n": 0}) is not None  # used, and so the newest
    store.compute({"n": 4}, lambda: {"test": "x" * 2000})
    kept = [number for number in range(5) if (tmp_path / Store.name({"n": number})).exists()]
    assert kept == [0, 3, 4]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 8_000


def test_the_usual_store_is_where_the_platform_or_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path))
    assert usual_store().folder == tmp_path / "figures"
    assert usual_store().limit == LIMIT
    assert usual_store(fresh=True).fresh
    for word in ("0", "off", "OFF"):
        monkeypatch.setenv("PRIVET_CACHE", word)
        assert usual_store().folder is None
    for empty in (True, False):
        monkeypatch.setenv("PRIVET_CACHE", "") if empty else monkeypatch.delenv("PRIVET_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
        folder = usual_store().folder
        assert folder is not None
        assert folder.name == "figures"
        assert "privet" in folder.parts


def test_a_cache_that_cannot_be_written_costs_nothing_and_a_named_store_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert Store(tmp_path / "file" / "x", limit=10).compute(KEY, lambda: {"test": 0.5}) == {"test": 0.5}
    with pytest.raises(InvalidParameter, match="a directory that can be written"):
        Store(tmp_path / "file" / "x").compute(KEY, lambda: {"test": 0.5})


def _use(folder: Path, start: int) -> None:
    store = Store(folder, limit=40_000)
    for turn in range(150):
        number = (start + turn) % 20
        found = store.compute({"n": number}, lambda number=number: {"test": number, "long": "x" * 4000})
        assert found["test"] == number
        assert len(found["long"]) == 4000


def test_processes_share_it_while_it_shrinks(tmp_path: Path) -> None:
    other = multiprocessing.get_context("spawn").Process(target=_use, args=(tmp_path, 0))
    other.start()
    wait_until(lambda: list(tmp_path.iterdir()) or not other.is_alive())
    _use(tmp_path, 7)
    other.join()
    assert other.exitcode == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


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
    monkeypatch.setattr(cache, "_LARGEST", 16)
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
