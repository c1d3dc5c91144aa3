"""The collector is killed under load: what was acknowledged is stored exactly once and unaltered.

Twenty kills under 50,000 participants are ``python -m benchmarks collection_faults``; this is the same game, smaller.
"""

import pytest
from simulated_studies import store_place

from benchmarks.collection_faults import play, play_rounds


@pytest.mark.parametrize(("kind", "collectors"), [("sqlite", 1), ("postgresql", 2)])
def test_nothing_acknowledged_is_lost(kind, collectors, tmp_path):
    place = store_place(kind, tmp_path)
    result = play(participants=600, kills=2, url=None if kind == "sqlite" else place, collectors=collectors)
    assert (result["kills"], result["acknowledged"], result["stored"]) == (2, 600, 600)
    assert (result["lost"], result["altered"], result["twice"]) == (0, 0, 0)
    assert (result["backups"], result["missing_from_backups"], result["restored_otherwise"]) == (2, 0, 0)
    assert result["broken_connections"] > 0
    # A kill between the record and its answer makes a liar ask again, so there may be more records than answers.
    assert result["different_second_reports_recorded"] >= result["different_second_reports_refused"] > 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_in_two_rounds(kind, tmp_path):
    place = store_place(kind, tmp_path)
    result = play_rounds(people=240, kills=1, url=None if kind == "sqlite" else place)
    assert result["kills"] == 2
    assert result["acknowledged"] == result["stored"] > 240
    assert (result["lost"], result["altered"], result["twice"]) == (0, 0, 0)
    assert (result["backups"], result["missing_from_backups"], result["restored_otherwise"]) == (2, 0, 0)
