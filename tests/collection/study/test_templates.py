"""Real studies to begin with: each file is valid as it is, and its answers tell what it promises."""

import numpy as np
import pytest
import scipy.sparse as sp

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.new_study import make_study
from privet.collection.study.study_file import StudyFile, template, templates
from privet.data import code_answers
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.release import PrivateData

ANSWERS = {
    "commuting": ["by car", "yes", "partly", "up to an hour", "no"],
    "sleep": [7.5, 9.0, 2.0, "somewhat"],
    "workplace": ["too much", "yes", 3.0, ["better pay", "training"], None],
}


@pytest.fixture
def made(tmp_path):
    def make(name, people):
        (tmp_path / f"{name}.toml").write_text(template(name))
        file = StudyFile.read(tmp_path / f"{name}.toml", {"people.nodes": people})
        return make_study(file, tmp_path / name)

    return make


def test_there_are_three_and_each_says_what_it_is():
    assert list(templates()) == list(ANSWERS)
    assert all(sentence.endswith(".") for sentence in templates().values())
    with pytest.raises(InvalidParameter, match="template must be blank, commuting, sleep or workplace, not hats"):
        template("hats")


@pytest.mark.parametrize("name", ANSWERS)
def test_people_who_answer_alike_are_told_so(made, name):
    """Everybody gives one answer, so its share, or the mean, is known; each interval is doubled (see the journeys)."""
    folder = made(name, 400)
    study, people = folder.study, np.arange(400)
    assert study.publish_results
    row = code_answers(study.declared, ANSWERS[name])
    ring = sp.csr_array((np.ones(400, dtype=np.float32), (people, np.roll(people, 1))), shape=(400, 400))
    private = PrivateData(people, np.tile(np.array(row, dtype=float), (400, 1)), people % 2, ring)
    reports = study.release.perturb(private, SeededBits(1))
    with folder.store() as store:
        store.insert(people.tolist(), study.release.wire.pack(reports))
    results = StudyFolder.open(folder.path).results(by="class")
    assert (results.answered, results.asked) == (400, 400)
    assert results.groups
    for found in results.questions:
        if found.key.isdecimal():
            code = row[int(found.key) - 1]
            scale, estimates = found.finding.scale, found.finding.estimates
            truth = np.eye(len(scale.names))[int(code)] if scale.shares else [code]
            if scale.names and not scale.shares:
                truth = [int(code) >> choice & 1 for choice in range(len(scale.names))]
            for each, value in zip(estimates, truth, strict=True):
                slack = (each.high - each.low) / 2
                assert each.low - slack <= value <= each.high + slack, found.words
