"""Results of studies: from a directory, an export and a public record, for everybody and by group."""

import csv
import json

import numpy as np
import pytest
from answered_studies import COMMUTING, answered, answers_of
from rehearsed_rounds import ASKED, PANEL, add_second_round, first_round, offers, people

from privet.collection import results_at, write_answers
from privet.collection.operator.export.public_record import write_record
from privet.collection.operator.results.sources import RoundReports
from privet.collection.operator.results.study_results import results_of
from privet.collection.study.forms import OpenData, OpenForm
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.release import LocalRelease, PrivateData

LISTS = COMMUTING.replace("labels = 2.0", "labels = 2.0, edges = 2.0, high_cost = true")
NUMBERS = COMMUTING.replace('"sampled-response", sample = 1', '"multi-bit"').replace(
    'answers = ["on foot", "by bus", "by car"]', 'answers = ["on foot", "by bus", "by car"], ordered = true'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return answered(tmp_path_factory.mktemp("commuting"))


def figures(results, key, group=""):
    (found,) = [
        each for each in (*results.questions, *results.links, *results.groups) if (each.key, each.group) == (key, group)
    ]
    return found.finding


def test_every_question_has_shares_near_the_truth(folder):
    results, truth = folder.results(), answers_of(400)
    assert (results.asked, results.answered) == (400, 300)
    assert [each.words for each in results.questions] == [
        "How do you get to work?",
        "Do you own a bicycle?",
        "Where do you live?",
    ]
    for key, values in (("1", truth.features[:, 0]), ("2", truth.features[:, 1]), ("class", truth.labels)):
        found = figures(results, key)
        shares = np.bincount(values.astype(int)) / 400
        assert all(each.low <= share <= each.high for each, share in zip(found.estimates, shares, strict=True))
    assert figures(results, "1").people + figures(results, "2").people == 300  # one question was drawn for each
    assert figures(results, "class").people == 300


def test_by_class_tells_each_question_for_each_group(folder):
    results = folder.results(by="class")
    assert results.by == "Where do you live?"
    assert {each.key for each in results.groups} == {"1", "2"}
    driving = [figures(results, "1", group).estimates[2] for group in ("town", "village")]
    assert driving[0].high < driving[1].low  # 10 % and 80 %


@pytest.mark.parametrize("by", ["1", "How do you get to work?", "how do you GET to work?"])
def test_by_a_question_is_said_by_number_or_words(folder, by):
    results = folder.results(by=by)
    assert results.by == "How do you get to work?"
    assert figures(results, "class", "by car").people == figures(results, "1").people
    assert not figures(results, "2", "by car").told  # one report never holds two of these answers


@pytest.mark.parametrize("by", ["0", "3", "hats"])
def test_another_question_is_refused(folder, by):
    with pytest.raises(InvalidParameter, match=r"There is no question '.*'. Say class, or a number from 1 to 2."):
        folder.results(by=by)


def test_exports_and_public_records_give_the_same_figures(folder, tmp_path):
    with folder.store() as store:
        write_answers(tmp_path / "reports.parquet", folder.study, store.answers())
    write_record(folder.path, tmp_path / "record.sqlite")
    expected = list(folder.results(by="class").rows())
    for name in ("reports.parquet", "record.sqlite"):
        assert list(results_at(tmp_path / name, by="class").rows()) == expected


def test_a_mechanism_for_numbers_tells_two_categories_and_the_mean_of_ordered_ones(tmp_path):
    results = answered(tmp_path, declaration=NUMBERS).results()
    ordered, pair = figures(results, "1"), figures(results, "2")
    assert ordered.scale.ends == ("on foot", "by car")
    assert len(ordered.estimates) == 1
    assert ordered.scale.bounds == (0.0, 2.0)
    assert pair.scale.names == ("no", "yes")
    assert sum(each.value for each in pair.estimates) == pytest.approx(1)
    assert pair.estimates[1].low <= (answers_of(400).labels == 1).mean() <= pair.estimates[1].high
    with pytest.raises(InvalidParameter, match="was reported as a number, which does not tell groups"):
        results_at(tmp_path / "study", by="1")


def test_lists_have_a_length(tmp_path):
    results = answered(tmp_path, declaration=LISTS).results()
    found = figures(results, "list").estimates[0]
    degree = answers_of(400).neighbours.nnz / 400
    assert found.low <= degree <= found.high


def test_public_links_tell_which_classes_are_linked(folder):
    with folder.store() as store:
        reports = RoundReports.at(store)
    edges = np.argwhere(answers_of(400).neighbours.toarray())
    found = results_of([RoundReports(reports.study, reports.answers, reports.shown, 400, edges=edges)])
    town = figures(found, "links", "town").estimates
    assert town[0].low > town[1].high


def test_public_classes_group_people_though_nobody_is_asked_for_them(folder):
    with folder.store() as store:
        reports = RoundReports.at(store)
    features = reports.answers.release.questions[:1]
    answers = LocalRelease(features, reports.study.population).perturb(answers_of(400), SeededBits(0))
    known = RoundReports(reports.study, answers, reports.shown, 400, labels=answers_of(400).labels)
    found = results_of([known], by="class")
    assert figures(found, "1", "village").estimates[2].low > 0.5
    assert [each.key for each in found.questions] == ["1", "2"]


def test_a_panel_stands_by_itself_and_is_exact(folder):
    with folder.store() as store:
        reports = RoundReports.at(store)
    shown = OpenData(np.arange(4), np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([0, 0, 1, 1]))
    found = results_of([RoundReports(reports.study, reports.answers, shown, 396, panel=4)], by="class")
    panel = [each for each in found.questions if each.shown]
    assert [each.value for each in panel[0].finding.estimates] == [0.25, 0.5, 0.25]
    assert (panel[0].asked, found.asked) == (4, 400)
    (bus,) = [each for each in found.groups if each.shown and (each.key, each.group) == ("1", "town")]
    assert [each.unbiased for each in bus.finding.estimates] == [0.5, 0.5, 0.0]


def test_nobody_has_answered(tmp_path):
    results = answered(tmp_path, people=0).results(by="class")
    assert (results.answered, results.asked) == (0, 400)
    assert not any(each.finding.told for each in (*results.questions, *results.groups))
    assert json.loads(json.dumps(results.to_dict(), allow_nan=False))["rows"][0]["estimate"] is None


def test_results_are_saved_in_every_form(folder, tmp_path):
    pandas = pytest.importorskip("pandas")
    results = folder.results(by="class")
    for ending in ("html", "csv", "parquet", "json"):
        results.save(tmp_path / f"results.{ending}")
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    frame = pandas.read_parquet(tmp_path / "results.parquet")
    assert len(rows) == len(frame) == len(json.loads((tmp_path / "results.json").read_text())["rows"])
    assert float(rows[0]["estimate"]) == frame["estimate"][0] == figures(results, "1").estimates[0].value
    with pytest.raises(InvalidParameter, match=r"results.doc must end in .html, .csv, .parquet or .json"):
        results.save(tmp_path / "results.doc")
    assert not (tmp_path / "results.doc").exists()


def test_rounds_of_a_study_are_told_together(tmp_path):
    graph = people()
    folder = first_round(tmp_path / "study", graph)
    with folder.store() as first:
        labels = first.study.release.perturb(PrivateData(ASKED, labels=graph.labels[ASKED]), SeededBits(0))
        first.insert(ASKED.tolist(), first.study.release.wire.pack(labels))
        form = OpenForm(graph.schema)
        shown = [form.pack(graph.features[[node]].toarray()[0].tolist(), int(graph.labels[node])) for node in PANEL]
        first.insert(PANEL.tolist(), shown)
        second = add_second_round(first)
        asked = second.form.everybody()
        answers = second.form.release.perturb(PrivateData.of(graph).take(asked), SeededBits(1))
        second.insert(asked.tolist(), second.study.release.wire.pack(answers))
        second.dispose()
    results = folder.results(by="class")
    assert [each.key for each in results.questions if not each.shown] == [
        *(f"resemblance-{each}" for each in range(4)),
        "class",
    ]
    offered = [(offers() == each).any(axis=1).sum() for each in range(4)]
    chosen = [each.finding for each in results.questions if each.key.startswith("resemblance")]
    assert [each.people for each in chosen] == offered
    assert sum(each.estimates[1].unbiased * each.people for each in chosen) == pytest.approx(len(asked), rel=1e-4)
    assert len([each for each in results.questions if each.shown]) == graph.schema.dimension + 1
    assert {each.key for each in results.links} == {"links"}
