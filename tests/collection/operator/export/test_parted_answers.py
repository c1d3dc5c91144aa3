"""Answers of an export in parts: those of the whole, without a feature report in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from simulated_studies import make_study

from privet.collection.operator.export.parted_answers import ExportedFeatures, parted_answers
from privet.collection.operator.export.partitions import PartitionedAnswers, export_partitions
from privet.collection.operator.folder import StudyFolder
from privet.errors import InvalidData
from privet.graph.distributed.reports import PartedReports
from privet.mechanisms import SeededBits
from privet.release import PrivateData


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> PartitionedAnswers:
    folder = tmp_path_factory.mktemp("export")
    study = make_study(nodes=90)
    rng = np.random.default_rng(0)
    users = np.setdiff1d(np.arange(5, 90, 2), np.arange(30, 60))  # nobody of the second part answered
    private = PrivateData(users, rng.uniform(0, 10, (len(users), 6)), rng.integers(0, 3, len(users)))
    made = StudyFolder.create(folder / "study", study)
    store = made.store()
    store.insert(users.tolist(), study.release.wire.pack(study.release.perturb(private, SeededBits(0))))
    store.dispose()
    return export_partitions(made, folder / "parts", 3)


def test_they_are_those_of_the_whole(export: PartitionedAnswers) -> None:
    expected_study, expected = export.answers()
    study, found = parted_answers(export)
    assert study.id == export.study().id == expected_study.id
    assert np.array_equal(found.users, expected.users)
    assert found["label"].reports == expected["label"].reports
    reports = found["features"].reports
    assert isinstance(reports, PartedReports)
    assert len(reports) == len(expected.users)
    features = ExportedFeatures.of(export)
    assert features.sizes[1] == 0
    blocks = [features.features(part).dense() for part in range(3)]
    mechanism = study.release.question("features").mechanism
    assert np.array_equal(np.concatenate(blocks), mechanism.estimate(expected["features"].reports).dense())


def test_a_damaged_part_is_named(export: PartitionedAnswers, tmp_path: Path) -> None:
    import shutil

    copy = shutil.copytree(export.path, tmp_path / "copy")
    name = export.manifest.parts[2].file.name
    (copy / name).write_bytes((copy / name).read_bytes()[:-1])
    with pytest.raises(InvalidData, match=name):
        parted_answers(PartitionedAnswers.open(copy))
