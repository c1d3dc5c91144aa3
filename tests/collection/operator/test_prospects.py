"""What so many people can tell at a budget, before anybody is asked."""

import math
import os

import pytest
from simulated_studies import declaration, make_study, two_rounds

from privet.collection.operator.new_study import unnamed
from privet.collection.operator.preview import preview_of
from privet.collection.operator.prospects import prospects, prospects_in_words
from privet.collection.study.study_file import StudyFile
from privet.data import Categories, Schema


@pytest.mark.parametrize(("epsilon", "nodes"), [(0.5, 60), (1.0, 2000), (4.0, 500)])
def test_a_class_is_as_exact_as_randomised_response_allows(epsilon, nodes):
    """as_open = N spread / (spread + noise), and the noise of randomised response has a closed form."""
    study = make_study(labels={"epsilon": epsilon}, nodes=nodes)
    keep = math.exp(epsilon) / (math.exp(epsilon) + 2)
    flip = (1 - keep) / 2
    noise = (keep * (1 - keep) + 2 * flip * (1 - flip)) / (keep - flip) ** 2
    (found,) = (each for each in prospects(study) if each.scale.shares)
    assert found.as_open == pytest.approx(nodes * (2 / 3) / (2 / 3 + noise), rel=0.05)
    assert found.margin == pytest.approx(196 * math.sqrt(2 / 9 / found.as_open))


def test_few_people_are_told_that_they_teach_nothing():
    few, many = make_study(nodes=60), make_study(nodes=200_000, features={"mechanism": "multi-bit", "epsilon": 1.5})
    told = list(prospects_in_words(few))
    assert told[0] == "If all 60 people answer, chance leaves this much (95 % confidence):"
    assert told[-1].startswith("Every question tells less than 30 people asked openly, which is next to nothing")
    assert "person" in told[1] or "people" in told[1]
    assert len(told) == 7  # four questions, and one line for the others
    assert not any("next to nothing" in line for line in prospects_in_words(many))


def test_what_tables_decide_is_not_foretold():
    assert prospects(two_rounds()[1]) != []
    plain = make_study(features={"mechanism": "hds", "epsilon": 1.0}, labels=None)
    assert len(prospects(plain)) == 6


def test_what_participants_would_read_as_a_number_is_warned_of():
    named = Schema((Categories(2, ("no", "yes")),), 2, class_names=("a", "b"))
    assert unnamed(make_study(schema=named, questions=["Do you?"])) == []
    told = unnamed(make_study(schema=Schema((Categories(2),), 2)))
    assert ['"Feature 0"' in told[0], "between numbers" in told[1], '"Class 0"' in told[2]] == [True] * 3


def test_a_preview_is_open_now_and_leaves_nothing(tmp_path, monkeypatch):
    path = declaration(tmp_path)
    path.write_text('language = "de"\n' + path.read_text() + "schedule = { opens = 2100-01-01T00:00:00Z }\n")
    secret = "postgresql://nobody@nowhere.invalid/study"  # that of a study which runs on this machine
    monkeypatch.setenv("PRIVET_STORE", secret)
    with preview_of(path, StudyFile.read(path)) as shown:
        study = shown.folder.study
        assert study.opens.year < 2100
        assert shown.folder.database == shown.folder.path / "reports.sqlite"
        ((who, link),) = shown.links()
        assert (who, link.endswith("&lang=de")) == ("A participant's page", True)
        assert link.startswith(f"#study={study.id}&token=")
    assert os.environ["PRIVET_STORE"] == secret
    assert not shown.folder.path.exists()
    assert not (tmp_path / "habits").exists()
