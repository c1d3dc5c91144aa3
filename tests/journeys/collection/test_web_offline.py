"""The page without a connection: what its service worker keeps, what it never keeps, and how an update replaces it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from starlette.applications import Starlette
from starlette.routing import Route
from web_visits import CHROMIUM, SENTINEL, Live, Server, Visit, fill_in, kept_report, make_study

import privet.collection
from privet.collection.server.http.pages import Pages, page_routes
from privet.collection.study.manifest import Study

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
CACHED = """async () => {
  const names = await caches.keys();
  const urls = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((r) => r.url)));
  return [names, urls.flat().map((url) => new URL(url).pathname)];
}"""


@pytest.fixture(scope="module")
def live(serve: Callable[[Study], Live]) -> Live:
    return serve(make_study())


def load(visit: Visit, link: str) -> Any:
    """Open a page, and wait until a reload needs no connection."""
    page = visit.open(link)
    page.get_by_text("It now opens without a connection, too.").wait_for()
    return page


def test_without_a_connection_nothing_is_drawn_and_it_is_sent_when_it_is_back(
    live: Live, visitor: Callable[..., Visit]
) -> None:
    """Whether the collector would take a report is known only when it answers; until then the draft is all there is."""
    visit = visitor(service_workers="allow")
    page = load(visit, live.link(1))
    fill_in(page)
    visit.context.set_offline(True)
    page.reload()
    page.get_by_role("heading", name="Sleep and friendship").wait_for()
    assert page.evaluate("fetch('/status').then(() => 'reached', () => 'away')") == "away"
    assert page.get_by_label("Hours of sleep").input_value() == SENTINEL
    assert page.get_by_label("Night owl").is_checked()
    assert page.locator("#neighbours").input_value() == "3, 44 120"
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.locator("#progress").filter(has_text="Nothing is drawn yet, and nothing is spent.").wait_for()
    assert page.evaluate("localStorage.getItem('privet-ledger-1')") is None
    visit.context.set_offline(False)
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert live.store.get(1) == bytes.fromhex(kept_report(page))


@pytest.mark.parametrize(
    ("online", "told"),
    [("false", "You are offline."), ("true", "The server cannot be reached. Check your connection.")],
)
def test_a_person_is_told_what_the_browser_knows(
    live: Live, visitor: Callable[..., Visit], online: str, told: str
) -> None:
    """Browsers differ in when they notice that they are offline, so the browser's word is given here."""
    visit = visitor()
    visit.context.add_init_script(f"Object.defineProperty(navigator, 'onLine', {{ get: () => {online} }})")
    page = visit.open(live.link(6))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    visit.context.set_offline(True)
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text(f"{told} Nothing is drawn yet").wait_for()


def test_another_language_is_there_without_a_connection(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor(service_workers="allow")
    page = load(visit, live.link(2))
    visit.context.set_offline(True)
    page.locator("#language").select_option("fr")
    page.get_by_role("button", name="Continuer").wait_for()


def test_only_the_pages_files_and_public_data_are_kept(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor(service_workers="allow")
    page = load(visit, live.link(13))
    page.reload()  # from here on the worker answers for the page
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    page.goto(f"{live.origin}/operator")
    page.get_by_label("Operator's key").wait_for()
    names, paths = page.evaluate(CACHED)
    head = visit.context.request.get(live.origin).text()
    loaded = re.findall(r'(?:src|href)="(/web/[^"]+)" ', head.partition("</head>")[0])
    texts = [f"/web/texts/{path.name}" for path in WEB.glob("texts/*.json")]
    assert len(loaded) == 4
    assert sorted(paths) == sorted(["/", f"/public/{live.study.id}", *loaded, *texts])
    assert len(names) == 2


class Shop:
    """The pages alone, from a folder whose files a test may change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.server: Server | None = None

    def open(self, pages: Pages | None = None) -> str:
        routes = page_routes(pages or Pages.read(self.folder))
        app = Starlette(routes=[Route(path, endpoint) for path, endpoint in routes.items()])
        self.server = Server(app, self.port)
        self.port = self.server.port
        return self.server.origin

    def close(self) -> None:
        if self.server is not None:
            self.server.stop()


@pytest.fixture
def shop(tmp_path: Path) -> Any:
    shutil.copytree(WEB, tmp_path / "web")
    made = Shop(tmp_path / "web")
    yield made
    made.close()


def test_an_update_replaces_everything_at_once(shop: Shop, visitor: Callable[..., Visit]) -> None:
    visit = visitor(service_workers="allow")
    page = load(visit, shop.open())
    (before,), paths = page.evaluate(CACHED)
    shop.close()
    english = shop.folder / "texts" / "en.json"
    english.write_text(english.read_text().replace("Your link is not complete", "Your link is too short"))
    style = shop.folder / "style.css"
    style.write_text(style.read_text() + "h1 { color: rgb(1, 2, 3); }\n")
    shop.open()
    page.reload()  # the old version, whole, while the new one is fetched
    page.get_by_role("heading", name="Your link is not complete").wait_for()
    colour = "getComputedStyle(document.querySelector('h1')).color"
    assert page.evaluate(colour) != "rgb(1, 2, 3)"
    wait_until(lambda: _updated(page, before))
    page.reload()
    page.get_by_role("heading", name="Your link is too short").wait_for()
    assert page.evaluate(colour) == "rgb(1, 2, 3)"
    (after,), kept = page.evaluate(CACHED)
    assert (len(kept), after != before) == (len(paths), True)


def _updated(page: Any, before: str) -> bool:
    """Ask for the update again, as each visit would: one that falls into the restart of the server is given up."""
    page.evaluate("navigator.serviceWorker.getRegistration().then((found) => found?.update()).catch(() => null)")
    return before not in page.evaluate(CACHED)[0]


def test_a_mixture_of_versions_is_not_kept(shop: Shop, visitor: Callable[..., Visit]) -> None:
    """Two collectors behind one name, one of them updated: the worker's hashes do not fit a file."""
    contents = dict(Pages.read(shop.folder).contents)
    origin = shop.open(Pages(contents))
    contents["texts/de.json"] += b"\n"
    page = visitor(service_workers="allow").open(origin)
    page.get_by_role("heading", name="Your link is not complete").wait_for()
    page.evaluate("navigator.serviceWorker.register('/sw.js').catch(() => 'refused')")
    registered = "navigator.serviceWorker.getRegistration().then((found) => found !== undefined)"
    wait_until(lambda: not page.evaluate(registered))
    assert page.evaluate(CACHED) == [[], []]
    assert not page.locator("#offline").is_visible()


def test_a_draft_dies_with_its_tab(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(4))
    assert not page.get_by_role("button", name="Forget my draft").is_visible()
    fill_in(page)
    page.reload()
    assert page.get_by_label("Hours of sleep").input_value() == SENTINEL
    assert visit.open(live.link(4)).get_by_label("Hours of sleep").input_value() == ""  # another tab
    page.get_by_role("button", name="Forget my draft").click()
    assert page.get_by_label("Hours of sleep").input_value() == ""
    assert page.evaluate("sessionStorage.length") == 0
    assert SENTINEL not in page.evaluate("JSON.stringify(localStorage)")
    page.reload()
    assert page.get_by_label("Hours of sleep").input_value() == ""


def test_a_draft_ends_when_the_report_is_made(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(5))
    fill_in(page)
    assert SENTINEL in page.evaluate("JSON.stringify(sessionStorage)")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    page.reload()
    assert page.get_by_label("Hours of sleep").input_value() == SENTINEL
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert page.evaluate("sessionStorage.length") == 0
