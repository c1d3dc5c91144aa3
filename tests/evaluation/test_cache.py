from __future__ import annotations

from pathlib import Path

import pytest

from privet.errors import InvalidData
from privet.evaluation.cache import Store, canonical


def test_a_finished_figure_is_not_computed_twice(tmp_path: Path) -> None:
    store, calls = Store(tmp_path / "results"), []

    def work() -> dict[str, float]:
        calls.append(1)
        return {"test": 0.5}

    key = {"system": "lpgnn", "settings": {"hops": 4, "epsilon": 1.0}}
    assert store.get(key) is None
    assert store.compute(key, work) == store.compute(dict(reversed(key.items())), work) == {"test": 0.5}
    assert len(calls) == 1
    store.compute({**key, "seed": 1}, work)
    assert len(calls) == 2


def test_an_interrupted_figure_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupted() -> dict[str, float]:
        raise KeyboardInterrupt

    store = Store(tmp_path / "results")
    with pytest.raises(KeyboardInterrupt):
        store.compute({"a": 1}, interrupted)
    assert not (tmp_path / "results").exists()


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.compute({"a": 1}, lambda: {"test": 1.0})
    next(tmp_path.iterdir()).write_text("not json")
    with pytest.raises(InvalidData, match="written by privet"):
        store.get({"a": 1})


def test_figures_may_be_kept_in_memory_and_infinity_has_a_name() -> None:
    store = Store(None)
    assert store.compute({"a": 1}, lambda: {"test": 0.5}) == store.get({"a": 1}) == {"test": 0.5}
    assert canonical({"clip": float("inf"), "hops": 2}) == {"clip": "inf", "hops": 2}
