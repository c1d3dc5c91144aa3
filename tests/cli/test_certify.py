"""``privet certify``: the certificate of a saved model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pytest
from simulated_studies import privet

from privet.systems import Fitted
from privet.systems.certificate import Certificate

CHANCES = np.array([[0.75, 0.25], [np.nan, np.nan], [0.25, 0.75], [0.5, 0.5]], dtype=np.float32)
LIARS = np.array([np.inf, np.nan, 2, 0], dtype=np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of four people, about one of whom nothing is predicted."""
    certificate = Certificate(LIARS, np.array([False, False, True, True]), "false answers")
    Fitted("inquiry", None, CHANCES, certificate=certificate).save(tmp_path / "model")
    return tmp_path / "model"


def test_the_curve_and_what_it_means(model: Path, tmp_path: Path) -> None:
    said = privet("certify", model, "--out", tmp_path / "all.csv", home=tmp_path)
    assert " 66.7% of predictions stand against 1 liar\n" in said
    assert " 33.3% of predictions stand against 3 liars\n" in said
    assert "This holds for the published model" in said
    assert "own lie could turn 66.7%" in " ".join(said.split())
    table = pc.read_csv(tmp_path / "all.csv")
    assert table["certified_liars"].to_pylist() == [np.inf, 2, 0]
    found = json.loads(privet("certify", model, "--json", home=tmp_path))
    assert found["withstands"]["1"] == pytest.approx(2 / 3)
    assert found["most"] is None


def test_a_model_without_a_certificate_is_refused(tmp_path: Path) -> None:
    Fitted("lpgnn", None, CHANCES).save(tmp_path / "other")
    error = privet("certify", tmp_path / "other", home=tmp_path, status=2)
    assert "its system makes none" in error
