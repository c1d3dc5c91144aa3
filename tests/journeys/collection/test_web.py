"""The pages in real Chromium against a real collector: what people see, what is sent, and what is refused."""

from __future__ import annotations

import hashlib
import json
import math
import random
import runpy
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from simulated_studies import asked
from web_visits import (
    CHROMIUM,
    OPERATOR_KEY,
    SENTINEL,
    Live,
    Visit,
    at,
    fill_in,
    kept_report,
    make_study,
    numeric_study,
    shown_report,
)

from privet.collection.device.consent import to_you
from privet.collection.study.manifest import Study
from privet.data import Schema
from privet.privacy.rounding import at_most, odds_factor

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

VECTORS = Path(__file__).parents[2] / "collection"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.fixture(scope="module")
def live(serve: Callable[[Study], Live]) -> Live:
    return serve(make_study())


def test_chromium_makes_the_vectors(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.origin)
    script = (VECTORS / "check_vectors.js").read_text()
    page.route("**/web/check_vectors.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    maker = runpy.run_path(str(VECTORS / "make_vectors.py"))
    vectors = maker["with_plain_values"](json.loads((VECTORS / "vectors.json").read_text()))
    found = page.evaluate(
        "async (vectors) => (await import('/web/check_vectors.js')).differences(vectors, '/web')", vectors
    )
    assert found == []


def test_real_words_are_random(live: Live, visitor: Callable[..., Visit]) -> None:
    """20,000 words, more than the browser gives at once: all differ, and half of the bits are ones (5 sigma)."""
    page = visitor().open(live.origin)
    program = """async () => {
      const { SystemBits } = await import("/web/mechanisms/bits.js");
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
    assert page.get_by_text("Asked by privet developers").is_visible()
    page.get_by_text("Costs in detail, limits of the protection").click()
    for text in (
        "privet developers",
        "Everybody with a link.",
        f"{node} (from 0 to 299)",
        "one randomised report. Your answers stay here.",
        "at most 33.2.",
        "98% sure",
        "Your true choice is sent with 58% probability.",
        "It counts twice",
    ):
        assert page.get_by_text(text).first.is_visible(), text
    names = page.get_by_role("table", name="What is sent, and what each question costs").locator("tbody th")
    assert [" ".join(text.split()) for text in names.all_inner_texts()] == [
        "Hours of sleep Cups of coffee How often do you nap?",
        "Which type are you?",
        "Who are you connected with? (each connection)",
        "In all",
    ]
    expected = [f"{to_you(text)[0].upper()}{to_you(text)[1:]}." for text in live.study.guarantee().unprotected]
    assert page.locator("#unprotected li").all_inner_texts() == expected
    picture(page, f"participant-1-{width}-{scheme}")

    page.get_by_role("button", name="Continue").click()
    assert "4 answers need your attention" in page.get_by_role("alert").first.inner_text()
    picture(page, f"participant-2-problems-{width}-{scheme}")
    fill_in(page)
    page.get_by_label("Cups of coffee").blur()
    assert page.get_by_text("it will count as 6").is_visible()

    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    assert page.evaluate("document.activeElement.id") == "check-heading"
    table = page.get_by_role("table", name="Your answers", exact=True)
    assert "Night owl" in table.inner_text()
    assert "3, 44, 120" in table.inner_text()
    possible = page.get_by_role("table", name="What may be sent for your answers").inner_text()
    assert "Your true choice is sent with 58% probability." in possible
    picture(page, f"participant-3-check-{width}-{scheme}")
    assert visit.reports == []

    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    picture(page, f"participant-4-sent-{width}-{scheme}")
    body = shown_report(page)
    plain = str(page.locator("#sent-report code").nth(1).text_content())
    sent = live.study.release.wire.to_json(bytes.fromhex(body))
    assert json.loads(plain) == sent
    group = ("Early bird", "Night owl", "Neither")[sent["label"]]
    assert page.get_by_text("Chance may have changed any of these").is_visible()
    values = page.get_by_role("table", name="The report that is stored")
    assert group in values.get_by_role("row", name="Which type are you?").inner_text()
    assert visit.reports == [bytes.fromhex(live.study.id + body)]
    assert live.store.get(node) == bytes.fromhex(body)
    assert page.get_by_text(hashlib.sha256(bytes.fromhex(body)).hexdigest()).is_visible()
    remembered = page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
    for place in (page.content(), remembered, *visit.requests):
        assert SENTINEL not in place
    assert page.locator("input:not(#limit), textarea, select:not(#language)").count() == 0


def test_a_reload_finds_the_same_report_and_sends_nothing_twice(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(20))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.route("**/reports", lambda route: route.abort())
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text("The report is kept").wait_for()
    first = kept_report(page)
    page.unroute("**/reports")
    page.reload()
    page.get_by_text("Your report is made and its cost is written down").wait_for()
    assert kept_report(page) == first
    assert SENTINEL not in page.content()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert shown_report(page) == first
    assert live.store.get(20) == bytes.fromhex(first)
    page.reload()
    page.get_by_role("heading", name="your report is stored").wait_for()
    page.get_by_text("Your privacy budget: history and limit").click()
    assert page.get_by_role("table", name="Reports made in this browser").locator("tbody tr").count() == 1
    assert visit.reports == [bytes.fromhex(live.study.id + first)] * 2  # the try that was lost, and one more
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    receipt = json.loads(Path(download.value.path()).read_text())
    assert (receipt["study"], receipt["participant"], receipt["report"]) == (live.study.id, 20, first)
    told = {each["question"]: each["sent"] for each in receipt["in_words"]}
    assert told["Which type are you?"] in ("Early bird", "Night owl", "Neither")


def test_two_tabs_make_one_report_and_send_it_when_online_again(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    pages = [visit.open(live.link(21)) for _ in range(2)]
    for page in pages:
        page.bring_to_front()
        fill_in(page)
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Send my report").wait_for()
    visit.context.set_offline(True)
    for page in pages:
        page.bring_to_front()
        page.get_by_role("button", name="Send my report").click()
        page.get_by_text("You are offline. Nothing is drawn yet").wait_for()
    visit.context.set_offline(False)
    for page in pages:
        page.bring_to_front()
        page.get_by_role("heading", name="your report is stored").wait_for()
    assert {live.store.get(21)} == {each[32:] for each in visit.reports} == {bytes.fromhex(kept_report(pages[0]))}


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
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text("The collector cannot be reached. The report is kept").wait_for()
    body = kept_report(page)
    page.get_by_role("button", name="Try now").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert len(tries) == 3
    assert set(visit.reports) == {bytes.fromhex(live.study.id + body)}
    assert live.store.get(22) == bytes.fromhex(body)


@pytest.mark.parametrize("forgets", ["another browser", "evicted", "evicted, then offline"])
def test_no_second_report_is_drawn_where_the_collector_has_one(
    live: Live, visitor: Callable[..., Visit], forgets: str
) -> None:
    """A browser that does not remember: two independent reports would cost twice what its ledger says."""
    node = 230 + len(forgets)
    visit = visitor()
    page = visit.open(live.link(node))
    answer_all(page)
    page.get_by_role("heading", name="your report is stored").wait_for()
    first = list(visit.reports)
    if forgets == "another browser":
        visit = visitor()
        page = visit.open(live.link(node))
        first = []
    else:
        page.evaluate("localStorage.clear()")
        page.reload()
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").wait_for()
    visit.context.set_offline("offline" in forgets)
    page.get_by_role("button", name="Send my report").click()
    if "offline" in forgets:
        page.get_by_text("You are offline. Nothing is drawn yet").wait_for()
        visit.context.set_offline(False)
    page.get_by_role("heading", name="Another report is stored for you already").wait_for()
    ledger = json.loads(page.evaluate("localStorage.getItem('privet-ledger-1')") or '{"reports": [], "refunds": []}')
    assert (visit.reports, ledger["reports"], ledger["refunds"]) == (first, [], [])


def test_a_mistyped_token_costs_nothing_and_binds_the_browser_to_nobody(
    live: Live, visitor: Callable[..., Visit]
) -> None:
    visit = visitor()
    token = live.tokens.issue(270)
    for place in (1, 31):  # a letter of the number, and one of the signature
        wrong = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        page = visit.open(live.link(270, token=wrong))
        if page.locator("#refusal").is_hidden():
            answer_all(page)
        page.locator("#refusal").get_by_text("token").first.wait_for()
        assert page.evaluate("localStorage.getItem('privet-ledger-1')") is None
    page = visit.open(live.link(270))
    answer_all(page)
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert len(visit.reports) == 1


def test_four_tabs_that_send_at_once_send_one_report(live: Live, visitor: Callable[..., Visit]) -> None:
    """What another tab of this browser has sent is no other report: every tab ends with the receipt."""
    visit = visitor()
    pages = [visit.open(live.link(260)) for _ in range(4)]
    for page in pages:
        fill_in(page)
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Send my report").wait_for()
    for page in pages:
        page.evaluate("setTimeout(() => document.getElementById('send').click(), 1500 - (Date.now() % 1500))")
    for page in pages:
        page.get_by_role("heading", name="your report is stored").wait_for()
    assert len(set(visit.reports)) == 1
    assert len(json.loads(pages[0].evaluate("localStorage.getItem('privet-ledger-1')"))["reports"]) == 1


def test_a_report_that_the_browser_forgot_is_not_tried_again(live: Live, visitor: Callable[..., Visit]) -> None:
    """One tab cannot reach the collector, the memory is lost, and another tab makes and sends a report."""
    visit = visitor()
    early = visit.open(live.link(261))
    early.route("**/reports", lambda route: route.abort())
    answer_all(early)
    early.get_by_text("The report is kept").wait_for()
    early.evaluate("localStorage.clear()")
    late = visit.open(live.link(261))
    answer_all(late)
    late.get_by_role("heading", name="your report is stored").wait_for()
    early.unroute("**/reports")
    early.bring_to_front()
    early.get_by_text("This report was taken back in another window.").wait_for()
    assert live.store.conflicts() == 0


def answer_all(page: Any) -> None:
    """Answer and send."""
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()


def test_the_token_is_in_no_address_once_it_was_read(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(280, lang="de"))
    page.locator("#form").wait_for()
    token = live.tokens.issue(280)
    assert page.url == f"{live.origin}/#study={live.study.id}&lang=de"
    page.locator("#language").select_option("en")
    page.get_by_role("button", name="Continue").wait_for()
    page.reload()
    answer_all(page)
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert live.store.get(280) is not None
    assert token not in page.url + page.content() + page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    page.goto(live.link(281))  # another person's link in the same tab
    page.get_by_text("This browser answered the study as somebody else").wait_for()
    assert live.tokens.issue(281) not in page.url


def test_who_only_reads_is_not_heard_of(live: Live, visitor: Callable[..., Visit]) -> None:
    """The token leaves with the decision to send, and not before."""
    visit = visitor()
    page = visit.open(live.link(231))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Do not send").wait_for()
    assert [url for url in visit.requests if "/reports" in url] == []


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_every_figure_of_a_price_is_the_clients_in_every_language(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit], language: str
) -> None:
    """Epsilons without a short decimal: 0.333333 would be less than a third, and other documents say 0.3334."""
    schema = Schema.numeric(1, low=0.0, high=1.0, classes=3)
    labels, features = {"epsilon": 1 / 3}, {"mechanism": "multi-bit", "epsilon": math.pi}
    collector = serve(numeric_study(title="Odd prices", schema=schema, labels=labels, features=features))
    page = visitor().open(collector.link(1, lang=language))
    page.locator("#form").wait_for()
    total = collector.study.price.epsilon
    written = [each.replace(".", "." if language == "en" else ",") for each in map(at_most, (math.pi, 1 / 3, total))]
    rows = page.locator("#parts tbody tr").evaluate_all("rows => rows.map((row) => row.cells[2].textContent)")
    assert sorted(rows) == sorted(written)
    factors = page.locator("#parts tbody tr").evaluate_all("rows => rows.map((row) => row.cells[3].textContent)")
    assert factors[-1][2:].replace(",", ".") == odds_factor(total)
    assert written[2] in page.locator("#budget-words").text_content()
    page.locator("input[type=number], input[inputmode]").first.fill("1")
    page.locator("#questions input[type=radio]").first.check()
    page.locator("#make").click()
    page.locator("#send").click()
    page.locator("#receipt").get_by_text(f"ε = {written[2]}", exact=True).wait_for()
    assert written[2] in page.locator("#budget-words").text_content()
    assert written[2] in page.locator("#history").text_content()


def test_a_cost_is_never_rounded_down(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor(1280).open(live.link(26))
    rng = random.Random(0)
    cases = [[0.1, 0.7, 0.0], *([rng.uniform(0, 8) for _ in range(3)] for _ in range(300))]
    script = 'async (cases) => { const { sumUp } = await import("/web/texts/numbers.js"); return cases.map(sumUp); }'
    sums = page.evaluate(script, cases)
    for values, total in zip(cases, sums, strict=True):
        exact = sum(map(Fraction, values))
        assert exact <= Fraction(total) <= exact * (1 + Fraction(1, 2**50))


def test_the_owners_limit(live: Live, visitor: Callable[..., Visit], picture: Callable[[Any, str], None]) -> None:
    visit = visitor(390)
    page = visit.open(live.link(24))
    page.get_by_text("Your privacy budget: history and limit").click()
    limit = page.get_by_label("My limit for everything on this site")
    limit.fill("3.4999")
    page.get_by_role("button", name="Save limit").click()
    page.get_by_role("heading", name="This study would exceed your limit").wait_for()
    assert page.get_by_text("3.4999 is left of your own limit").is_visible()
    assert not page.get_by_role("button", name="Continue").is_visible()
    picture(page, "participant-over-limit-390")
    page.reload()
    page.get_by_role("heading", name="This study would exceed your limit").wait_for()
    limit.fill("3.5")
    page.get_by_role("button", name="Save limit").click()
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
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
    page.route("**/public/*", lambda route: route.fulfill(body=changed, content_type="application/json"))
    page.goto(live.link(31))
    page.get_by_role("heading", name="This is not the study you were invited to").wait_for()


OTHERS = asked({"mechanism": "hds", "epsilon": 9.0}, {"epsilon": 9.0})
DEARER = {"system": "inquiry", "settings": {}, "questions": OTHERS}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "privet-study-1"}, "its format is"),
        ({"surprise": 1}, "unknown field “surprise”"),
        ({"release": asked({"mechanism": "none", "epsilon": 1.0})}, "is unknown"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1e-12})}, "finite precision"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1.0, "steps": 7})}, "unknown field “steps”"),
        ({"release": asked({"mechanism": "hds", "epsilon": 1.0}) * 2}, "asks a question twice"),
        ({"earlier": ["0"]}, "earlier is not a list"),
        ({"earlier": [f"{number:064x}" for number in range(101)]}, "earlier names more than 100 rounds"),
        ({"panel": "sha256:0"}, "people or panel"),
        ({"plan": {"system": "inquiry"}}, "lacks the field “settings”"),
        ({"plan": {"system": "inquiry", "settings": {}, "questions": []}}, "which its plan does not announce"),
        ({"plan": DEARER}, "otherwise than its plan announces"),
        ({"delete_after": -1}, "delete_after"),
        ({"release": []}, "asks nobody"),
        ({"release": {"ask": "features"}}, "is not a list of questions"),
        ({"release": [{"ask": "length", "mechanism": "degree-response", "epsilon": 1.0}]}, "does not have"),
        ({"release": [{"ask": ["features"], "mechanism": "hds", "epsilon": 1.0}]}, "is not a text"),
        ({"release": [{"ask": "features", "mechanism": ["hds"], "epsilon": 1.0}]}, "is not a text"),
        ({"release": [None]}, "is not a list of questions"),
        ({"release": [["features"]]}, "is not a list of questions"),
        ({"opens": ["2026-01-01T00:00:00Z"]}, "a time is not one"),
        ({"closes": ["2126-01-01T00:00:00Z"]}, "a time is not one"),
    ],
)
def test_manifests_that_are_not_understood_are_refused(
    live: Live, visitor: Callable[..., Visit], change: dict[str, Any], problem: str
) -> None:
    page = visitor().open(live.origin)
    text = json.dumps({**json.loads(live.study.canonical()), **change})
    program = """async ([text, id]) => {
      const { readStudy } = await import("/web/study/study.js");
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
    page.get_by_role("button", name="Send my report").wait_for()
    page.route("**/reports", lambda route: route.abort())
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text("The report is kept").wait_for()
    # As if the browser had ended between the drawing and the sending.
    page.evaluate("""() => {
      const ledger = JSON.parse(localStorage.getItem("privet-ledger-1"));
      ledger.reports[0].tried = null;
      localStorage.setItem("privet-ledger-1", JSON.stringify(ledger));
    }""")
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    urlopen(Request(f"{collector.origin}/operator/close", headers=headers, method="POST")).close()
    page.unroute("**/reports")
    visit.reports.clear()
    page.reload()
    page.get_by_text("The study was closed by its operator. Your report never left this device.").wait_for()
    assert (collector.store.count(), visit.reports) == (0, [])
    assert not page.get_by_role("button", name="Send my report").is_visible()
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
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text("The report is kept").wait_for()
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    assert page.request.post(f"{collector.origin}/operator/close", headers=headers).ok
    page.reload()
    page.get_by_text("Your report is made and its cost is written down").wait_for()
    ledger = json.loads(page.evaluate("localStorage.getItem('privet-ledger-1')"))
    assert (len(ledger["reports"]), ledger["refunds"]) == (1, [])


def test_what_is_no_number_is_not_randomised(live: Live, visitor: Callable[..., Visit]) -> None:
    """NaN would become the same bit for ever, and a report of it the truth."""
    page = visitor().open(live.origin)
    program = """async () => {
      const { AdjacencyResponse, HDS, MultiBit, ...others } = await import("/web/mechanisms/mechanisms.js");
      const { RandomizedResponse, SampledResponse } = others;
      const { SystemBits } = await import("/web/mechanisms/bits.js");
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
    assert page.get_by_text("400 answers read. 1 lies outside").is_visible()
    file = tmp_path / "answers.csv"
    file.write_text("\n".join(["0.75"] * 400))
    page.get_by_label("Or read them from a file").set_input_files(file)
    page.get_by_text("400 answers read.", exact=True).wait_for()
    picture(page, "participant-many-390")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    picture(page, "participant-many-check-390")
    page.get_by_role("button", name="Send my report").click()
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


def test_nothing_is_drawn_before_a_person_decides_to_send(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit]
) -> None:
    collector = serve(numeric_study(title="Declined"))
    visit = visitor()
    visit.context.add_init_script(
        "window.drawn = 0; const draw = crypto.getRandomValues.bind(crypto);"
        "crypto.getRandomValues = (array) => { window.drawn += 1; return draw(array); };"
    )
    page = visit.open(collector.link(1))
    page.get_by_label("Feature 0").fill("0.5")
    page.get_by_label("Feature 0").press("Enter")
    page.get_by_role("button", name="Do not send").click()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "decline"
    page.get_by_role("button", name="Do not send").click()
    assert page.evaluate("document.activeElement.id") == "confirm-no"
    page.get_by_role("button", name="Do not send one").click()
    page.get_by_text("No report was made, and nothing is spent.").wait_for()
    assert page.evaluate("document.activeElement.id") == "ended-heading"
    assert page.evaluate("localStorage.getItem('privet-ledger-1')") is None
    assert page.evaluate("[window.drawn, sessionStorage.length]") == [0, 0]
    page.get_by_text("Your privacy budget: history and limit").click()
    assert page.get_by_text("So far you have given away ε = 0").is_visible()
    page.reload()
    assert page.get_by_label("Feature 0").input_value() == ""  # whoever changes their mind begins anew
    page.get_by_label("Feature 0").fill("0.5")
    page.get_by_label("Feature 0").press("Enter")
    page.get_by_role("button", name="Change my answers").click()
    assert page.evaluate("document.activeElement.id") == "answer-heading"
    page.get_by_label("Feature 0").fill("0.25")
    page.get_by_role("button", name="Continue").click()
    assert "0.25" in page.get_by_role("table", name="Your answers", exact=True).inner_text()
    assert (collector.store.count(), visit.reports, page.evaluate("window.drawn")) == (0, [], 0)
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert page.evaluate("window.drawn") > 0
    assert collector.store.count() == 1


def test_what_has_left_cannot_be_kept_back(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(40))
    page.route("**/reports", lambda route: route.abort())
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_text("The report is kept").wait_for()
    assert not page.get_by_role("button", name="Do not send").is_visible()
    page.reload()
    page.get_by_role("button", name="Send my report").wait_for()
    assert not page.get_by_role("button", name="Do not send").is_visible()


def test_a_withdrawal(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(live.link(41))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    asked_for: list[tuple[str, str]] = []
    answers = [(503, {"error": "The store did not answer; try again."}), (200, {"status": "erased"})]

    def collector(route: Any) -> None:
        asked_for.append((route.request.method, route.request.headers["authorization"]))
        status, document = answers.pop(0)
        route.fulfill(status=status, json=document)

    page.route("**/reports", collector)
    page.get_by_role("button", name="Withdraw my report").click()
    page.get_by_role("button", name="Leave it stored").click()
    assert asked_for == []
    page.get_by_role("button", name="Withdraw my report").click()
    page.get_by_role("button", name="Withdraw it").click()
    page.get_by_text("Nothing was withdrawn: The store did not answer; try again.").wait_for()
    page.get_by_role("button", name="Withdraw my report").click()
    page.get_by_role("button", name="Withdraw it").click()
    page.get_by_text("Its cost stays in your ledger, because the report was seen").wait_for()
    token = live.link(41).partition("token=")[2].partition("&")[0]
    assert asked_for == [("DELETE", f"Bearer {token}")] * 2
    page.get_by_text("Your privacy budget: history and limit").click()
    assert page.get_by_text("So far you have given away ε = 3.5").is_visible()
    assert page.get_by_role("table", name="Reports made in this browser").get_by_text("withdrawn on").is_visible()
    page.reload()
    page.get_by_role("heading", name="Your report is withdrawn").wait_for()
    assert not page.get_by_role("button", name="Send my report").is_visible()


def test_people_read_when_their_report_is_deleted_before_they_agree(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit]
) -> None:
    study = numeric_study(opens="2026-01-01T00:00:00Z", closes="2035-02-01T12:00:00Z", delete_after=28)
    page = visitor(timezone_id="Europe/Berlin").open(serve(study).link(3))
    page.get_by_text("Costs in detail, limits of the protection").click()
    told = page.locator("#facts").inner_text()
    assert "28 days after closing: 1 March 2035 at 13:00. Until then you can withdraw it with this link." in told


def test_the_browser_is_asked_to_keep_the_ledger(live: Live, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    visit.context.add_init_script(
        "StorageManager.prototype.persist = async () => { localStorage.asked = `${localStorage.asked ?? ''}!`; throw 1}"
    )
    page = visit.open(live.link(43))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    assert page.evaluate("localStorage.asked ?? ''") == ""
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    assert page.evaluate("localStorage.asked") == "!"  # and a refusal changes nothing


def test_a_keyboard_reaches_everything_in_order(live: Live, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(live.link(42))
    page.locator("#answer").wait_for()
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.parentElement.id"))
    features = ["feature-0", "feature-1", "feature-2"]
    assert seen[:9] == ["language", "more", *features, "label-0", "neighbours", "make", "budget"]
    page.get_by_role("button", name="Continue").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "problems"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "feature-0"
    assert page.locator("#feature-0").get_attribute("aria-invalid") == "true"
