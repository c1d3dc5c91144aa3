"""``privet study status``: rounds, whom they ask, and what is to come."""

import json

from rehearsed_rounds import add_second_round, first_round, people
from simulated_studies import make_study, privet

from privet.collection.operator.folder import StudyFolder


def test_it_shows_each_round(tmp_path):
    folder = first_round(tmp_path / "study", people())
    store = folder.store()
    said = privet("study", "status", folder.path, home=tmp_path)
    assert "Round 1 (open, until " in said
    assert "their class; 0 of 136 answered (0.0%)." in said
    assert "  40 show their features and class as they are (the panel)" in said
    assert "To come: resemblance; 'privet study next' opens the next round." in said
    second = add_second_round(store)
    store.dispose()
    said = privet("study", "status", folder.path, home=tmp_path)
    assert f"Round 1 (closed, {folder.study.id[:12]}): their class" in said
    assert "the class that they resemble most, of a few; 0 of 80 answered (0.0%)." in said
    assert "  50 are offered 2 classes, by what is public of them" in said
    assert "To come" not in said
    found = json.loads(privet("study", "status", folder.path, "--json", home=tmp_path))
    assert [each["id"] for each in found["rounds"]] == [folder.study.id, second.study.id]
    assert [each["round"] for each in found["screening"]] == [1, 2]
    assert (found["study"], found["to_come"], found["erased"]) == (second.study.id, [], {"by": {}, "days": []})


def test_a_study_of_one_round_is_told_in_one_line(tmp_path):
    folder = StudyFolder.create(tmp_path / "study", make_study(nodes=20, title="Short"))
    said = privet("study", "status", folder.path, home=tmp_path)
    assert said.splitlines()[1] == "0 of 20 answered (0.0%)."
    assert "Screening: Reports were not screened" in said
    assert "Round" not in said
