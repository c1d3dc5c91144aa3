"""The question about everything on the device in real Chromium: one answer of features and friends, in two waves."""

from __future__ import annotations

import contextlib
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import wait_until
from web_visits import CHROMIUM, Live, Visit, at, shown_report

from privet.collection.device.consent import to_you
from privet.collection.server.store.store import Store
from privet.collection.study.directory import Directory
from privet.collection.study.forms import OpenForm
from privet.collection.study.manifest import Study
from privet.data import Categories, Interval, Schema
from privet.data.population import Population
from privet.release import LocalRelease, PrivateData
from privet.release.asks.person import Person
from privet.release.asks.person_again import PersonAgain
from privet.release.blobs import array_digest, blob_of
from privet.release.tree import HashTree

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (PRIVET_CHROMIUM)")

NODES, ME, LATER, PANELLIST = 40, 20, 33, 35
SCHEMA = Schema((Interval(0.0, 12.0), Categories(2, ("no", "yes"))), 4, True, ("A", "B", "C", "D"))
DIRECTORY = Directory(("Ada Ångström", "José García", "Zoë Müller", *(f"Person {i}" for i in range(3, NODES))))
NOBODY = [-1] * 4
OFFERS = np.array([[0, 1, 2, 3] if i < 30 else NOBODY for i in range(NODES)], dtype=np.int16)
REST = np.array([[0, 1, 3, -1] if i >= 30 else NOBODY for i in range(NODES)], dtype=np.int16)
GREEDY = np.array([[0, 1, 2, 3]] * NODES, dtype=np.int16)
TABLE = np.zeros((NODES, 4), dtype=np.uint8)
TABLE[0], TABLE[1], TABLE[2] = [255, 0, 0, 0], [255, 0, 0, 0], [10, 0, 200, 45]
ARRAYS: dict[str, Any] = {
    "scorer": np.array([[-300, 500, 0, 100], [1000, 0, 0, 200], [0, -2000, 0, 0]], dtype=np.int32),
    "table": TABLE,
    "mixing": np.eye(4, dtype=np.int32) * 1000,
    "shares": np.array([1, 1, 1, 1], dtype=np.int32),
}


class Waves(Live):
    """A collector of a study in three rounds: classes, everything for most people, everything for the others."""

    def __init__(self, folder: Path) -> None:
        label = {"ask": "label", "mechanism": "randomized-response", "epsilon": 0.5}
        fixed = {"mechanism": "subset-response", "epsilon": 1.0, "most": 4, "sizes": [1, 1, 2]}
        waves = [Person(OFFERS, **ARRAYS), PersonAgain(REST, **ARRAYS), PersonAgain(GREEDY, **ARRAYS)]
        first, rest, greedy = ({"ask": each.name, **fixed, **each.to_dict()} for each in waves)
        release = LocalRelease.from_list([label, first, rest], Population(SCHEMA, NODES))
        plan = {"system": "inquiry", "settings": {}, "questions": [each.declared() for each in release.questions]}
        panel = np.array([PANELLIST], dtype=np.int32)
        self.first = declared([label], plan=plan, panel=array_digest(panel))
        self.second = declared([first], plan=plan, earlier=[self.first.id])
        earlier = [self.first.id, self.second.id]
        self.third = declared([rest], plan=plan, earlier=earlier)
        self.greedy = declared([greedy], plan=plan, earlier=earlier, eligible="Everybody again.")
        store = Store.open(folder / f"{self.first.id[:12]}.sqlite", self.first)
        store.publish("".join(f"{node},{name}\n" for node, name in enumerate(DIRECTORY.names)).encode())
        store.publish(blob_of(panel))
        store.publish_asks(*waves)
        store.dispose()
        super().__init__(self.first, folder)

    def begin(self, study: Study) -> None:
        """Open a later round, and wait until the collector has noticed it."""

        def is_open() -> bool:
            with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(address) as reply:
                return bool(json.load(reply)["open"])
            return False

        address = f"{self.origin}/status/{study.id}"
        self.store.at(study)
        wait_until(is_open, pause=0.1)


def declared(release: list[dict[str, Any]], **rest: Any) -> Study:
    texts = {"title": "Commuting together", "purpose": "How friends get to work.", "operator": "privet developers"}
    values = {"eligible": "Everybody with a link.", "nodes": NODES, "schema": SCHEMA, "directory": DIRECTORY.digest}
    words = {"questions": ["Kilometres to work", "Do you own a car?"], "class_question": "Which group are you in?"}
    return Study.read({**texts, **values, **words, "opens": at(-30), "closes": at(200), "release": release, **rest})


@pytest.fixture(scope="module")
def waves(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waves]:
    live = Waves(tmp_path_factory.mktemp("waves"))
    live.begin(live.second)
    yield live
    live.stop()


def fill_in(page: Any) -> None:
    page.get_by_label("Kilometres to work").fill("2.5")
    page.get_by_label("Do you own a car?").select_option("yes")
    for typed, name in (
        ("jose", "José García"),
        ("ang", "Ada Ångström"),
        ("zoe", "Zoë Müller"),
        ("Person 7", "Person 7"),
    ):
        page.get_by_label("Who are your friends?").type(typed)
        page.get_by_role("button", name=f"Add {name}", exact=True).click()


def send(page: Any) -> bytes:
    page.get_by_role("button", name="Send my report").click()
    page.get_by_role("heading", name="your report is stored").wait_for()
    return bytes.fromhex(shown_report(page))


@pytest.mark.parametrize(("width", "scheme", "node"), [(1280, "light", ME), (390, "dark", ME + 1)])
def test_one_answer_about_everything(
    waves: Waves,
    visitor: Callable[..., Visit],
    picture: Callable[[Any, str], None],
    width: int,
    scheme: str,
    node: int,
) -> None:
    visit = visitor(width, scheme)
    page = visit.open(waves.link(node, waves.second.id))
    page.get_by_role("heading", name="Commuting together").wait_for()
    page.get_by_text("Costs in detail, limits of the protection").click()
    sentence = page.locator("#sentence").inner_text()
    assert sentence.startswith("Whatever you answer and whoever your friends are: whoever sees your report can")
    assert "their odds about all of it together by at most 2.72." in sentence
    said = map(to_you, waves.second.guarantee().unprotected)
    expected = [f"{text[0].upper()}{text[1:]}." for text in said]
    assert page.locator("#unprotected li").all_inner_texts() == expected
    assert any("One relationship costs an epsilon of 2;" in text for text in expected)
    costs = page.get_by_role("table", name="What is sent, and what each question costs").inner_text()
    assert "Which of these groups does what you enter point to most: A, B, C and D?" in costs
    assert "2 are sent together. The true group is among them with 73% probability, each other one with 42%" in costs
    assert "both answers together cost it at most ε = 2" in costs

    asked = len(visit.requests)
    fill_in(page)
    summary = page.locator("#friends-summary")
    assert summary.inner_text() == "Of your friends, 2 in group A and 1 in group C. 1 is not counted in this round."
    assert visit.requests[asked:] == []  # counted on the device
    picture(page, f"person-1-answer-{width}-{scheme}")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Check before you send").wait_for()
    private = PrivateData.one(node, NODES, [2.5, 1.0], None, [0, 1, 2, 7])
    mechanism = waves.second.release.question("person").mechanism
    position, _ = Person(OFFERS, **ARRAYS).apply(private, mechanism)[0]
    table = page.get_by_role("table", name="Your answers", exact=True).inner_text()
    assert f"The group that what you enter points to most {'ABCD'[position]}" in " ".join(table.split())
    picture(page, f"person-2-check-{width}-{scheme}")
    body = send(page)
    picture(page, f"person-3-sent-{width}-{scheme}")
    assert len(body) == 1
    assert visit.reports == [bytes.fromhex(waves.second.id) + body]
    store = waves.store.at(waves.second)
    answers = store.form.split([node], [body])[0]
    _, options = mechanism.decode(answers["person"].reports)  # type: ignore[attr-defined]
    assert options.tolist() == [4]
    assert all("Garc" not in each and "jose" not in each.lower() for each in visit.requests)
    assert "García" not in page.content() + page.evaluate("JSON.stringify([localStorage, sessionStorage])")


def test_a_device_that_answered_one_wave_answers_no_other(tmp_path: Path, visitor: Callable[..., Visit]) -> None:
    waves = Waves(tmp_path)
    try:
        a_panel_shows_its_friends(waves, visitor)
        waves.begin(waves.second)
        in_two_waves(waves, visitor)
    finally:
        waves.stop()


def a_panel_shows_its_friends(waves: Waves, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(waves.link(PANELLIST, waves.first.id))
    page.get_by_text("Costs in detail, limits of the protection").click()
    fill_in(page)
    page.get_by_label("B", exact=True).check()
    page.locator("#panel-agree").check()
    page.get_by_role("button", name="Continue").click()
    body = send(page)
    assert body == OpenForm.of(waves.first).pack([2.5, 1.0], 1, [0, 1, 2, 7], PANELLIST)
    assert waves.store.get(PANELLIST) == body


def in_two_waves(waves: Waves, visitor: Callable[..., Visit]) -> None:
    visit = visitor()
    page = visit.open(waves.link(ME + 2, waves.second.id))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    send(page)
    page.close()
    waves.begin(waves.third)
    page = visit.open(waves.link(ME + 2, waves.third.id))  # whose offers leave this person out
    page.get_by_role("heading", name="This round does not ask you").wait_for()
    page.close()

    def invite(route: Any) -> None:
        tree, me = HashTree(GREEDY), ME + 2
        row = {"row": GREEDY[me].tolist(), "salt": tree.salt(me), "proof": tree.proof(me)}
        route.fulfill(json={"study": waves.greedy.id, "node": ME + 2, "rows": {"person-again": {"offers": row}}})

    visit.context.route(f"**/invitation/{waves.greedy.id}", invite)
    content = waves.greedy.canonical()
    visit.context.route("**/study", lambda route: route.fulfill(body=content, content_type="application/json"))
    visit.context.route(f"**/public/{waves.greedy.id}", lambda route: route.fulfill(body=content))
    page = visit.open(waves.link(ME + 2, waves.greedy.id))
    page.get_by_text("You have answered “person” in an earlier round").wait_for()
    assert len(visit.reports) == 1
    assert [each["cost"] for each in page.evaluate("JSON.parse(localStorage['privet-ledger-1'])")["reports"]] == [1]

    visit = visitor()
    page = visit.open(waves.link(LATER, waves.third.id))
    fill_in(page)
    page.get_by_role("button", name="Continue").click()
    body = send(page)
    assert waves.store.at(waves.third).get(LATER) == body
    assert [each["cost"] for each in page.evaluate("JSON.parse(localStorage['privet-ledger-1'])")["reports"]] == [1]
