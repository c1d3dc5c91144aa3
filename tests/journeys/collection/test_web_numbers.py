"""Numbers as people type them, on a phone and on a desktop, in four languages: none is changed silently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from web_visits import CHROMIUM, Live, Visit, numeric_study

from privet.collection.study.manifest import Study
from privet.data import Interval, Schema

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

WORDS = {
    "en": ("Continue", "Do you mean 1.5 or 1500?", "Read as 7.25."),
    "de": ("Weiter", "Meinen Sie 1,5 oder 1500?", "Gelesen als 7,25."),
    "fr": ("Continuer", "Voulez-vous dire 1,5 ou 1500", "Lu comme 7,25."),
    "es": ("Continuar", "¿Quiere decir 1,5 o 1500?", "Se lee como 7,25."),
}


@pytest.fixture(scope="module")
def live(serve: Callable[[Study], Live]) -> Live:
    schema = Schema((Interval(0.0, 12.0), Interval(-5.0, 5.0)))
    return serve(numeric_study(schema=schema, questions=["Hours of sleep", "Change in weight"]))


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("phone", [True, False], ids=["phone", "desktop"])
def test_comma_and_point(
    live: Live, visitor: Callable[..., Visit], picture: Callable[[Any, str], None], language: str, phone: bool
) -> None:
    go_on, ambiguous, read_as = WORDS[language]
    mark, other = (".", ",") if language == "en" else (",", ".")
    width, options = (390, {"has_touch": True, "is_mobile": True}) if phone else (1280, {})
    page = visitor(width, locale={"en": "en-GB"}.get(language, language), **options).open(live.link(1, lang=language))
    sleep, weight = page.locator("#feature-0"), page.locator("#feature-1")
    assert (sleep.get_attribute("inputmode"), weight.get_attribute("inputmode")) == ("decimal", "text")

    sleep.press_sequentially(f"7{other}25")
    page.locator("#feature-0-hint").get_by_text(read_as).wait_for()
    weight.press_sequentially(f"-1{mark}5")
    page.get_by_role("button", name=go_on).click()
    page.locator("#check").wait_for()
    answers = page.locator("#comparison tbody tr td").all_inner_texts()
    assert [text.replace("\u2212", "-") for text in answers[:2]] == [f"7{mark}25", f"-1{mark}5"]

    page.locator("#change").click()
    sleep.fill("")
    sleep.press_sequentially(f"1{other}500")
    page.locator("#make").click()
    assert ambiguous in page.locator("#feature-0-problem").inner_text()
    assert page.locator("#check").is_hidden()
    if language == "de":
        picture(page, f"participant-ambiguous-{'phone' if phone else 'desktop'}")
    sleep.fill(f"1{mark}500")
    page.locator("#make").click()
    page.locator("#check").wait_for()
    assert page.locator("#comparison tbody tr td").first.inner_text() == f"1{mark}5"


def test_many_answers_in_one_box(serve: Callable[[Study], Live], visitor: Callable[..., Visit]) -> None:
    schema = Schema.numeric(41, low=0.0, high=9.0)
    page = visitor().open(serve(numeric_study(schema=schema)).link(1, lang="de"))
    for entered, told in (
        ("; ".join(["1,5"] * 41), "41 Antworten gelesen."),
        (" ".join(["1.5"] * 41), "41 Antworten gelesen."),
        (", ".join(["1.5"] * 41), "41 Antworten gelesen."),
        (",".join(["1"] * 41), "41 Antworten gelesen."),
        (" ".join(["1,5"] * 40), "41 Antworten werden gebraucht"),
        ("; ".join(["1.500", *["2"] * 40]), "Antwort 1: Meinen Sie 1,5 oder 1500?"),
    ):
        page.locator("#features").fill(entered)
        page.get_by_text(told).first.wait_for()


def test_the_limit_takes_a_comma(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor(locale="de").open(live.link(2, lang="de"))
    page.locator("#budget summary").click()
    page.locator("#limit").fill("3,5")
    page.locator("#limit-form button").click()
    page.wait_for_function("JSON.parse(localStorage.getItem('privet-ledger-1') ?? '{}').limit === 3.5")
    assert page.locator("#limit").input_value() == "3,5"
    page.locator("#limit").fill("1.500")
    page.locator("#limit-form button").click()
    assert "1,5 oder 1500" in page.locator("#limit-problem").inner_text()
