"""The questions of later rounds in real Chromium against a real collector: resemblance, friends by name, panel."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import Response
from web_visits import CHROMIUM, Live, Visit, at, shown_report

from privet.collection.device.consent import to_you
from privet.collection.server.store.store import Store
from privet.collection.study.directory import Directory
from privet.collection.study.forms import OpenForm
from privet.collection.study.manifest import Study
from privet.data import Categories, Interval, Schema
from privet.data.population import Population
from privet.release import LocalRelease
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.resemblance import Resemblance, linear_scores
from privet.release.blobs import array_digest, blob_of

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

VECTORS = Path(__file__).parents[2] / "collection"
NODES, ME, PANELLIST, LONELY = 40, 20, 30, 33
SCHEMA = Schema((Interval(0.0, 12.0), Categories(2, ("no", "yes"))), 4, True, ("A", "B", "C", "D"))
NAMES = ["Ada Ångström", "José García", "Josephine Baker", "Zoë Müller", "O'Neil, Jo", "<b>Bold</b>"]
DIRECTORY = Directory((*NAMES, *(f"Person {i}" for i in range(len(NAMES), NODES))))
SCORER = np.array([[-3, 5, 0, 1], [10, 0, 0, 2], [0, -20, 0, 0]], dtype=np.int32)
OFFERS = np.array([[0, 1, 3] if i != LONELY else [2, -1, -1] for i in range(NODES)], dtype=np.int16)
TABLE = np.array([0, 0, 2, 1, *[-1] * (NODES - 4)], dtype=np.int32)
RANKS = np.array([0, 0, 0, 0, *[1] * (NODES - 4)], dtype=np.int32)
AGAIN = np.array([*[-1] * 4, 3, 3, *[-1] * (NODES - 6)], dtype=np.int32)
AGAIN_RANKS = np.array([0] * 6 + [1] * (NODES - 6), dtype=np.int32)


class Rounds(Live):
    """A collector of a study in three rounds: labels and a panel, both questions, the rest of the friends."""

    def __init__(self, folder: Path) -> None:
        self.asked_for: list[tuple[str, str | None]] = []  # public data, and with which authorisation
        panel = np.array([PANELLIST], dtype=np.int32)
        label = {"ask": "label", "mechanism": "randomized-response", "epsilon": 0.5}
        similar, friends = Resemblance(OFFERS, SCORER, unit_length=False), Friends(TABLE, RANKS)
        again = FriendsAgain(AGAIN, AGAIN_RANKS)
        ask = {"ask": "resemblance", "mechanism": "offered-response", "epsilon": 1.0, "most": 3, **similar.to_dict()}
        counts = {"mechanism": "counts", "epsilon": 0.75, "cap": 4}
        asked = [ask, {"ask": "friends", **counts, **friends.to_dict()}]
        rest = {"ask": "friends-again", **counts, **again.to_dict()}
        release = LocalRelease.from_list([label, *asked, rest], Population(SCHEMA, NODES))
        questions = [each.declared() for each in release.questions]
        plan = {"plan": {"system": "inquiry", "settings": {}, "questions": questions}}
        self.first = declared([label], panel=array_digest(panel), **plan)
        self.second = declared(asked, earlier=[self.first.id], **plan)
        self.other_second = declared(asked, earlier=[self.first.id], eligible="Others.", **plan)  # which nobody serves
        self.third = declared([rest], earlier=[self.first.id, self.second.id], **plan)
        store = Store.open(folder / f"{self.first.id[:12]}.sqlite", self.first)
        lists = "".join(f"{node},{name}\n" for node, name in enumerate(DIRECTORY.names))
        store.publish(lists.encode(), blob_of(panel))
        store.publish_asks(similar, friends, again)
        for later in (self.second, self.third):
            store.at(later)
        store.dispose()
        super().__init__(self.first, folder)

    def observed(self, app: Starlette) -> Starlette:
        async def note(request: Request, call_next: Callable[[Request], Any]) -> Response:
            response: Response = await call_next(request)
            if request.url.path.startswith("/public/"):
                header = request.headers.get("authorization")
                self.asked_for.append((request.url.path.removeprefix("/public/"), header))
                response.headers["Cache-Control"] = "no-store"  # so that no request hides in the browser's cache
            return response

        app.add_middleware(BaseHTTPMiddleware, dispatch=note)
        return app


def declared(release: list[dict[str, Any]], **rest: Any) -> Study:
    texts = {"title": "Commuting together", "purpose": "How friends get to work.", "operator": "privet developers"}
    values = {"eligible": "Everybody with a link.", "nodes": NODES, "schema": SCHEMA, "directory": DIRECTORY.digest}
    words = {"questions": ["Kilometres to work", "Do you own a car?"], "class_question": "Which group are you in?"}
    when = {"opens": at(-30), "closes": at(200), "release": release}
    return Study.read({**texts, **values, **words, **when, **rest})


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rounds]:
    live = Rounds(tmp_path_factory.mktemp("rounds"))
    yield live
    live.stop()


def pick(page: Any, typed: str, name: str) -> None:
    page.get_by_label("Who are your friends?").type(typed)
    page.get_by_role("button", name=f"Add {name}", exact=True).click()


def fill_in(page: Any) -> None:
    page.get_by_label("Kilometres to work").fill("2.5")
    page.get_by_label("Do you own a car?").select_option("yes")


def finish(page: Any) -> bytes:
    """Make the report and send it; its body."""
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    return bytes.fromhex(shown_report(page))


def test_chromium_finds_what_the_round_vectors_say(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(f"{rounds.origin}/web/icon.svg")
    script = (VECTORS / "check_round_vectors.js").read_text()
    page.route(
        "**/web/check_round_vectors.js", lambda route: route.fulfill(body=script, content_type="text/javascript")
    )
    tests = runpy.run_path(str(VECTORS / "test_vectors.py"))
    vectors = tests["ROUND_VECTORS"]
    reports = [{**vector, "json": tests["plain_values"](vector)} for vector in vectors["reports"]]
    program = "async (vectors) => (await import('/web/check_round_vectors.js')).differences(vectors, '/web')"
    assert page.evaluate(program, {**vectors, "reports": reports}) == []


@pytest.mark.parametrize(("width", "scheme", "node"), [(1280, "light", ME), (390, "dark", ME + 1)])
def test_both_questions(
    rounds: Rounds,
    visitor: Callable[..., Visit],
    picture: Callable[[Any, str], None],
    width: int,
    scheme: str,
    node: int,
) -> None:
    visit = visitor(width, scheme)
    page = visit.open(rounds.link(node, rounds.second.id))
    page.get_by_role("heading", name="Commuting together").wait_for()
    assert "which of A, B and D your answers resemble most" in page.locator("#resemblance").inner_text()
    assert "with 58% probability, and each of the other 2 with 21%" in page.locator("#questions").inner_text()
    page.get_by_text("Costs in detail, limits of the protection").click()
    expected = [f"{to_you(text)[0].upper()}{to_you(text)[1:]}." for text in rounds.second.guarantee().unprotected]
    assert page.locator("#unprotected li").all_inner_texts() == expected
    names = page.get_by_role("table", name="What is sent, and what each question costs").locator("tbody th")
    assert names.all_inner_texts() == [
        "Which of these groups do your answers resemble most: A, B and D?",
        "How many of your friends are in each group? (each friendship)",
        "In all",
    ]
    fill_in(page)
    scores = linear_scores(np.array([[2.5, 1.0]]), SCORER, unit_length=False)[0]
    best = "ABCD"[max((0, 1, 3), key=lambda label: scores[label])]
    assert page.locator("#resemblance").inner_text() == f"Your answers resemble group {best} most, of A, B and D."

    asked = len(visit.requests)
    pick(page, "jose", "José García")  # without accents; the other Jos is offered too
    page.get_by_label("Who are your friends?").type("Josep")
    page.get_by_label("Who are your friends?").press("Enter")
    pick(page, "ang", "Ada Ångström")
    pick(page, "<b", "<b>Bold</b>")
    page.get_by_label("Who are your friends?").type(f"person {node}")
    page.get_by_text("0 people match.").wait_for()  # oneself is not offered
    page.get_by_role("button", name="Continue").click()  # a name that is chosen for nobody may have been meant
    assert f"“person {node}” is chosen for nobody yet" in page.locator("#problems").inner_text()
    assert visit.requests[asked:] == []
    page.get_by_label("Who are your friends?").fill("")
    assert visit.requests[asked:] == []  # nothing is looked up at the server
    summary = page.locator("#friends-summary")
    assert summary.inner_text() == "Of your friends, 2 in group A and 1 in group C. 1 is not counted in this round."
    picture(page, f"rounds-1-answer-{width}-{scheme}")
    page.get_by_role("button", name="Remove Josephine Baker").click()
    assert summary.inner_text() == "Of your friends, 2 in group A. 1 is not counted in this round."

    page.reload()
    page.get_by_role("button", name="Remove José García").wait_for()  # a reload loses nothing
    assert page.get_by_role("list", name="Your friends").get_by_role("button").count() == 3
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    table = page.get_by_role("table", name="Your answers", exact=True).inner_text()
    assert "Friends in group A" in table
    assert "José" not in table
    picture(page, f"rounds-2-check-{width}-{scheme}")
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    body = bytes.fromhex(shown_report(page))
    assert visit.reports == [bytes.fromhex(rounds.second.id) + body]
    store = rounds.store.at(rounds.second)
    assert store.get(node) == body
    answers = store.form.split([node], [body])[0]
    _, options = rounds.second.release.question("resemblance").mechanism.decode(answers["resemblance"].reports)  # type: ignore[attr-defined]
    assert options.tolist() == [3]
    assert all("Garc" not in each and "jose" not in each.lower() for each in visit.requests)
    assert "García" not in page.content() + page.evaluate("JSON.stringify([localStorage, sessionStorage])")


def test_the_rest_of_the_friends_costs_nothing_more(
    rounds: Rounds, visitor: Callable[..., Visit], picture: Callable[[Any, str], None]
) -> None:
    visit = visitor()
    page = visit.open(rounds.link(24, rounds.second.id))
    fill_in(page)
    pick(page, "Person 7", "Person 7")
    finish(page)
    page.close()
    page = visit.open(rounds.link(24, rounds.third.id))
    page.get_by_text("this round adds ε = 0 to your budget").first.wait_for()
    pick(page, "O'Neil", "O'Neil, Jo")
    assert "1 in group D" in page.locator("#friends-summary").inner_text()
    picture(page, "rounds-3-again")
    finish(page)
    ledger = page.evaluate("JSON.parse(localStorage['privet-ledger-1'])")
    assert [each["cost"] for each in ledger["reports"]] == [2.5, 0]
    assert {each["chain"] for each in ledger["reports"]} == {rounds.first.id}

    page.close()
    other = rounds.other_second
    visit.context.route(f"**/public/{other.id}", lambda route: replaced(route, other.canonical()))

    def invite(route: Any) -> None:
        url = route.request.url.replace(other.id, rounds.second.id)
        route.fulfill(json=route.fetch(url=url).json() | {"study": other.id})

    visit.context.route(f"**/invitation/{other.id}", invite)
    page = visit.open(rounds.link(24, other.id))
    page.get_by_role("heading", name="This round does not follow the one that you answered").wait_for()
    assert len(visit.reports) == 2
    page.close()
    page = visit.open(rounds.link(24, rounds.first.id))  # an earlier round, answered later
    page.get_by_role("heading", name="This round does not follow the one that you answered").wait_for()


def test_after_a_withdrawal_no_round_is_answered(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    headline = "You have withdrawn from this study"
    visit = visitor()
    first = visit.open(rounds.link(22, rounds.first.id))
    first.get_by_label("B", exact=True).check()
    finish(first)
    second = visit.open(rounds.link(22, rounds.second.id))  # whose answers are being checked
    fill_in(second)
    second.get_by_role("button", name="Continue").click()
    second.get_by_role("heading", name="Check before you send").wait_for()
    third = visit.open(rounds.link(22, rounds.third.id))
    pick(third, "O'Neil", "O'Neil, Jo")
    first.get_by_role("button", name="Withdraw my report").click()
    first.get_by_role("button", name="Withdraw it").click()
    first.get_by_role("heading", name="Your report is withdrawn").wait_for()

    asked = len(rounds.asked_for)
    second.get_by_role("button", name="Send my report").click()
    second.get_by_role("heading", name=headline).wait_for()
    third.get_by_role("button", name="Continue").click()
    third.get_by_role("heading", name=headline).wait_for()
    for page in (second, third):
        page.reload()
        page.get_by_role("heading", name=headline).wait_for()
        assert page.locator("#questions input").count() == 0
    digests = [digest for digest, _ in rounds.asked_for[asked:]]
    assert digests == [rounds.second.id, rounds.third.id]  # nothing but the manifests is loaded any more
    program = """async ([id, first]) => {
      const { reserve } = await import("/web/device/ledger.js");
      const { deliver } = await import("/web/device/delivery.js");
      await (await import("/web/texts/texts.js")).speak("en", []); // the page's script has words of its own
      const rounds = [{ id: first, asked: [] }];
      const study = { id, manifest: { title: "Later", earlier: [first] }, rounds, asked: [], shows: false };
      const body = new Uint8Array([1]);
      const work = [() => reserve(study, 22, () => body),
        () => deliver(study, "token", body, () => {}, new EventTarget())];
      return Promise.all(work.map((each) => each().then(() => "done", (error) => error.headline)));
    }"""
    assert third.evaluate(program, ["0" * 64, rounds.first.id]) == [headline] * 2
    made = third.evaluate("JSON.parse(localStorage['privet-ledger-1'])")["reports"]
    assert [each["study"] for each in made] == [rounds.first.id]
    assert len(visit.reports) == 1
    first.reload()
    first.get_by_role("heading", name="Your report is withdrawn").wait_for()


def test_public_data_are_asked_for_with_the_token(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    """Everything but manifests, by the page, by the worker that keeps it, and through the worker."""
    visit = visitor(service_workers="allow")
    link = rounds.link(23, rounds.second.id)
    token = link.partition("token=")[2].partition("&")[0]
    del rounds.asked_for[:]
    page = visit.open(link)
    page.get_by_text("It now opens without a connection, too.").wait_for()
    tables = {digest for digest, _ in rounds.asked_for} - {rounds.first.id, rounds.second.id}
    assert DIRECTORY.digest in tables
    assert [header for digest, header in rounds.asked_for if digest in tables] == [f"Bearer {token}"] * 2 * len(tables)
    assert rounds.asked_for[0] == (rounds.second.id, None)
    del rounds.asked_for[:]
    page.reload()
    page.get_by_label("Kilometres to work").wait_for()
    assert rounds.asked_for == []
    page.close()
    page = visit.open(rounds.link(23, rounds.third.id, token=token))
    page.get_by_label("Who are your friends?").wait_for()
    again = {each.removeprefix("sha256:") for each in (array_digest(AGAIN), array_digest(AGAIN_RANKS))}
    assert set(rounds.asked_for) == {(rounds.third.id, None), *((digest, f"Bearer {token}") for digest in again)}
    visit.context.set_offline(True)
    page.reload()
    page.get_by_label("Who are your friends?").wait_for()


def test_public_data_are_not_left_to_the_next_person(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    """Names and tables need the token from the worker, too, and are erased with a decision against taking part."""
    visit = visitor(service_workers="allow")
    manifests = {f"/public/{each.id}" for each in (rounds.first, rounds.second)}
    kept = """async () => {
      const cache = await caches.open("privet-public-2");
      return (await cache.keys()).map(({ url }) => new URL(url).pathname);
    }"""

    def load(study: Study) -> Any:
        page = visit.open(rounds.link(27, study.id))
        page.get_by_text("It now opens without a connection, too.").wait_for()
        return page

    page = load(rounds.second)
    assert set(page.evaluate(kept)) > manifests
    page.reload()
    page.get_by_label("Kilometres to work").wait_for()
    ask = "([digest, headers]) => fetch(`/public/${digest}`, { headers }).then(({ status }) => status)"
    token = rounds.link(27).partition("token=")[2].partition("&")[0]
    assert page.evaluate(ask, [DIRECTORY.digest, {"Authorization": f"Bearer {token}"}]) == 200
    for headers in ({}, {"Authorization": "Bearer another"}):
        assert page.evaluate(ask, [DIRECTORY.digest, headers]) == 401
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Do not send").click()
    page.get_by_role("button", name="Do not send one").click()
    page.get_by_role("heading", name="Nothing was sent").wait_for()
    assert page.evaluate(kept) == []
    assert page.evaluate("sessionStorage.length") == 0
    page.close()

    page = load(rounds.second)
    fill_in(page)
    finish(page)
    page.get_by_role("button", name="Withdraw my report").click()
    page.get_by_role("button", name="Withdraw it").click()
    page.get_by_role("heading", name="Your report is withdrawn").wait_for()
    assert page.evaluate(kept) == []
    page.close()
    page = load(rounds.second)
    page.get_by_role("heading", name="Your report is withdrawn").wait_for()
    assert set(page.evaluate(kept)) <= manifests


def test_another_person_in_the_same_browser_is_refused(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(rounds.link(25, rounds.first.id))
    page.get_by_label("B", exact=True).check()
    finish(page)
    page.close()
    page = visit.open(rounds.link(26, rounds.second.id))
    page.get_by_role("heading", name="This browser answered the study as somebody else").wait_for()


@pytest.mark.parametrize(("width", "scheme", "node"), [(1280, "light", PANELLIST)])
def test_a_panel_shows_its_answers_after_an_explicit_yes(
    rounds: Rounds,
    visitor: Callable[..., Visit],
    picture: Callable[[Any, str], None],
    width: int,
    scheme: str,
    node: int,
) -> None:
    visit = visitor(width, scheme)
    page = visit.open(rounds.link(node, rounds.first.id))
    page.locator("#questions").get_by_text("sent, and published, as it is. Nothing is randomised").wait_for()
    assert "one randomised report" not in page.locator("#summary").inner_text()
    page.get_by_label("Kilometres to work").fill("13")
    page.get_by_label("Do you own a car?").select_option("no")
    page.get_by_label("C", exact=True).check()
    assert not page.get_by_text("it will count as").is_visible()
    make = page.get_by_role("button", name="Continue")
    make.click()
    problems = page.locator("#problems").inner_text()
    assert "Enter a number from 0 to 12" in problems  # nothing is moved into its range
    assert "I agree that my answers" in problems
    picture(page, f"rounds-4-panel-{width}-{scheme}")
    page.get_by_label("Kilometres to work").fill("11.25")
    make.click()
    assert "I agree that my answers" in page.locator("#problems").inner_text()
    page.get_by_label("I agree that my answers").check()
    page.get_by_text("Costs in detail, limits of the protection").click()
    assert "Everything that you enter here" in page.locator("#unprotected").inner_text()
    make.click()
    page.get_by_text("exactly as you see it").wait_for()
    picture(page, f"rounds-5-panel-check-{width}-{scheme}")
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    expected = OpenForm(SCHEMA).pack([11.25, 0.0], 2)
    assert rounds.store.get(node) == expected
    (entry,) = page.evaluate("JSON.parse(localStorage['privet-ledger-1'])")["reports"]
    assert (entry["shows"], entry["cost"]) == (True, 0)
    page.reload()
    page.get_by_role("heading", name="your report is stored").wait_for()
    receipt = page.locator("#receipt").inner_text()
    assert "everything was shown as it is; no budget counts that" in receipt
    assert "ε" not in receipt
    assert page.get_by_text("You are in the panel: all of this was sent").is_visible()
    page.get_by_text("Your privacy budget: history and limit").click()
    assert page.locator("#history").get_by_text("shown as it is").is_visible()


def test_a_person_whom_the_round_does_not_ask(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    page = visitor().open(rounds.link(LONELY, rounds.second.id))
    page.get_by_role("heading", name="This round does not ask you").wait_for()
    assert page.locator("#questions input").count() == 0


def replaced(route: Any, body: bytes) -> None:
    route.fulfill(body=body, content_type="application/octet-stream")


@pytest.mark.parametrize(
    ("what", "headline"),
    [
        ("table", "The server sent something else"),
        ("scorer", "The server sent something else"),
        ("directory", "The server sent something else"),
        ("predecessor", "The server sent something else"),
        ("missing", "The server does not send what the study binds"),
        ("row", "Your invitation is not one of this study"),
        ("budget", "Your invitation is not one of this study"),
        ("length", "Your invitation is not one of this study"),
    ],
)
def test_a_dishonest_server_is_refused(rounds: Rounds, visitor: Callable[..., Visit], what: str, headline: str) -> None:
    visit = visitor()
    asked = {each["ask"]: each for each in rounds.second.asked}
    blobs = {
        "table": asked["friends"]["table"], "scorer": asked["resemblance"]["scorer"], "directory": DIRECTORY.digest,
        "predecessor": rounds.first.id, "missing": asked["friends"]["ranks"],
    }  # fmt: skip
    if what in blobs:
        digest = blobs[what].removeprefix("sha256:")
        other = {"table": blob_of(1 - TABLE), "directory": b"0,Somebody else\n"}.get(what, rounds.second.canonical())
        if what == "missing":
            visit.context.route(f"**/public/{digest}", lambda route: route.fulfill(status=404, body="{}"))
        else:
            visit.context.route(f"**/public/{digest}", lambda route: replaced(route, other))
    else:

        def forge(route: Any) -> None:
            document = route.fetch().json()
            offers = document["rows"]["resemblance"]["offers"]
            offers |= {"row": {"row": [0, 1, 2]}, "budget": {"epsilon": 9.0}}.get(what, {})
            room = " " * 2**20 if what == "length" else ""
            route.fulfill(body=json.dumps(document) + room, content_type="application/json")

        visit.context.route("**/invitation/*", forge)
    page = visit.open(rounds.link(27, rounds.second.id))
    page.get_by_role("heading", name=headline).wait_for()
    assert page.locator("#questions input").count() == 0
    assert visit.reports == []


def test_friends_are_entered_as_numbers_where_there_is_no_list(
    visitor: Callable[..., Visit], tmp_path: Path, picture: Callable[[Any, str], None]
) -> None:
    friends = Friends(TABLE, RANKS)
    asked = {"ask": "friends", "mechanism": "counts", "epsilon": 0.5, "cap": 4, **friends.to_dict()}
    study = declared([asked], directory=None)
    store = Store.open(tmp_path / f"{study.id[:12]}.sqlite", study)
    store.publish_asks(friends)
    store.dispose()
    live = Live(study, tmp_path)
    try:
        page = visitor().open(live.link(9))
        page.get_by_label("Who are you connected with?").fill("0, 1 9")
        page.get_by_role("button", name="Continue").click()
        assert "“9” is not the number of another participant" in page.locator("#problems").inner_text()
        page.get_by_label("Who are you connected with?").fill("0, 1 2")
        picture(page, "rounds-7-numbers")
        body = finish(page)
        assert live.store.get(9) == body
        assert len(body) == SCHEMA.classes
    finally:
        live.stop()


def test_the_ledger_of_rounds(rounds: Rounds, visitor: Callable[..., Visit]) -> None:
    """What is charged, refunded and refused, with questions whose prices are easy to add."""
    page = visitor().open(f"{rounds.origin}/web/icon.svg")
    program = """async () => {
      const { disclosures, price, readLedger, refund, reserve } = await import("/web/device/ledger.js");
      const chain = (id, ...earlier) => [...earlier, id].map((name) => ({ id: name, asked: [QUESTIONS[name]] }));
      const QUESTIONS = {
        a: { name: "friends", cost: 1.5 }, b: { name: "friends-again", cost: 1.75 },
        c: { name: "resemblance", cost: 0.5 }, d: { name: "features", cost: 1 }, e: { name: "friends", cost: 0.25 },
      };
      const round = (id, ...earlier) =>
        ({ id, manifest: { title: id }, shows: false, asked: [QUESTIONS[id]], rounds: chain(id, ...earlier) });
      const make = () => new Uint8Array([1]);
      const costs = () => Object.fromEntries(readLedger().reports.map(({ study, cost }) => [study, cost]));
      const refused = (work) => { try { work(); return ""; } catch (error) { return error.headline; } };
      const found = [];
      await reserve(round("a"), 3, make);
      await reserve(round("b", "a"), 3, make);
      found.push(costs());
      found.push((await refund(round("a"), 3, "never sent")).cost, costs());
      await reserve(round("c", "a", "b"), 3, make);
      found.push(costs());
      found.push(refused(() => price(round("d", "a", "b", "c"), 3)), refused(() => price(round("e", "a"), 3)));
      found.push(refused(() => price(round("c", "a", "b"), 4)));
      await reserve({ ...round("e"), shows: true }, 3, make);
      found.push(costs(), disclosures(readLedger()).map(({ study }) => study));
      return found;
    }"""
    both, returned, after, third, instead, branch, somebody, shown, disclosed = page.evaluate(program)
    assert both == {"a": 1.5, "b": 0.25}
    assert (returned, after) == (0, {"b": 1.75})  # the second answer was cheap only because of the first one
    assert third == {"b": 1.75, "c": 0.5}
    assert instead == "refusal.instead.headline"
    assert branch == "refusal.branch.headline"
    assert somebody == "This browser answered the study as somebody else"
    assert (shown, disclosed) == ({"b": 1.75, "c": 0.5, "e": 0}, ["e"])


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_other_languages(
    rounds: Rounds, visitor: Callable[..., Visit], picture: Callable[[Any, str], None], language: str
) -> None:
    page = visitor().open(rounds.link(28, rounds.second.id, lang=language))
    found = page.locator("#friends-hint")
    found.wait_for()
    catalogue = json.loads(
        (VECTORS.parents[1] / f"privet/collection/server/http/web/texts/{language}.json").read_text()
    )
    assert found.inner_text() == catalogue["friends.hint"].replace("{name}", "Person 28")
    picture(page, f"rounds-6-{language}")
