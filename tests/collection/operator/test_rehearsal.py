"""A rehearsal: only the people are played."""

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.operator.folder import StudyFolder, open_reports
from privet.collection.operator.rehearsal import free_port, live_collector, play_people, start_collector
from privet.data import social_graph
from privet.errors import InvalidData, PrivetError


def test_people_report_once_each_over_http(tmp_path):
    graph = social_graph(30, classes=3, features=6, seed=0)
    folder = StudyFolder.create(tmp_path / "study", make_study(nodes=30, schema=graph.schema))
    people, done = np.array([3, 7, 20]), []
    with live_collector(folder) as address:
        assert play_people(folder, address, graph, people, done=lambda: done.append(1)) == ["stored"] * 3
        with pytest.raises(InvalidData, match="with features"):
            play_people(folder, address, graph.replace(features=None), people)
    assert open_reports(folder.path)[1].users.tolist() == people.tolist()
    assert len(done) == 3


def test_a_collector_that_does_not_start_says_why(folder):
    (folder.path / "keys.json").unlink()
    with pytest.raises(PrivetError, match=r"did not start: .*a study's directory"):
        start_collector(folder, free_port())
