"""Studies in a directory that simulated people have answered, without HTTP."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.new_study import make_study
from privet.collection.study.study_file import StudyFile
from privet.mechanisms import SeededBits
from privet.release import PrivateData

__all__ = ["COMMUTING", "answered", "answers_of"]

COMMUTING = """
title = "Commuting <in> our town"
purpose = "Where buses are missing."
operator = { name = "Planning office", contact = "planning@example.org" }
people = { nodes = 400 }
questions = [
    { ask = "How do you get to work?", answers = ["on foot", "by bus", "by car"] },
    { ask = "Do you own a bicycle?", answers = ["no", "yes"] },
]
class = { ask = "Where do you live?", answers = ["town", "village"] }
budgets = { features = 2.0, labels = 2.0 }
mechanism = { name = "sampled-response", sample = 1 }
"""


def answers_of(nodes: int, seed: int = 0) -> PrivateData:
    """Draw everybody's true answers: villagers drive, and who is linked lives in one place more often."""
    rng = np.random.default_rng(seed)
    classes = rng.choice(2, size=nodes, p=(0.6, 0.4))
    ways = np.array([[0.5, 0.4, 0.1], [0.05, 0.15, 0.8]])
    features = np.stack([(ways.cumsum(axis=1)[classes] < rng.random(nodes)[:, None]).sum(axis=1), classes], axis=1)
    chance = np.where(classes[:, None] == classes[None], 0.03, 0.005)
    upper = np.triu(rng.random((nodes, nodes)) < chance, 1)
    lists = sp.csr_array((upper | upper.T).astype(np.float32))
    return PrivateData(np.arange(nodes), features.astype(np.float64), classes, lists)


def answered(place: Path, people: int = 300, declaration: str = COMMUTING, seed: int = 0) -> StudyFolder:
    """Make a study in a directory, to which some people have reported.

    Args:
        place: An existing directory.
        people: How many of the people answer.
        declaration: The study's file.
        seed: The seed of the people and of their devices.
    """
    file = place / "study.toml"
    file.write_text(declaration)
    folder = make_study(StudyFile.read(file), place / "study")
    study = folder.study
    who = np.sort(np.random.default_rng(seed).permutation(study.nodes)[:people])
    answers = study.release.perturb(answers_of(study.nodes, seed).take(who), SeededBits(seed))
    with folder.store() as store:
        store.insert(who.tolist(), study.release.wire.pack(answers))
    return folder
