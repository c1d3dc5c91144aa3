"""``privet study rotate``: what must be sent again is said."""

import pytest
from simulated_studies import declaration, privet

from privet.collection.operator.folder import StudyFolder

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_keys_are_added_and_retired(tmp_path):
    privet("study", "new", tmp_path / "study", *declaration(tmp_path), home=tmp_path)
    before = StudyFolder.open(tmp_path / "study")
    nothing = privet("study", "rotate", tmp_path / "study", "tokens", "--retire", home=tmp_path, status=2)
    assert "nothing to retire" in nothing
    assert "send 20 new ones" in privet("study", "rotate", tmp_path / "study", "tokens", home=tmp_path)
    told = privet("study", "rotate", tmp_path / "study", "tokens", "--retire", home=tmp_path)
    assert "20 links must be sent again" in told
    assert "20 of them to people who have not answered" in told
    told = privet("study", "rotate", tmp_path / "study", "operator", home=tmp_path)
    assert "2 keys open" in told
    assert "keys.json" in told
    after = StudyFolder.open(tmp_path / "study")
    assert after.keys.operator[1:] == before.keys.operator
    assert not any(key in told for key in after.keys.operator)
    assert len(after.keys.signing) == 1
    assert after.keys.signing != before.keys.signing
