"""The page loads: for a class of people behind one address, and with a sentence where it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crowd import crowd
from web_visits import CHROMIUM, Live, Visit, numeric_study

from privet.collection.server.http.app import Limits
from privet.collection.study.manifest import Study

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

FRESH = 30


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A collector with its default limits."""
    live = Live(numeric_study(), tmp_path_factory.mktemp("store"), Limits())
    yield live
    live.stop()


def test_thirty_fresh_browsers_behind_one_address_load_the_page(limited: Live, browser: Any) -> None:
    begin = time.perf_counter()
    with crowd(browser, [limited.link(node) for node in range(FRESH)]) as pages:
        for page in pages:
            page.locator("#form").wait_for()
            page.get_by_text("It now opens without a connection, too.").wait_for()
            assert page.locator("#refusal, #stuck").locator("visible=true").count() == 0
    print(f"{FRESH} pages in {time.perf_counter() - begin:.1f} s")


def test_a_fresh_browser_asks_for_a_handful_of_files(limited: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(limited.link(1))
    page.locator("#form").wait_for()
    assert len(visit.requests) <= 12, visit.requests
    assert sum(url.endswith(".js") for url in visit.requests) == 2


@pytest.mark.parametrize("lost", ["**/participate-*.js", "**/texts/*.json"])
def test_a_page_that_does_not_load_says_so_and_tries_again(
    limited: Live, visitor: Callable[..., Visit], picture: Callable[[Any, str], None], lost: str
) -> None:
    visit = visitor(390)
    page = visit.context.new_page()
    page.route(lost, lambda route: route.abort())
    page.goto(limited.link(2))
    page.get_by_text("The page did not load. Check your connection and try again").wait_for()
    assert page.get_by_text("Die Seite wurde nicht geladen.").is_visible()
    if "participate" in lost:
        picture(page, "participant-stuck-390")
    page.unroute(lost)
    page.get_by_role("button", name="Try again").click()
    page.locator("#form").wait_for()
    assert page.locator("#stuck").count() == 0


def test_without_scripts_the_page_says_what_it_needs(limited: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor(java_script_enabled=False).open(limited.link(3))
    assert page.locator("noscript p").first.is_visible()
    assert page.locator("noscript p").all_inner_texts()[0].startswith("This page needs JavaScript")
    assert not page.locator("#again").is_visible()


def test_a_busy_collector_is_no_closed_study(limited: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().context.new_page()
    page.route("**/status/*", lambda route: route.fulfill(status=429, json={"error": "Too many requests."}))
    page.goto(limited.link(4))
    page.locator("#form").wait_for()  # a report is asked about again before it is drawn


def test_a_changed_script_does_not_run(limited: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().context.new_page()

    def change(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text() + "document.title = 'changed';\n")

    page.route("**/participate-*.js", change)
    page.goto(limited.link(5))
    page.get_by_text("The page did not load.").wait_for()
    assert page.title() == "privet"


def test_sources_are_there_for_whoever_looks(serve: Callable[[Study], Live], visitor: Callable[..., Visit]) -> None:
    live = serve(numeric_study())
    visit = visitor()
    page = visit.open(live.link(1))
    page.locator("#form").wait_for()
    (script,) = (url for url in visit.requests if "/participate-" in url)
    text = visit.context.request.get(script).text()
    place = text.rstrip().rpartition("sourceMappingURL=")[2]
    sources = visit.context.request.get(live.origin + place).json()["sources"]
    assert Path(sources[-1]).name == "participate.js"
    assert visit.context.request.get(live.origin + sources[0]).ok
