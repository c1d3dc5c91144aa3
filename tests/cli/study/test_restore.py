"""``privet study restore``: a study from a file, and one sentence where that cannot be."""

import json

import pytest
from simulated_studies import declaration, privet

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_a_study_comes_back_and_links_are_spoken_of(tmp_path):
    privet("study", "new", tmp_path / "study", *declaration(tmp_path), home=tmp_path)
    privet("study", "close", tmp_path / "study", home=tmp_path)
    privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", home=tmp_path)
    printed = privet("study", "restore", tmp_path / "b", tmp_path / "new", home=tmp_path)
    assert "Restored 0 reports of 'Habits'" in printed
    assert "20 links must be sent again" in printed
    assert "The backup is less than an hour old." in printed
    assert "Erasures, revocations and key rotations since then are not in it and must be repeated" in printed
    assert json.loads(privet("study", "status", tmp_path / "new", "--json", home=tmp_path))["open"] is False
    for file, place, expected in (("b", "new", "not empty"), ("schema.json", "x", "no whole backup")):
        error = privet("study", "restore", tmp_path / file, tmp_path / place, home=tmp_path, status=2)
        assert expected in error
        assert error.count("\n") == 1
