"""The pages in real Chromium against a real collector: what people see, what is sent, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import random
import runpy
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from simulated_studies import asked

from privet.collection.server.app import Limits, create_app
from privet.collection.server.store import Store
from privet.collection.study import Study
from privet.collection.tokens import Tokens, new_key
from privet.data import Categories, Interval, Schema
from privet.mechanisms import SeededBits
from privet.release import PrivateData

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("PRIVET_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

HERE = Path(__file__).parent
OPERATOR_KEY = "the-operators-key"
SENTINEL = "7.123456"  # a raw answer that must be nowhere once the report is sent
OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP insecure.test 127.0.0.1"),
)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def at(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def make_study(**changes: Any) -> Study:
    """The study of most tests; ``features``, ``labels`` and ``neighbours`` are the parameters of these questions."""
    questions: dict[str, Any] = {"features": {"mechanism": "hds", "epsilon": 1.5, "sample": 2}}
    questions |= {"labels": {"epsilon": 1.0}, "neighbours": {"epsilon": 0.5}}
    questions |= {name: changes.pop(name) for name in tuple(questions) if name in changes}
    schema = Schema((Interval(0.0, 12.0), Interval(0.0, 6.0), Categories(5)), classes=3, private_edges=True)
    values: dict[str, Any] = {
        "title": "Sleep and friendship",
        "purpose": "How sleep goes together with the sleep of friends.",
        "operator": "privet developers",
        "eligible": "Everybody with a link.",
        "nodes": 300,
        "schema": schema,
        "questions": ["Hours of sleep", "Cups of coffee", "How often do you nap?"],
        "class_question": "Which type are you?",
        "class_names": ["Early bird", "Night owl", "Neither"],
        "release": asked(**questions),
        "opens": at(-30),
        "closes": at(200),
    }
    return Study(**{**values, **changes})


def numeric_study(**changes: Any) -> Study:
    """One numeric answer or more, and nothing else is asked."""
    nothing: dict[str, Any] = {"questions": None, "class_question": None, "class_names": None, "labels": None}
    features = {"mechanism": "multi-bit", "epsilon": 1.0}
    schema = Schema.numeric(1, low=0.0, high=1.0)
    return make_study(**{"neighbours": None, "schema": schema, "features": features, **nothing, **changes})


class Live:
    """A collector under uvicorn in a thread."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.study, self.tokens = study, Tokens(study, new_key())
        self.store = Store.open(folder / f"{study.id[:12]}.sqlite", study)
        app = create_app(self.store, self.tokens, OPERATOR_KEY, Limits(rate=0))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.origin = f"http://localhost:{self.port}"
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, ws="none"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def link(self, node: int, study: str | None = None, token: str | None = None) -> str:
        return f"{self.origin}/#token={token or self.tokens.issue(node)}&study={study or self.study.id}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
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
        page.set_default_timeout(20_000)
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
        # Chromium itself logs every refused request; everything else is a fault (among them CSP violations).
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
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
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
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


@pytest.fixture(scope="module")
def live(serve: Callable[[Study], Live]) -> Live:
    return serve(make_study())


@pytest.fixture
def visitor(browser: Any) -> Iterator[Callable[..., Visit]]:
    visits: list[Visit] = []

    def begin(width: int = 1280, scheme: str = "light") -> Visit:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, locale="en-GB", reduced_motion="reduce")
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
    audit = (HERE / "audit_page.js").read_text().rstrip().removesuffix(";")

    def keep(page: Any, name: str) -> None:
        faults = page.evaluate(audit)
        page.screenshot(path=folder / f"{name}.png", full_page=True, caret="initial")
        assert not faults, f"{name}: {'; '.join(faults)}"

    return keep


def fill_in(page: Any) -> None:
    page.get_by_label("Hours of sleep").fill(SENTINEL)
    page.get_by_label("Cups of coffee").fill("9")
    page.get_by_label("How often do you nap?").select_option("3")
    page.get_by_label("Night owl").check()
    page.get_by_label("Who are you connected with?").fill("3, 44 120")


def shown_report(page: Any) -> str:
    """The report's bytes in hexadecimal, as the page shows them."""
    return str(page.locator("#bytes code").first.text_content())


def test_chromium_makes_the_vectors(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.origin)
    script = (HERE / "check_vectors.js").read_text()
    page.route("**/web/check_vectors.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    maker = runpy.run_path(str(HERE / "make_vectors.py"))
    vectors = maker["with_plain_values"](json.loads((HERE / "vectors.json").read_text()))
    found = page.evaluate(
        "async (vectors) => (await import('/web/check_vectors.js')).differences(vectors, '/web')", vectors
    )
    assert found == []


def test_real_words_are_random(live: Live, visitor: Callable[..., Visit]) -> None:
    """20,000 words, more than the browser gives at once: all differ, and half of the bits are ones (5 sigma)."""
    page = visitor().open(live.origin)
    program = """async () => {
      const { SystemBits } = await import("/web/bits.js");
      const words = Array.from(new SystemBits().words(20000), (word) => word.toString(2));
      return [new Set(words).size, words.join("").replaceAll("0", "").length];
    }"""
    different, ones = page.evaluate(program)
    assert different == 20_000
    assert abs(ones - 640_000) < 5 * 566


@pytest.mark.parametrize(("width", "scheme", "node"), [(1280, "light", 10), (390, "dark", 11)])
def test_whole_participation(
    live: Live, visitor: Callable[..., Visit], picture: Callable[[Any, str], None], width: int, scheme: str, node: int
) -> None:
    visit = visitor(width, scheme)
    page = visit.open(live.link(node))
    page.get_by_role("heading", name="Sleep and friendship").wait_for()
    for text in (
        "privet developers",
        "Everybody with a link.",
        f"{node} (from 0 to 299)",
        "Your answers are randomised before anything leaves this device",
        "at most 33.2.",
        "98 % sure",
        "Your true choice is sent with 58 % probability.",
        "It counts twice",
    ):
        assert page.get_by_text(text).first.is_visible(), text
    expected = [f"{text[0].upper()}{text[1:]}." for text in live.study.guarantee().unprotected]
    assert page.locator("#unprotected li").all_inner_texts() == expected
    page.evaluate("document.querySelectorAll('details').forEach((details) => (details.open = true))")
    picture(page, f"participant-1-{width}-{scheme}")

    page.get_by_role("button", name="Make my report").click()
    assert "4 answers need your attention" in page.get_by_role("alert").first.inner_text()
    picture(page, f"participant-2-problems-{width}-{scheme}")
    fill_in(page)
    page.get_by_label("Cups of coffee").blur()
    assert page.get_by_text("it will count as 6").is_visible()

    page.get_by_role("button", name="Make my report").click()
    page.get_by_role("heading", name="Check what will be sent").wait_for()
    assert page.evaluate("document.activeElement.id") == "check-heading"
    table = page.get_by_role("table", name="Your answers beside the report")
    assert "Night owl" in table.inner_text()
    assert "3, 44, 120" in table.inner_text()
    picture(page, f"participant-3-check-{width}-{scheme}")
    body = shown_report(page)
    plain = str(page.locator("#bytes code").nth(1).text_content())
    assert json.loads(plain) == live.study.release.wire.to_json(bytes.fromhex(body))
    assert visit.reports == []

    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    picture(page, f"participant-4-sent-{width}-{scheme}")
    assert visit.reports == [bytes.fromhex(live.study.id + body)]
    assert live.store.get(node) == bytes.fromhex(body)
    assert page.get_by_text(hashlib.sha256(bytes.fromhex(body)).hexdigest()).is_visible()
    remembered = page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
    for place in (page.content(), remembered, *visit.requests):
        assert SENTINEL not in place
    assert page.locator("input:not(#limit), textarea, select").count() == 0


def test_a_reload_finds_the_same_report_and_sends_nothing_twice(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(20))
    fill_in(page)
    page.get_by_role("button", name="Make my report").click()
    first = shown_report(page)
    page.reload()
    page.get_by_text("made earlier in this browser").wait_for()
    assert shown_report(page) == first
    assert SENTINEL not in page.content()
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert live.store.get(20) == bytes.fromhex(first)
    page.reload()
    page.get_by_role("heading", name="your report is stored").wait_for()
    page.get_by_text("History and limit").click()
    assert page.get_by_role("table", name="Reports made in this browser").locator("tbody tr").count() == 1
    assert len(visit.reports) == 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    receipt = json.loads(Path(download.value.path()).read_text())
    assert (receipt["study"], receipt["participant"], receipt["report"]) == (live.study.id, 20, first)


def test_two_tabs_make_one_report_and_send_it_when_online_again(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    pages = [visit.open(live.link(21)) for _ in range(2)]
    for page in pages:
        page.bring_to_front()
        fill_in(page)
        page.get_by_role("button", name="Make my report").click()
    assert shown_report(pages[0]) == shown_report(pages[1])
    assert pages[1].get_by_text("made earlier in this browser").is_visible()
    visit.context.set_offline(True)
    pages[1].get_by_role("button", name="Send this report").click()
    pages[1].get_by_text("You are offline. The report is kept").wait_for()
    visit.context.set_offline(False)
    pages[1].get_by_role("heading", name="your report is stored").wait_for()
    assert live.store.get(21) == visit.reports[0][32:]


def test_errors_and_a_lost_answer_are_survived_with_the_same_bytes(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(22))
    tries: list[str] = []

    def unreliable(route: Any) -> None:
        tries.append("try")
        if len(tries) == 1:
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"error": "The store did not answer."})
        elif len(tries) == 2:
            route.fetch()  # the collector stores the report, and its answer is lost
            route.abort()
        else:
            route.continue_()

    page.route("**/reports", unreliable)
    fill_in(page)
    page.get_by_role("button", name="Make my report").click()
    body = shown_report(page)
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("The collector cannot be reached. The report is kept").wait_for()
    page.get_by_role("button", name="Try now").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert len(tries) == 3
    assert set(visit.reports) == {bytes.fromhex(live.study.id + body)}
    assert live.store.get(22) == bytes.fromhex(body)


def test_a_different_report_is_refused_by_the_collector(live: Live, visitor: Callable[..., Visit]) -> None:
    """The same token in two browsers: the second report is never stored, and its owner is told."""
    for number in range(2):
        page = visitor().open(live.link(23))
        fill_in(page)
        page.get_by_role("button", name="Make my report").click()
        page.get_by_role("button", name="Send this report").click()
        expected = ("your report is stored", "Another report is stored for you already")[number]
        page.get_by_role("heading", name=expected).wait_for()


def test_a_cost_is_never_rounded_down(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor(1280).open(live.link(26))
    rng = random.Random(0)
    cases = [[0.1, 0.7, 0.0], *([rng.uniform(0, 8) for _ in range(3)] for _ in range(300))]
    script = 'async (cases) => { const { sumUp } = await import("/web/numbers.js"); return cases.map(sumUp); }'
    sums = page.evaluate(script, cases)
    for values, total in zip(cases, sums, strict=True):
        exact = sum(map(Fraction, values))
        assert exact <= Fraction(total) <= exact * (1 + Fraction(1, 2**50))


def test_the_owners_limit(live: Live, visitor: Callable[..., Visit], picture: Callable[[Any, str], None]) -> None:
    visit = visitor(390)
    page = visit.open(live.link(24))
    page.get_by_text("History and limit").click()
    limit = page.get_by_label("My limit for everything on this site")
    limit.fill("3.4999")
    page.get_by_role("button", name="Save limit").click()
    page.get_by_role("heading", name="This study would exceed your limit").wait_for()
    assert page.get_by_text("3.4999 is left of your own limit").is_visible()
    assert not page.get_by_role("button", name="Make my report").is_visible()
    picture(page, "participant-over-limit-390")
    page.reload()
    page.get_by_role("heading", name="This study would exceed your limit").wait_for()
    limit.fill("3.5")
    page.get_by_role("button", name="Save limit").click()
    fill_in(page)
    page.get_by_role("button", name="Make my report").click()
    page.get_by_role("heading", name="Check what will be sent").wait_for()
    other = visit.open(live.link(25))  # another participant's link in the same browser: one device, one answer
    other.get_by_role("heading", name="This browser answered the study as somebody else").wait_for()


@pytest.mark.parametrize(
    ("change", "headline"),
    [
        ({"study": "0" * 64}, "This is not the study you were invited to"),
        ({"study": "unknown"}, "Your link is not complete"),
        ({"token": "abc"}, "Your link has a damaged enrolment token"),
    ],
)
def test_bad_links_are_refused(
    live: Live,
    visitor: Callable[..., Visit],
    picture: Callable[[Any, str], None],
    change: dict[str, str],
    headline: str,
) -> None:
    visit = visitor()
    page = visit.open(live.link(30, **change))
    page.get_by_role("heading", name=headline).wait_for()
    assert page.locator("input:visible, textarea:visible").count() == 0
    picture(page, f"refusal-{headline.lower().replace(' ', '-')}")


def test_a_changed_manifest_is_refused(live: Live, visitor: Callable[..., Visit]) -> None:
    """A server that raises a budget after the links were given out."""
    page = visitor().open(live.origin)
    changed = live.study.canonical().replace(b'"epsilon":1.5', b'"epsilon":8.5')
    assert changed != live.study.canonical()
    page.route("**/study", lambda route: route.fulfill(body=changed, content_type="application/json"))
    page.goto(live.link(31))
    page.get_by_role("heading", name="This is not the study you were invited to").wait_for()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "privet-study-1"}, "its format is"),
        ({"surprise": 1}, "unknown field “surprise”"),
        ({"release": asked({"mechanism": "none", "epsilon": 1.0})}, "is unknown"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1e-12})}, "finite precision"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1.0, "steps": 7})}, "unknown field “steps”"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1.0}) * 2}, "in another order"),
        ({"release": {"ask": "features"}}, "is not a list of questions"),
        ({"release": [{"ask": "length", "mechanism": "degree-response", "epsilon": 1.0}]}, "does not have"),
    ],
)
def test_manifests_that_are_not_understood_are_refused(
    live: Live, visitor: Callable[..., Visit], change: dict[str, Any], problem: str
) -> None:
    page = visitor().open(live.origin)
    text = json.dumps({**json.loads(live.study.canonical()), **change})
    program = """async ([text, id]) => {
      const { readStudy } = await import("/web/study.js");
      return readStudy(new TextEncoder().encode(text), id).then(() => "accepted", (error) => error.message);
    }"""
    assert problem in page.evaluate(program, [text, hashlib.sha256(text.encode()).hexdigest()])


def test_studies_that_are_not_open_or_not_supported(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit], picture: Callable[[Any, str], None]
) -> None:
    gaussian = {"mechanism": "analytic-gaussian", "epsilon": 1.0, "delta": 1e-6}
    refused = {
        "This study is over": numeric_study(opens=at(-3), closes=at(-1)),
        "This study is not open yet": numeric_study(opens=at(3), closes=at(5)),
        "This study needs the Python client": numeric_study(features=gaussian),
    }
    for headline, study in refused.items():
        collector = serve(study)
        page = visitor().open(collector.link(1))
        page.get_by_role("heading", name=headline).wait_for()
        assert page.locator("input:visible").count() == 0
        picture(page, f"refusal-{headline.lower().replace(' ', '-')}")


def test_a_study_that_its_operator_closed(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit], picture: Callable[[Any, str], None]
) -> None:
    collector = serve(numeric_study(title="Closed early"))
    visit = visitor()
    page = visit.open(collector.link(1))
    page.get_by_label("Feature 0").fill("0.5")
    page.get_by_label("Feature 0").press("Enter")
    page.get_by_role("heading", name="Check what will be sent").wait_for()
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    assert visit.context.request.post(f"{collector.origin}/operator/close", headers=headers).ok
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("The study was closed by its operator. Your report never left this device.").wait_for()
    assert (collector.store.count(), visit.reports) == (0, [])
    assert not page.get_by_role("button", name="Send this report").is_visible()
    page.get_by_text("History and limit").click()
    assert page.get_by_text("Refunded ε = 1 for “Closed early”, whose report was never sent").is_visible()
    assert "This study costs" not in page.locator("#budget-words").inner_text()
    picture(page, "participant-refunded")
    ledger = json.loads(page.evaluate("localStorage.getItem('privet-ledger-1')"))
    assert ledger["reports"] == []
    assert [(entry["cost"], entry["reason"]) for entry in ledger["refunds"]] == [
        (1.0, "The study was closed by its operator.")
    ]
    late = visitor().open(collector.link(2))
    late.get_by_text("No answers are asked for, and nothing was spent.").wait_for()
    assert late.locator("input:visible").count() == 0


def test_a_report_that_was_sent_is_not_refunded(serve: Callable[[Study], Live], visitor: Callable[..., Visit]) -> None:
    collector = serve(numeric_study(title="Lost on its way"))
    page = visitor().open(collector.link(1))
    page.route("**/reports", lambda route: route.abort())
    page.get_by_label("Feature 0").fill("0.5")
    page.get_by_label("Feature 0").press("Enter")
    page.get_by_role("button", name="Send this report").click()
    page.get_by_text("The report is kept").wait_for()
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    assert page.request.post(f"{collector.origin}/operator/close", headers=headers).ok
    page.reload()
    page.get_by_text("made earlier in this browser").wait_for()
    ledger = json.loads(page.evaluate("localStorage.getItem('privet-ledger-1')"))
    assert (len(ledger["reports"]), ledger["refunds"]) == (1, [])


def test_what_is_no_number_is_not_randomised(live: Live, visitor: Callable[..., Visit]) -> None:
    """NaN would become the same bit for ever, and a report of it the truth."""
    page = visitor().open(live.origin)
    program = """async () => {
      const { AdjacencyResponse, HDS, MultiBit, ...others } = await import("/web/mechanisms.js");
      const { RandomizedResponse, SampledResponse } = others;
      const { SystemBits } = await import("/web/bits.js");
      const [interval, categories] = [{ low: 0, high: 1 }, { kind: "categories", count: 3, low: 0, high: 2 }];
      const bits = new SystemBits();
      const budget = { epsilon: 1, one_sided: true };
      const bit = (value) => () => new MultiBit(budget, [interval]).perturb([value], bits);
      const tries = [NaN, Infinity, undefined, "0.5", 0.5].map(bit);
      tries.push(() => new HDS(budget, [interval]).perturb([NaN], bits));
      const sampled = new SampledResponse(budget, [categories]);
      for (const value of [NaN, 0.5, 1]) tries.push(() => sampled.perturb([value], bits));
      for (const value of [NaN, 3, 1]) tries.push(() => new RandomizedResponse(budget, 3).perturb(value, bits));
      for (const value of [NaN, 10, 4]) tries.push(() => new AdjacencyResponse(budget, 10).perturb([value], 1, bits));
      return tries.map((attempt) => { try { attempt(); return "made"; } catch (error) { return error.name; } });
    }"""
    refused, made = "RangeError", "made"
    assert page.evaluate(program) == [*[refused] * 4, made, refused, *[refused, refused, made] * 3]


def test_an_unencrypted_connection_is_refused(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(32).replace("localhost", "insecure.test"))
    page.get_by_role("heading", name="This connection is not safe").wait_for()
    assert page.locator("input:visible").count() == 0
    visit.troubles = [text for text in visit.troubles if "Cross-Origin-Opener-Policy" not in text]  # not for http


def test_hundreds_of_features(
    serve: Callable[[Study], Live],
    visitor: Callable[..., Visit],
    picture: Callable[[Any, str], None],
    tmp_path: Path,
) -> None:
    features = {"mechanism": "multi-bit", "epsilon": 2.0, "sample": 30}
    collector = serve(numeric_study(schema=Schema.numeric(400, low=0.0, high=1.0), features=features))
    page = visitor(390).open(collector.link(2))
    box = page.get_by_label("Your 400 answers")
    box.fill("0.5, 1, 2")
    assert page.get_by_text("400 answers are needed, and 3 were found.").is_visible()
    box.fill(json.dumps([0.25] * 399 + [7]))
    assert page.get_by_text("400 answers read. 1 lie outside").is_visible()
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(["0.75"] * 400))
    page.get_by_label("Or read them from a file").set_input_files(file)
    page.get_by_text("400 answers read.", exact=True).wait_for()
    picture(page, "participant-many-390")
    page.get_by_role("button", name="Make my report").click()
    page.get_by_role("heading", name="Check what will be sent").wait_for()
    picture(page, "participant-many-check-390")
    page.get_by_role("button", name="Send this report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert collector.store.answers()["features"].reports.symbols.shape == (1, 30)


def test_the_pages_are_served_with_a_strict_policy(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    for path in ("/", "/operator"):
        response = visit.context.request.get(live.origin + path)
        assert response.headers["content-security-policy"] == POLICY
    page = visit.open(live.origin)
    script = "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.broken = 1'}))"
    page.evaluate(script)
    assert page.evaluate("window.broken") is None
    assert len(visit.troubles) == 1  # the one that was provoked: the recorder hears of violations
    visit.troubles.clear()


def test_operator(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit], picture: Callable[[Any, str], None]
) -> None:
    study = make_study(title="An operator's study", neighbours=None, schema=Schema.numeric(3, 0.0, 1.0, classes=3))
    collector = serve(study)
    fill_store(collector)
    for width, scheme in ((1280, "light"), (390, "dark")):
        visit = visitor(width, scheme)
        page = visit.open(f"{collector.origin}/operator")
        page.get_by_label("Operator's key").fill("a wrong one")
        page.get_by_role("button", name="Open").click()
        page.get_by_text("This is not the operator's key of this study.").wait_for()
        picture(page, f"operator-gate-{width}-{scheme}")
        page.get_by_label("Operator's key").fill(OPERATOR_KEY)
        page.get_by_role("button", name="Open").click()
        page.get_by_role("heading", name="An operator's study").wait_for()
        page.get_by_text("The same as a table").click()
        for text in ("40.0 %", "of 300 participants", "invalid report", "lpgnn", "0.812", "multiply their odds"):
            assert page.get_by_text(text).first.is_visible(), text
        label = page.locator("#chart svg").get_attribute("aria-label")
        assert label == "120 of 300 participants have reported, 40 %."
        picture(page, f"operator-{width}-{scheme}")
        assert all(OPERATOR_KEY not in url for url in visit.requests)
        page.reload()
        page.get_by_role("heading", name="An operator's study").wait_for()
    page.get_by_role("button", name="Close the study").click()
    page.get_by_role("button", name="Keep it open").click()
    assert not collector.store.is_closed()
    page.get_by_role("button", name="Close the study").click()
    picture(page, "operator-confirm-390-dark")
    page.get_by_role("button", name="Close it for good").click()
    page.get_by_text("The study is closed.").wait_for()
    assert collector.store.is_closed()
    page.get_by_role("button", name="Forget the key").click()
    assert page.evaluate("sessionStorage.length") == 0


def test_the_operators_page_follows_the_study(serve: Callable[[Study], Live], visitor: Callable[..., Visit]) -> None:
    collector = serve(numeric_study(title="Growing"))
    visit = visitor()
    page = visit.open(f"{collector.origin}/operator")
    page.clock.install()
    page.get_by_label("Operator's key").fill(OPERATOR_KEY)
    page.get_by_role("button", name="Open").click()
    page.get_by_text("0.0 %").wait_for()
    collector.store.insert([5], [b"\x01"])
    page.clock.run_for(6000)
    page.get_by_text("0.3 %").first.wait_for()
    page.route("**/operator/summary", lambda route: route.abort())
    page.clock.run_for(6000)
    page.get_by_text("The collector cannot be reached. The figures below").wait_for()


def fill_store(collector: Live) -> None:
    """120 reports over the last day, some refusals, a conflict and a model."""
    study, chance = collector.study, np.random.default_rng(0)
    people = PrivateData(np.arange(120), chance.random((120, 3)), chance.integers(0, 3, 120))
    bodies = study.release.wire.pack(study.release.perturb(people, SeededBits(1)))
    moments = time.time() - 86400 * np.sort(chance.random(12))[::-1]
    for group, moment in enumerate(moments.tolist()):
        rows = slice(10 * group, 10 * group + 10)
        collector.store.insert(range(10 * group, 10 * group + 10), bodies[rows], now=moment)
    collector.store.insert([0], [bodies[1]])
    collector.store.reject({"invalid report": 3, "too many requests": 12})
    metrics = {"accuracy": 0.8123, "macro_f1": 0.79}
    collector.store.add_model(
        {"name": "first", "system": "lpgnn", "trained": "2026-03-01T12:00:00Z", "metrics": metrics}
    )
