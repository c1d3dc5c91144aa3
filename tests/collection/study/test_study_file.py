"""A study's file: all problems at once, each with its line, and the words of what is wrong."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from simulated_studies import HABITS

from privet.collection.server.http import web
from privet.collection.study.sections import Declaration
from privet.collection.study.study_file import InvalidStudyFile, StudyFile, _kinds, template
from privet.data import Categories, Interval
from privet.errors import InvalidData

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def read(tmp_path, text, **changes):
    (tmp_path / "study.toml").write_text(text)
    return StudyFile.read(tmp_path / "study.toml", changes.get("changes"))


def problems(tmp_path, text, **changes):
    with pytest.raises(InvalidStudyFile) as error:
        read(tmp_path, text, **changes)
    return list(error.value.problems)


def test_all_problems_are_told_at_once_with_their_lines(tmp_path):
    text = """tittle = "x"
purpose = ""
version = "one"

[operator]
name = "A"
contact = "B"
kontact = "C"

[people]
nodes = 1

[[questions]]
low = 3
high = 2

[[questions]]
ask = "..."
answers = ["one"]

[class]
answers = 1

[budgets]
features = -1
speed = 9

[schedule]
days = 3
closes = 2026-03-01T00:00:00Z
"""
    assert problems(tmp_path, text) == [
        "study.toml: title is missing.",
        "study.toml, line 1: tittle is no key of a study's file: did you mean title?",
        "study.toml, line 2: purpose must have at least 1 character.",
        "study.toml, line 3: version must be a whole number, not one.",
        "study.toml, line 8: operator.kontact is no key of a study's file: did you mean contact?",
        "study.toml, line 11: people.nodes must be at least 2, not 1.",
        "study.toml, line 13: questions.0 must have a low below its high, not 3 and 2.",
        "study.toml, line 18: questions.1.ask is still to be filled in.",
        "study.toml, line 19: questions.1.answers must be a list of at least two different texts, or their number.",
        "study.toml, line 22: class.answers must be a list of at least two different texts, or their number.",
        "study.toml, line 25: budgets.features must be above 0, not -1.",
        "study.toml, line 26: budgets.speed is no key of a study's file: "
        "there are features, labels, edges, person, delta, high_cost.",
        "study.toml, line 28: schedule has days and closes, which say the same thing; keep one of them.",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"class": None, "budgets.labels": 1}, "budgets.labels needs a [class]"),
        ({"questions.1.ask": None}, "questions.1 has no words"),
        ({"budgets": {}}, "budgets asks for nothing"),
        ({"public.labels": "labels.csv"}, "public.labels is for studies with a [system]"),
        ({"people": {}}, "people needs nodes"),
        ({"questions": []}, "questions is empty"),
        (
            {"people": {"nodes": 20, "panel": 1.5}, "system": {"name": "inquiry"}},
            "a share of people above 0 and below 1",
        ),
        ({"schedule.opens": datetime(2026, 3, 1)}, "a time with its zone"),
        ({"schedule.delete_after": 0}, 'a number of days from 1 to 36600, or "never"'),
        ({"operator": "me"}, "operator must be a table, not me."),
        ({"questions.0.ordered": True}, "ordered is for answers"),
        ({"title": "two\nlines"}, "title must be one line of printable characters"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, changes, words):
    (found,) = problems(tmp_path, HABITS, changes=changes)
    assert words in found
    assert found.startswith("--set ") or "questions" in found


def test_a_file_that_is_no_toml_has_its_line_too(tmp_path):
    (found,) = problems(tmp_path, "title = 3\npurpose = \n")
    assert "study.toml is no TOML: " in found
    assert "line 2" in found
    with pytest.raises(InvalidData, match="'privet study template' writes one"):
        StudyFile.read(tmp_path / "none.toml")


def test_it_says_what_the_manifest_needs(tmp_path):
    more = "\n[[more]]\n"
    text = HABITS.replace(
        "questions = [", 'questions = [\n    { ask = "Interest", answers = ["no", "yes"], repeat = 2 },'
    )
    found = read(tmp_path, text).declaration
    assert found.declared.features[1:3] == (Categories.of(["no", "yes"]), Interval(0, 10))
    document = found.document(NOW)
    assert document["questions"][:3] == ["Interest (1)", "Interest (2)", "Hours of sleep"]
    assert (document["opens"], document["closes"]) == ("2026-03-01T00:00:00+00:00", "2026-03-31T00:00:00+00:00")
    assert (document["delete_after"], found.declared.private_edges, found.declared.classes) == (90, False, 2)
    assert problems(tmp_path, HABITS + more)


def test_a_changed_file_is_written_anew_and_reads_the_same(tmp_path):
    changes = {
        "budgets.edges": 1e-7,
        "title": 'A "title" \\ with é',
        "system": {"name": "inquiry", "settings": {"pilot": 0.1, "some": [1, True, "x"]}},
        "schedule": {"opens": NOW, "later_rounds": 7},
    }
    made = read(tmp_path, HABITS, changes=changes)
    assert read(tmp_path, made.text).declaration == made.declaration
    assert read(tmp_path, HABITS).text == HABITS


def test_the_template_names_every_key():
    known = template()
    for name, field in Declaration.model_fields.items():
        assert re.search(rf"^(# )?\[*{field.alias or name}\b", known, re.MULTILINE), name
        for section in _kinds(field.annotation):
            for inner in section.model_fields:
                assert re.search(rf"^(# )?{inner} = ", known, re.MULTILINE), inner


def test_languages_are_those_of_the_page():
    texts = (Path(web.__path__[0]) / "texts" / "texts.js").read_text()
    (listed,) = re.findall(r"LANGUAGES = \{(.*?)\}", texts)
    codes = re.findall(r"(\w+):", listed)
    assert codes == list(Declaration.model_fields["language"].annotation.__args__[0].__args__)
