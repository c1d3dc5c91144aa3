"""Answers of an export in parts, for systems that never need the feature reports of all people at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.export.partitions import PartitionedAnswers
from privet.collection.study.manifest import Study
from privet.data.store.running import Progress, run_tasks
from privet.errors import InvalidData
from privet.graph.distributed.reports import PartedReports
from privet.mechanisms import AffineFeatures
from privet.mechanisms.core.reports import Reports
from privet.release import Answer, Answers

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ExportedFeatures", "parted_answers"]


@dataclass(frozen=True)
class ExportedFeatures:
    """The feature reports of an export; every part is validated whenever it is read.

    Attributes:
        path: The export's directory; its manifest is not sent to the workers with every task.
        sizes: The number of reports in each part.
    """

    path: Path
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, export: PartitionedAnswers) -> ExportedFeatures:
        """Name the parts of an export."""
        return cls(export.path.absolute(), tuple(part.rows for part in export.manifest.parts))

    def features(self, part: int) -> AffineFeatures:
        """Read one part and estimate its features."""
        study, answers = PartitionedAnswers.open(self.path).read(part)
        estimate: AffineFeatures = study.release.question("features").mechanism.estimate(answers["features"].reports)
        return estimate


def parted_answers(
    export: PartitionedAnswers, client: Client | None = None, progress: Progress | None = None
) -> tuple[Study, Answers]:
    """Read who answered and the answers of one symbol a person; feature reports stay in their parts.

    Every part is read and validated by a worker. This process gets ids and short answers, such as randomised labels,
    and never a feature report.

    Args:
        client: A Dask client whose workers read; this process by default.
        progress: Called with the phase, the number of finished parts and the number of all of them.
    """
    study = export.study()
    for question in study.release.questions:
        if question.name != "features" and question.mechanism.shape.columns[0].count != 1:
            raise InvalidData(f"Answers to {question.name!r} are not read in parts; read the export at once.")
    task = partial(_short, export.path.absolute())
    found = run_tasks(task, range(export.num_parts), client, progress, "reading reports")
    users = np.concatenate([answers.users for answers in found])
    parts: dict[str, Answer] = {}
    for question in study.release.questions:
        reports: Any
        if question.name == "features":
            reports = PartedReports(ExportedFeatures.of(export))
        else:
            symbols = [answers.parts[question.name] for answers in found]
            reports = Reports(symbols[0].dimension, np.concatenate([each.symbols for each in symbols]))
        parts[question.name] = Answer(users, reports)
    return study, Answers(study.release, parts)


@dataclass(frozen=True, eq=False)
class _Short:
    users: NDArray[np.int64]
    parts: dict[str, Reports]


def _short(path: Path, part: int) -> _Short:
    _, answers = PartitionedAnswers.open(path).read(part)
    return _Short(answers.users, {name: each.reports for name, each in answers.items() if name != "features"})
