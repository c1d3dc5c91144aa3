"""Training from a study's directory or an export, as Python calls it."""

import pytest
from rehearsed_rounds import first_round, people
from simulated_studies import make_study, simulated

from privet.collection import StudyFolder, train_study, write_answers
from privet.collection.operator.training import open_received
from privet.errors import InvalidData, InvalidParameter


@pytest.fixture
def folder(tmp_path):
    study = make_study(nodes=20)
    made, answers = StudyFolder.create(tmp_path / "study", study), simulated(study, 0, count=8)
    store = made.store()
    store.insert(answers.users.tolist(), study.release.wire.pack(answers))
    store.forget(int(answers.users[0]), "operator")
    store.dispose()
    write_answers(tmp_path / "reports.parquet", study, answers, erasures=3)
    return made


def test_a_directory_and_an_export_are_read_alike(folder, tmp_path):
    at, exported = open_received(folder.path), open_received(tmp_path / "reports.parquet")
    assert at.chain == exported.chain
    assert (len(at.answers.users), at.erasures, len(at.erased)) == (7, 1, 1)
    assert (len(exported.answers.users), exported.erasures, exported.erased) == (8, 3, ())


def test_a_system_must_be_named_and_fit(folder):
    with pytest.raises(InvalidData, match="Choose one that can learn from it: lpgnn"):
        train_study(folder.path)
    with pytest.raises(InvalidData, match="no system of the local model"):
        train_study(folder.path, "heterpoisson")
    with pytest.raises(InvalidParameter, match="hop must be a setting of lpgnn"):
        train_study(folder.path, "lpgnn", settings={"hop": 1})
    with pytest.raises(InvalidData, match="not of the one that was asked for"):
        train_study(folder.path, "lpgnn", study_id="0" * 64)


def test_a_plan_binds_system_and_settings(tmp_path):
    path = first_round(tmp_path / "rounds", people()).path
    with pytest.raises(InvalidData, match="names inquiry"):
        train_study(path, "lpgnn")
    with pytest.raises(InvalidData, match="binds the settings of inquiry"):
        train_study(path, settings={"cap": 3})
