"""A study from the users' devices to the store: manifest, participant, collector. The server is the adversary.

Every public name is imported when it is first used, so that a device needs neither torch nor the server's packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.collection.device.client import Collector as Collector
    from privet.collection.device.ledger import Ledger as Ledger
    from privet.collection.device.participant import Participant as Participant
    from privet.collection.device.participant import PrivateAnswers as PrivateAnswers
    from privet.collection.operator.declaration import declare as declare
    from privet.collection.operator.export.answer_files import read_answers as read_answers
    from privet.collection.operator.export.answer_files import write_answers as write_answers
    from privet.collection.operator.folder import StudyFolder as StudyFolder
    from privet.collection.operator.folder import open_reports as open_reports
    from privet.collection.operator.models import TrainedModel as TrainedModel
    from privet.collection.operator.new_study import make_study as make_study
    from privet.collection.operator.received import Received as Received
    from privet.collection.operator.rehearsal import free_port as free_port
    from privet.collection.operator.rehearsal import live_collector as live_collector
    from privet.collection.operator.rehearsal import play_people as play_people
    from privet.collection.operator.rehearsal import start_collector as start_collector
    from privet.collection.operator.results.reading import results_at as results_at
    from privet.collection.operator.results.study_results import StudyResults as StudyResults
    from privet.collection.operator.rounds import next_round as next_round
    from privet.collection.operator.rounds import recompute as recompute
    from privet.collection.operator.training import systems_for as systems_for
    from privet.collection.operator.training import train as train
    from privet.collection.operator.training import train_study as train_study
    from privet.collection.study.manifest import Study as Study
    from privet.collection.study.study_file import StudyFile as StudyFile

_HOME = {
    "Collector": "device.client",
    "Ledger": "device.ledger",
    "Participant": "device.participant",
    "PrivateAnswers": "device.participant",
    "Received": "operator.received",
    "Study": "study.manifest",
    "StudyFile": "study.study_file",
    "StudyFolder": "operator.folder",
    "StudyResults": "operator.results.study_results",
    "TrainedModel": "operator.models",
    "declare": "operator.declaration",
    "free_port": "operator.rehearsal",
    "live_collector": "operator.rehearsal",
    "make_study": "operator.new_study",
    "next_round": "operator.rounds",
    "open_reports": "operator.folder",
    "play_people": "operator.rehearsal",
    "read_answers": "operator.export.answer_files",
    "recompute": "operator.rounds",
    "results_at": "operator.results.reading",
    "start_collector": "operator.rehearsal",
    "systems_for": "operator.training",
    "train": "operator.training",
    "train_study": "operator.training",
    "write_answers": "operator.export.answer_files",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'privet.collection' has no attribute {name!r}")
    found = getattr(import_module(f"privet.collection.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
