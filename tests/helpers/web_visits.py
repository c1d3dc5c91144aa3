"""Real Chromium against a real collector: studies, browser profiles, screenshots and audits for the tests of the pages.

A test module imports the fixtures that it uses; they start nothing where Chromium or playwright is missing.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from patience import PATIENCE, wait_until
from simulated_studies import asked
from starlette.applications import Starlette

from privet.collection.downloads import DOWNLOADS
from privet.collection.server.http.app import Limits, create_app
from privet.collection.server.store.store import Store
from privet.collection.study.manifest import Study
from privet.collection.study.tokens import Tokens, new_key
from privet.data import Categories, Interval, Schema

__all__ = [
    "AXE",
    "CHROMIUM",
    "OPERATOR_KEY",
    "SENTINEL",
    "Live",
    "Server",
    "Visit",
    "at",
    "browser",
    "fill_in",
    "kept_report",
    "make_study",
    "numeric_study",
    "picture",
    "serve",
    "shown_report",
    "visitor",
]

CHROMIUM = os.environ.get("PRIVET_CHROMIUM") or shutil.which("chromium")
AXE = os.environ.get("PRIVET_AXE", "")  # axe.min.js of axe-core
AUDIT = Path(__file__).parents[1] / "journeys" / "collection" / "audit_page.js"
OPERATOR_KEY = "the-operators-key"
SENTINEL = "7.123456"  # a raw answer that must be nowhere once the report is sent
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP insecure.test 127.0.0.1"),
)


def at(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_study(**changes: Any) -> Study:
    """The study of most tests; ``features``, ``labels`` and ``neighbours`` are the parameters of these questions."""
    questions: dict[str, Any] = {"features": {"mechanism": "hds", "epsilon": 1.5, "sample": 2}}
    questions |= {"labels": {"epsilon": 1.0}, "neighbours": {"epsilon": 0.5}}
    questions |= {name: changes.pop(name) for name in tuple(questions) if name in changes}
    schema = Schema(
        (Interval(0.0, 12.0), Interval(0.0, 6.0), Categories(5)), 3, True, ("Early bird", "Night owl", "Neither")
    )
    values: dict[str, Any] = {
        "title": "Sleep and friendship",
        "purpose": "How sleep goes together with the sleep of friends.",
        "operator": "privet developers",
        "eligible": "Everybody with a link.",
        "nodes": 300,
        "schema": schema,
        "questions": ["Hours of sleep", "Cups of coffee", "How often do you nap?"],
        "class_question": "Which type are you?",
        "release": asked(**questions),
        "opens": at(-30),
        "closes": at(200),
    }
    return Study(**{**values, **changes})


def numeric_study(**changes: Any) -> Study:
    """One numeric answer or more, and nothing else is asked."""
    nothing: dict[str, Any] = {"questions": None, "class_question": None, "labels": None}
    features = {"mechanism": "multi-bit", "epsilon": 1.0}
    schema = Schema.numeric(1, low=0.0, high=1.0)
    return make_study(**{"neighbours": None, "schema": schema, "features": features, **nothing, **changes})


class Server:
    """An application under uvicorn in a thread, at an address that browsers take for a safe one."""

    def __init__(self, app: Starlette, port: int = 0) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port = self._socket.getsockname()[1]
        self.origin = f"http://localhost:{self.port}"
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, ws="none"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()
        wait_until(lambda: self._server.started, pause=0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class Live(Server):
    """The collector of a study."""

    def __init__(self, study: Study, folder: Path, limits: Limits | None = None) -> None:
        self.study, self.tokens = study, Tokens(study, new_key())
        self.store = Store.open(folder / f"{study.id[:12]}.sqlite", study)
        app = create_app(self.store, self.tokens, OPERATOR_KEY, limits or Limits(rate=0), downloads=DOWNLOADS)
        super().__init__(self.observed(app))

    def observed(self, app: Starlette) -> Starlette:
        """Give the application back; a test that watches requests adds its middleware."""
        return app

    def link(self, node: int, study: str | None = None, token: str | None = None, lang: str = "") -> str:
        chosen = f"&lang={lang}" if lang else ""
        return f"{self.origin}/#token={token or self.tokens.issue(node)}&study={study or self.study.id}{chosen}"

    def stop(self) -> None:
        super().stop()
        self.store.dispose()


@dataclass
class Visit:
    """A browser profile of its own, in which everything that should never happen is recorded."""

    context: Any
    requests: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    reports: list[bytes] = field(default_factory=list)

    def open(self, url: str) -> Any:
        page = self.context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("request", self._on_request)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("console", self._on_console)
        page.goto(url)
        return page

    def _on_request(self, request: Any) -> None:
        self.requests.append(request.url)
        if request.method == "POST" and request.url.endswith("/reports"):
            self.reports.append(request.post_data_buffer)

    def _on_console(self, message: Any) -> None:
        # Chromium itself logs every refused request, playwright a blocked worker; everything else is a fault (among
        # them CSP violations).
        harmless = ("Failed to load resource", "Service Worker registration blocked by Playwright")
        if message.type in ("error", "warning") and not message.text.startswith(harmless):
            self.troubles.append(f"{message.type}: {message.text}")

    def check(self) -> None:
        assert self.troubles == []
        strange = [
            u for u in self.requests if not u.startswith(("http://localhost:", "http://insecure.test:", "blob:"))
        ]
        assert strange == []
        assert len({url.split("/")[2] for url in self.requests if not url.startswith("blob:")}) <= 1


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS, timeout=1000 * PATIENCE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Study], Live]]:
    running: list[Live] = []

    def start(study: Study) -> Live:
        running.append(Live(study, tmp_path_factory.mktemp("store")))
        return running[-1]

    yield start
    for live in running:
        live.stop()


@pytest.fixture
def visitor(browser: Any) -> Iterator[Callable[..., Visit]]:
    visits: list[Visit] = []

    def begin(width: int = 1280, scheme: str = "light", **more: Any) -> Visit:
        size = {"width": width, "height": 800 if width > 600 else 844}
        # A service worker would hide requests from the tests that answer them; those about it allow it.
        options = {"locale": "en-GB", "reduced_motion": "reduce", "service_workers": "block", **more}
        context = browser.new_context(viewport=size, color_scheme=scheme, **options)
        visits.append(Visit(context))
        return visits[-1]

    yield begin
    for visit in visits:
        visit.context.close()
    for visit in visits:
        visit.check()


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any, str], None]:
    """Keep a screenshot, and see that the page is accessible as it stands."""
    folder = Path(os.environ.get("PRIVET_ARTEFACTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    audit = AUDIT.read_text().rstrip().removesuffix(";")

    def keep(page: Any, name: str, full: bool = True) -> None:
        faults = [*page.evaluate(audit), *violations(page)]
        page.screenshot(path=folder / f"{name}.png", full_page=full, caret="initial")
        assert not faults, f"{name}: {'; '.join(faults)}"

    return keep


def violations(page: Any) -> list[str]:
    """Return what axe-core finds wrong with a page as it stands; nothing where axe-core is not installed."""
    if not AXE:
        return []
    if not page.evaluate("'axe' in window"):
        page.evaluate(Path(AXE).read_text())
    found = page.evaluate("axe.run({ reporter: 'v2' }).then((result) => result.violations)")
    return [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found]


def fill_in(page: Any) -> None:
    page.get_by_label("Hours of sleep").fill(SENTINEL)
    page.get_by_label("Cups of coffee").fill("9")
    page.get_by_label("How often do you nap?").select_option("3")
    page.get_by_label("Night owl").check()
    page.locator("#neighbours").fill("3, 44 120")


def kept_report(page: Any) -> str:
    """The bytes of the one report that the browser keeps, in hexadecimal; the page shows them once they are stored."""
    (report,) = page.evaluate("JSON.parse(localStorage.getItem('privet-ledger-1')).reports")
    return str(report["body"])


def shown_report(page: Any) -> str:
    """The report's bytes in hexadecimal, as the page shows them."""
    return str(page.locator("#sent-report code").first.text_content())
