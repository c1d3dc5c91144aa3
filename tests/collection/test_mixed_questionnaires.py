"""Mixed questionnaires from the study's file to results and a model; combinations that would be wrong are refused."""

import numpy as np
import pytest

from privet.collection import StudyFile
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.new_study import draw_up, make_study
from privet.collection.operator.training import systems_for
from privet.collection.study.manifest import Study
from privet.collection.study.study_file import InvalidStudyFile
from privet.data import code_answers
from privet.mechanisms import SeededBits
from privet.release import PrivateData

MIXED = """
title = "At work"
purpose = "To be tested."
operator = { name = "Works council", contact = "council@example.org" }
people = { nodes = 3000 }
budgets = { features = 4.0 }
mechanism = { name = "mixed-response", sample = 2 }

[[questions]]
ask = "How do you get to work?"
answers = ["on foot", "by bus", "by car"]
skip = true
[[questions]]
ask = "How far do you drive?"
low = 0
high = 60
only_if = { question = 1, answers = ["by car"] }
skip = true
[[questions]]
ask = "What would help you?"
answers = ["a bus", "a shower", "a canteen"]
several = true
[[questions]]
ask = "Do you work at night?"
answers = ["no", "yes"]
"""


def read(place, text=MIXED, **changes):
    (place / "work.toml").write_text(text)
    return StudyFile.read(place / "work.toml", changes)


def answers(study: Study) -> np.ndarray:
    """Everybody's coded answers: half drive, a tenth of all says nothing about it, a fifth of drivers not how far."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(study.nodes):
        way = rng.choice(["on foot", "by bus", "by car", None], p=[0.2, 0.2, 0.5, 0.1])
        far = None if rng.random() < 0.2 else float(rng.integers(10, 31))
        helps = [each for each, share in (("a bus", 0.6), ("a shower", 0.1)) if rng.random() < share]
        rows.append(code_answers(study.declared, [way, far, helps, "yes" if rng.random() < 0.3 else "no"]))
    return np.array(rows, dtype=float)


def test_results_tell_every_kind_of_question(tmp_path):
    study = make_study(read(tmp_path), tmp_path / "study").study
    assert Study.from_bytes(study.canonical()) == study
    assert study.allowed(1) == (
        "a number from 0 to 60, or nothing (prefer not to say); only if the answer to 'How do you get to work?' is "
        "by car"
    )
    values = answers(study)
    reports = study.release.perturb(PrivateData(np.arange(study.nodes), values), SeededBits(0))
    folder = StudyFolder.open(tmp_path / "study")
    with folder.store() as store:
        store.insert(list(range(study.nodes)), study.release.wire.pack(reports))
    found = {each.key: each.finding for each in folder.results().questions}
    assert list(found) == ["1", "2", "2-own", "3", "4"]
    driven = values[values[:, 1] <= 60, 1]
    own = [len(driven), (values[:, 1] == 61).sum(), (values[:, 1] == 62).sum()]
    truths = {
        "1": np.bincount(values[:, 0].astype(int)) / study.nodes,
        "2": [driven.mean()],
        "2-own": np.array(own) / study.nodes,
        "3": [(values[:, 2].astype(int) >> choice & 1).mean() for choice in range(3)],
        "4": np.bincount(values[:, 3].astype(int)) / study.nodes,
    }
    for key, truth in truths.items():
        assert found[key].told, key
        for each, value in zip(found[key].estimates, truth, strict=True):
            slack = (each.high - each.low) / 2  # twice the interval misses one of 13 with a chance below 0.002
            assert each.low - slack <= value <= each.high + slack, key
    assert found["1"].scale.names == ("on foot", "by bus", "by car", "prefer not to say")


@pytest.mark.parametrize("mechanism", ["multi-bit", "piecewise", "laplace", "sampled-response"])
def test_a_mechanism_that_would_read_them_as_something_else_is_refused(tmp_path, mechanism):
    with pytest.raises(InvalidStudyFile, match="gives no valid study"):
        draw_up(read(tmp_path, **{"mechanism.name": mechanism}))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("several = true", "is about a number; several is for answers"),
        ("only_if = { question = 2, answers = [1] }", "must name an earlier question with answers"),
        ("only_if = { question = 1, answers = ['by boat'] }", "names the answer 'by boat', which question 1 does not"),
    ],
)
def test_conditions_and_choices_that_make_no_sense_are_refused(tmp_path, line, sentence):
    text = MIXED.replace('only_if = { question = 1, answers = ["by car"] }', line)
    with pytest.raises(InvalidStudyFile, match=sentence):
        read(tmp_path, text)


def test_a_panel_cannot_show_a_mixed_questionnaire(tmp_path):
    study = draw_up(read(tmp_path)).study
    document = study.model_dump(mode="json", by_alias=True) | {"panel": "sha256:" + 64 * "0"}
    with pytest.raises(Exception, match="need the mechanism mixed-response and no panel"):
        Study.read(document)


def test_systems_say_whether_they_learn_from_it(tmp_path):
    assert systems_for(draw_up(read(tmp_path)).study) == ["lpgnn"]
