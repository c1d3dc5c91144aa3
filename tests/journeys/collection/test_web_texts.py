"""The language of the participant's page: chosen by link, browser or hand, and the same on every step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web_visits import AXE, CHROMIUM, Live, Visit, fill_in, make_study

import privet.collection
from privet.collection.study.manifest import Study

WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
CATALOGUES = {path.stem: json.loads(path.read_text()) for path in sorted((WEB / "texts").glob("*.json"))}
ENGLISH = CATALOGUES["en"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")


@pytest.fixture(scope="module")
def live(serve: Callable[[Study], Live]) -> Live:
    return serve(make_study())


@pytest.mark.parametrize(
    ("locale", "lang", "expected"),
    [("de-AT", "", "de"), ("pt-BR", "", "en"), ("de-DE", "fr", "fr"), ("en-GB", "es-MX", "es"), ("fr-CA", "xx", "fr")],
)
def test_the_link_chooses_the_language_and_else_the_browser(
    live: Live, visitor: Callable[..., Visit], locale: str, lang: str, expected: str
) -> None:
    page = visitor(locale=locale).open(live.link(1, lang=lang))
    page.get_by_role("button", name=CATALOGUES[expected]["answer.make"]).wait_for()
    assert page.evaluate("document.documentElement.lang") == expected
    assert page.locator("#language").input_value() == expected


def test_another_language_on_the_page_keeps_the_answers(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(2))
    fill_in(page)
    page.locator("#language").select_option("de")
    page.get_by_role("button", name="Weiter").wait_for()
    assert page.get_by_label("Hours of sleep").input_value() == "7.123456"
    assert page.get_by_label("Night owl").is_checked()
    page.locator("#more > summary").click()
    assert page.locator("#parts").get_by_text("1,5", exact=True).is_visible()
    page.locator("#make").click()
    page.get_by_role("table", name="Ihre Antworten", exact=True).get_by_text("3, 44, 120").wait_for()
    page.locator("#language").select_option("en")
    table = page.get_by_role("table", name="Your answers", exact=True)
    table.get_by_text("3, 44, 120").wait_for()
    page.locator("#language").select_option("es")
    page.reload()
    page.get_by_role("button", name="Continuar").wait_for()  # the address remembers the language
    assert page.get_by_label("Hours of sleep").input_value() == "7.123456"


def test_the_studys_words_are_marked_as_nobodys_language(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(3, lang="de"))
    page.get_by_role("button", name="Weiter").wait_for()
    marked = page.locator('[lang=""][translate=no]').all_inner_texts()
    for words in ("Sleep and friendship", "Hours of sleep", "Which type are you?", "Night owl"):
        assert words in marked


def left_in_english(page: Any, language: str) -> list[str]:
    """The English texts that a page in another language shows."""
    shown = " ".join(page.locator("body").inner_text().split())
    plain = [key for key, text in ENGLISH.items() if len(text) > 8 and "{" not in text]
    return [key for key in plain if ENGLISH[key] != CATALOGUES[language][key] and ENGLISH[key] in shown]


# Each language once, and each width in each scheme.
WALKS = [(1280, "light", "en"), (390, "dark", "de"), (1280, "dark", "fr"), (390, "light", "es")]


@pytest.mark.skipif(not AXE, reason="axe-core is not installed (PRIVET_AXE is the path of axe.min.js)")
@pytest.mark.parametrize(("width", "scheme", "language"), WALKS)
def test_every_step_is_accessible_and_in_one_language(
    live: Live, visitor: Callable[..., Visit], picture: Callable[..., None], width: int, scheme: str, language: str
) -> None:
    node = 10 + WALKS.index((width, scheme, language))
    words = CATALOGUES[language]
    visit = visitor(width, scheme)

    def look(step: str, full: bool = True) -> None:
        picture(page, f"step-{step}-{width}-{scheme}-{language}", full)
        assert left_in_english(page, language) == []

    page = visit.open(live.link(node, lang=language))
    page.locator("#answer").wait_for()
    control = page.locator("#questions input").first.bounding_box()
    assert control["y"] + control["height"] <= page.viewport_size["height"]  # the first question needs no scrolling
    look("1-start", full=False)
    page.locator("#more > summary").click()
    page.locator("#budget > summary").click()
    assert words["about.deletion-never"] in page.locator("#facts").inner_text()
    look("2-unfolded")
    page.locator("#more > summary").click()
    page.locator("#budget > summary").click()
    page.locator("#make").click()
    look("3-problems")
    fill_in(page)
    look("4-answers")
    page.locator("#make").click()
    page.locator("#check").wait_for()
    look("5-check")
    page.locator("#decline").click()
    look("6-do-not-send", full=False)
    page.get_by_role("button", name=words["confirm.decline.no"]).click()
    page.locator("#send").click()
    page.locator("#sent").wait_for()
    look("7-sent")
    page.route("**/reports", lambda route: route.fulfill(json={"status": "erased"}))
    page.locator("#withdraw").click()
    look("8-withdraw", full=False)
    page.get_by_role("button", name=words["confirm.withdraw.yes"], exact=True).click()
    page.get_by_role("heading", name=words["ended.withdrawn.heading"]).wait_for()
    page.locator("#budget > summary").click()
    look("9-withdrawn")

    other = visitor(width, scheme)
    page = other.open(live.link(node + 20, lang=language))
    fill_in(page)
    page.locator("#make").click()
    page.locator("#decline").click()
    page.get_by_role("button", name=words["confirm.decline.yes"], exact=True).click()
    page.get_by_role("heading", name=words["ended.declined.heading"]).wait_for()
    look("6-not-sent")
    page = other.open(live.link(node, study="0" * 64, lang=language))
    page.get_by_role("heading", name=words["told.other-study"]).wait_for()
    look("refusal")
    page = other.open(live.link(node, study="unknown", lang=language))
    page.get_by_role("heading", name=words["refusal.link.headline"]).wait_for()
    assert left_in_english(page, language) == []
