"""``privet study results``: printed for people, as JSON, to a file; and what is refused."""

import json

import pytest
from answered_studies import answered
from simulated_studies import privet


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return answered(tmp_path_factory.mktemp("commuting")).path


def test_results_are_printed_for_people(study, tmp_path):
    told = privet("study", "results", study, "--by", "class", home=tmp_path)
    assert "300 of 400 people who were asked answered (75%)." in told
    assert "What the other 100 would have said is in no figure and in no interval." in told
    assert "reports, each about 1 of 2 questions, drawn at random; as exact as" in told
    assert "By group: Where do you live?" in told
    assert "village    by car" in told


def test_a_file_or_json_instead_of_a_table(study, tmp_path):
    out = tmp_path / "results.html"
    told = privet("study", "results", study, "--out", out, "--language", "de", home=tmp_path)
    assert told == f"Wrote what 300 people answered to {out}.\n"
    assert '<html lang="de">' in out.read_text()
    assert json.loads(privet("study", "results", study, "--json", home=tmp_path))["answered"] == 300


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--by", "hats"), "There is no question 'hats'. Say class, or a number from 1 to 2."),
        (("--out", "results.doc"), "results.doc must end in .html, .csv, .parquet or .json."),
    ],
)
def test_what_cannot_be_told_or_written_is_refused(study, tmp_path, options, told):
    assert told in privet("study", "results", study, *options, home=tmp_path, status=2)
