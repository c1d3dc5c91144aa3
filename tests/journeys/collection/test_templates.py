"""Real studies to begin with, played by a few people at a real collector, from the file to the published results."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest
from patience import wait_until

from privet.collection import Collector, Ledger, Participant, PrivateAnswers, StudyFile, StudyFolder, make_study
from privet.collection.device.client import Invited
from privet.collection.device.preparation import prepare
from privet.collection.operator.rehearsal import live_collector
from privet.collection.study.study_file import template

ANSWERS = {
    "commuting": (["by car", "yes", "partly", "up to an hour", "no"], "in a village", []),
    "sleep": ([7.5, 9.0, 2.0, "somewhat"], "late", [1, 3]),
    "workplace": (["too much", "yes", 3.0, ["better pay", "training"], None], "no", []),
}


def takes_part(folder: StudyFolder, address: str, node: int, answers: PrivateAnswers) -> str:
    """Play one device, which knows an address, an id and a token."""
    collector, token = Collector(address, attempts=8), folder.tokens.issue(node)
    device = Participant(Ledger(":memory:"))
    study = device.check(collector.manifest(folder.study.id), folder.study.id)
    prepared = prepare(study, node, Invited(collector, token))
    device.agree(study, shows=False)
    outcome = device.deliver(device.answer(study, node, answers, prepared=prepared), collector, token)
    device.ledger.close()
    return outcome


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(f"{address}/results") as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("name", ANSWERS)
def test_a_template_is_played_end_to_end(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.toml").write_text(template(name))
    file = StudyFile.read(tmp_path / f"{name}.toml", {"people.nodes": 12})
    folder = make_study(file, tmp_path / name)
    features, label, neighbours = ANSWERS[name]
    with live_collector(folder) as address:
        for node in (0, 2, 4, 5, 8):
            assert takes_part(folder, address, node, PrivateAnswers(features, label, neighbours)) == "stored"
        assert status(address) == 404
        results = folder.results()
        assert (results.answered, results.asked) == (5, 12)
        assert [each.words for each in results.questions if each.key.isdecimal()] == list(folder.study.questions or ())
        with folder.newest() as store:
            store.close()
        wait_until(lambda: status(address) == 200)
        with urllib.request.urlopen(f"{address}/results") as response:
            page = response.read().decode()
        assert "All figures are about people like the 5 who answered." in page
