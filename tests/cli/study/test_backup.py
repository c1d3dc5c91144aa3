"""``privet study backup``: a file with or without keys."""

import pytest
from simulated_studies import declaration, privet

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_it_says_what_is_in_the_file(tmp_path):
    privet("study", "new", tmp_path / "study", *declaration(tmp_path), home=tmp_path)
    printed = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", home=tmp_path)
    assert "Wrote 0 reports" in printed
    assert "no keys" in printed
    secret = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "b", "--with-keys", home=tmp_path)
    assert "the keys, which makes it a secret" in secret
    error = privet("study", "backup", tmp_path / "study", "--out", tmp_path / "no" / "b", home=tmp_path, status=2)
    assert error.count("\n") == 1
