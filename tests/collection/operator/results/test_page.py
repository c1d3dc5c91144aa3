"""The page of results: whole, escaped, without scripts, and in every language."""

import re
from html.parser import HTMLParser

import pytest
from answered_studies import COMMUTING, answered

from privet.collection.operator.results.page import results_page, results_part
from privet.collection.operator.results.words import LANGUAGES, Words, _catalogue

VOID = {"meta", "link", "rect", "line"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return answered(tmp_path_factory.mktemp("commuting")).results(by="class")


class Outline(HTMLParser):
    """Elements that are opened and closed, and what stands in them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_whole_and_says_who_did_not_answer(results, language):
    page = Outline(results_page(results, language))
    assert page.open == []
    assert ("html", {"lang": language}) in page.seen
    assert not [tag for tag, _ in page.seen if tag in ("script", "iframe")]
    told = " ".join(page.texts)
    assert "Commuting <in> our town" in told
    assert Words(language)("nonresponse", answered="300", silent="100") in told
    assert not re.search(r"\bnan\b|\{\w+\}", told)


def test_a_linked_page_has_nothing_that_its_policy_forbids(results):
    page = Outline(results_page(results, "de", linked=True))
    assert not [tag for tag, _ in page.seen if tag == "style"]
    assert not [name for _, attributes in page.seen for name in attributes if name == "style" or name.startswith("on")]
    assert [attributes["href"] for tag, attributes in page.seen if tag == "link"] == [
        "/web/style.css",
        "/web/results.css",
    ]


def test_every_figure_has_its_interval_in_words(results):
    part = results_part(results, "en")
    for row in (*results.questions, *results.groups):
        for each in row.finding.estimates:
            assert f"{each.low:.0%} to {each.high:.0%}" in part


def test_pictures_and_tables_are_named(results):
    page = Outline(results_part(results, "en"))
    pictures = [attributes for tag, attributes in page.seen if tag == "svg"]
    assert pictures
    assert all(re.fullmatch(r"\d+% \(\d+% to \d+%\)", each["aria-label"]) for each in pictures)
    tags = [tag for tag, _ in page.seen]
    assert tags.count("caption") == tags.count("table") == len(results.questions) + 2


def test_nobody_and_nothing_to_tell_are_said(tmp_path):
    nobody = results_part(answered(tmp_path, people=0, declaration=COMMUTING).results(), "en")
    assert Words("en")("nobody") in nobody
    assert "<table" not in nobody


def test_catalogues_have_the_same_keys_and_placeholders():
    english = _catalogue("en")
    for language in LANGUAGES[1:]:
        catalogue = _catalogue(language)
        assert list(catalogue) == list(english)
        for key, text in english.items():
            assert sorted(re.findall(r"\{(\w+)\}", catalogue[key])) == sorted(re.findall(r"\{(\w+)\}", text)), key


def test_numbers_are_written_as_the_language_does():
    assert [Words(language).number(1234.5, 1) for language in LANGUAGES] == [
        "1,234.5",
        "1.234,5",
        "1\u202f234,5",
        "1.234,5",
    ]
    assert Words("de").percent(0.5) == "50\u00a0%"
    assert Words("en").number(-0.001, 1) == "0.0"
    assert Words("xx").tag == "en"
