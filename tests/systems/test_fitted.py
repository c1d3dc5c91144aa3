from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file

from privet.errors import InvalidData, PrivetError
from privet.privacy import Guarantee, Unit
from privet.systems import Fitted


@pytest.fixture
def fitted() -> Fitted:
    rng = np.random.default_rng(0)
    return Fitted(
        "lpgnn",
        Guarantee.local(Unit.FEATURES, 1.0, unprotected=("that the user took part",)),
        rng.random((5, 3)).astype(np.float32),
        embedding=rng.random((5, 2)).astype(np.float32),
        settings={"hops": 4, "epsilon_features": 1.0},
        weights={"layer.weight": rng.random((2, 2)).astype(np.float32)},
        best_epoch=7,
        validation_score=0.5,
    )


def test_predictions(fitted: Fitted) -> None:
    assert fitted.predict().tolist() == fitted.predict_proba().argmax(axis=1).tolist()
    everywhere = np.ones(5, dtype=bool)
    assert fitted.score(fitted.predict(), everywhere) == 1.0
    assert fitted.score(fitted.predict() + 1, everywhere) == 0.0


def test_save_and_load(fitted: Fitted, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    again = Fitted.load(tmp_path / "model")
    for name in ("system", "guarantee", "settings", "best_epoch", "validation_score"):
        assert getattr(again, name) == getattr(fitted, name)
    assert (again.probabilities == fitted.probabilities).all()
    assert (again.embedding == fitted.embedding).all()
    assert (again.weights["layer.weight"] == fitted.weights["layer.weight"]).all()
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "arrays.safetensors",
        "fitted.json",
        "privacy.yaml",
    ]


def test_predictions_that_were_not_made_do_not_exist_in_the_file(fitted: Fitted, tmp_path: Path) -> None:
    rows = fitted.probabilities.copy()
    rows[[1, 3]] = np.nan
    some = replace(fitted, probabilities=rows)
    assert some.predict()[[1, 3]].tolist() == [-1, -1]
    some.save(tmp_path / "model")
    assert load_file(tmp_path / "model" / "arrays.safetensors")["probabilities"].shape == (3, 3)
    np.testing.assert_array_equal(Fitted.load(tmp_path / "model").probabilities, rows)
    assert some.predictions()["node"].to_pylist() == [0, 2, 4]
    assert some.predictions(np.array([1]), ("a", "b", "c"))["class_name"].to_pylist() == [None]


def test_nodes_without_a_label_are_not_scored(fitted: Fitted) -> None:
    labels = fitted.predict()
    labels[0] = -1
    assert fitted.score(labels, np.ones(5, dtype=bool)) == 1.0


def test_what_is_said_about_people_is_for_the_owner_alone(fitted: Fitted, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    fitted.write_predictions(tmp_path / "classes.csv")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("model", "classes.csv")]
    assert modes == [0o700, 0o600]


def test_a_failed_save_leaves_nothing_behind(fitted: Fitted, tmp_path: Path) -> None:
    broken = Fitted("x", None, fitted.probabilities, settings={"bad": object()})
    with pytest.raises(TypeError):
        broken.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    with pytest.raises(PrivetError, match="new or empty"):
        fitted.save(tmp_path / "full")


def test_other_directories_are_refused(tmp_path: Path, fitted: Fitted) -> None:
    with pytest.raises(InvalidData, match="no model's directory"):
        Fitted.load(tmp_path / "nowhere")
    fitted.save(tmp_path / "model")
    (tmp_path / "model" / "fitted.json").write_text('{"format": "other"}')
    with pytest.raises(InvalidData, match="of the format"):
        Fitted.load(tmp_path / "model")
    (tmp_path / "model" / "arrays.safetensors").write_bytes(b"\0" * 20)
    with pytest.raises(InvalidData, match="is damaged"):
        Fitted.load(tmp_path / "model")


def test_an_embedding_is_written_as_parquet(fitted: Fitted, tmp_path: Path) -> None:
    fitted.save_embedding(tmp_path / "z.parquet")
    table = pq.read_table(tmp_path / "z.parquet")
    assert table.column_names == ["node", "z0", "z1"]
    assert table["z1"].to_pylist() == pytest.approx(fitted.embedding[:, 1].tolist())
    with pytest.raises(InvalidData, match="no embedding to save"):
        Fitted("x", None, fitted.probabilities).save_embedding(tmp_path / "none.parquet")
