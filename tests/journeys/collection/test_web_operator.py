"""The operator's page in real Chromium: a study in two rounds at a real collector, the second opened by a click."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from rehearsed_rounds import ASKED, PANEL, first_round, people
from web_visits import CHROMIUM, OPERATOR_KEY, Live, Visit, at, make_study, numeric_study

from privet.collection.operator.export.answer_files import read_answers
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector, play_people
from privet.collection.study.manifest import Study
from privet.data import Graph, Schema
from privet.mechanisms import SeededBits
from privet.release import PrivateData

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
COMPUTING = 240_000  # milliseconds that a round may take on a busy machine


@dataclass
class Rehearsed:
    """A study in rounds at a real collector."""

    folder: StudyFolder
    graph: Graph
    address: str

    def open(self, visit: Visit, key: str | None = None) -> Any:
        page = visit.open(f"{self.address}/operator")
        page.get_by_label("Operator's key").fill(self.folder.keys.operator[0] if key is None else key)
        page.get_by_role("button", name="Open").click()
        return page


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    """A first round that most have answered; one withdrew, a model was trained before."""
    graph = people()
    folder = first_round(tmp_path_factory.mktemp("rounds") / "study", graph)
    with live_collector(folder) as address:
        play_people(folder, address, graph, np.concatenate([PANEL, ASKED[:70]]))
        store = folder.store()
        metrics = {"accuracy": 0.8123, "macro_f1": 0.79}
        trained = {"name": "first", "system": "inquiry", "trained": "2026-03-01T12:00:00Z"}
        store.add_model({**trained, "metrics": metrics, "erasures": 0})
        store.forget(int(ASKED[0]), "participant")
        store.dispose()
        yield Rehearsed(folder, graph, address.replace("127.0.0.1", "localhost"))


def test_a_study_in_two_rounds(
    rehearsed: Rehearsed, visitor: Callable[..., Visit], picture: Callable[..., None], tmp_path: Any
) -> None:
    visit = visitor()
    page = rehearsed.open(visit, "a wrong one")
    page.get_by_text("This is not the operator's key of this study.").wait_for()
    picture(page, "operator-gate-1280-light")
    page.get_by_label("Operator's key").fill(rehearsed.folder.keys.operator[0])
    page.get_by_role("button", name="Open").click()
    first = page.get_by_role("article", name="Round 1")
    first.get_by_text("109 of 136 answered, 80.1 %.").wait_for()
    assert first.locator("svg").get_attribute("aria-label") == (
        "Answers to round 1 by day: 109 of 136 answered, 80.1\N{NO-BREAK SPACE}%. At most 109 on one day."
    )
    rows = first.get_by_role("table", name="People of round 1 by reason").get_by_role("row")
    assert rows.all_inner_texts()[1:] == [
        "They show their features and class as they are (the panel).\t40",
        "They are asked for their class.\t96",
        "They are not asked in this round.\t64",
    ]
    assert page.get_by_text("The reports of 1 person were erased: 1 withdrew, 0 by the operator.").is_visible()
    assert page.get_by_text("trained before 1 erasure").is_visible()
    assert page.get_by_text("Round 1: 69 reports look like reports of honest devices").is_visible()
    assert page.get_by_role("table", name="Tests of round 1").is_visible()
    picture(page, "operator-round-1-1280-light")

    page.get_by_role("button", name="Next round").click()
    page.get_by_text("This closes round 1 for good: 109 of 136 people have answered").wait_for()
    page.get_by_role("button", name="Not now").click()
    page.get_by_label("Days for which it stays open").fill("5000")
    page.get_by_role("button", name="Next round").click()
    page.get_by_text("Enter a number of days from 0.001 to 3650.").wait_for()
    assert not rehearsed.folder.newest().is_closed()
    page.get_by_label("Days for which it stays open").fill("7")
    page.get_by_role("button", name="Next round").click()
    picture(page, "operator-next-1280-light", full=False)
    page.get_by_role("button", name="Close round 1, open round 2").click()
    page.get_by_text("Round 2 is being computed. It appears above").wait_for()
    again = page.request.post(f"{rehearsed.address}/operator/next", headers=authorised(rehearsed))
    assert again.status == 409
    # The second one where the round was computed faster than this was asked.
    computing, asked = "The next round is being computed already.", "All questions of the study's plan were asked"
    assert again.json()["error"].startswith((computing, asked))
    picture(page, "operator-computing-1280-light")
    second = page.get_by_role("article", name="Round 2")
    second.wait_for(timeout=COMPUTING)
    assert page.get_by_role("status").get_by_text("Round 2 is open.").is_visible()
    assert first.get_by_text("Closed", exact=True).is_visible()
    page.get_by_text("All questions of the plan were asked.").wait_for()
    assert page.get_by_role("button", name="Next round").is_hidden()

    newest = rehearsed.folder.newest()
    asked = newest.form.everybody()
    assert not set(asked.tolist()) & set(PANEL.tolist())
    answering = asked[asked != ASKED[0]][:50]  # who withdrew may be asked again, but cannot answer
    play_people(rehearsed.folder, rehearsed.address, rehearsed.graph, answering, round_=newest.study)
    second.get_by_text(f"50 of {len(asked)} answered").wait_for()
    reasons = second.get_by_role("table", name="People of round 2 by reason").inner_text()
    assert "They are offered 2 classes" in reasons
    assert "their answer could not matter" in reasons
    counts = [int(line.rpartition("\t")[2]) for line in reasons.splitlines() if line.startswith("They")]
    assert sum(counts) == newest.study.nodes
    picture(page, "operator-round-2-1280-light")

    check_downloads(page, rehearsed, tmp_path)
    key = rehearsed.folder.keys.operator[0]
    assert all(key not in url for url in visit.requests)
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert stored == '[{},{},""]'
    page.reload()
    page.get_by_label("Operator's key").wait_for()
    assert page.get_by_role("article").count() == 0
    newest.dispose()


def test_the_page_of_rounds_on_a_phone_in_the_dark(
    rehearsed: Rehearsed, visitor: Callable[..., Visit], picture: Callable[..., None]
) -> None:
    page = rehearsed.open(visitor(390, "dark"))
    page.get_by_role("article", name="Round 2").wait_for()
    page.get_by_text("The days as a table").first.click()
    picture(page, "operator-rounds-390-dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.clock.install()
    page.get_by_role("button", name="Close this round").click()
    picture(page, "operator-close-390-dark", full=False)
    page.keyboard.press("Escape")
    store = rehearsed.folder.newest()
    assert not store.is_closed()
    page.get_by_role("button", name="Close this round").click()
    page.get_by_role("button", name="Close it for good").click()
    page.get_by_role("status").get_by_text("Round 2 is closed.").wait_for()
    assert store.is_closed()
    store.dispose()
    page.get_by_role("button", name="Close this round").wait_for(state="hidden")
    assert page.locator("details[open]").count() == 1  # what was unfolded stays so when figures are read again
    page.get_by_role("button", name="Forget the key").click()
    page.get_by_label("Operator's key").wait_for()
    assert page.get_by_role("article").count() == 0


def authorised(rehearsed: Rehearsed) -> dict[str, str]:
    return {"Authorization": f"Bearer {rehearsed.folder.keys.operator[0]}"}


def check_downloads(page: Any, rehearsed: Rehearsed, folder: Any) -> None:
    """Fetch each file by its button, and read it as its user would."""
    files = {
        "round-1-answers.parquet": page.get_by_role("article", name="Round 1").get_by_text("Download Parquet"),
        "round-2-answers.csv": page.get_by_role("article", name="Round 2").get_by_text("Download CSV"),
        "round-1-panel.csv": page.get_by_text("Download the panel (CSV)"),
        "record.sqlite": page.get_by_text("Download the public record (SQLite)"),
    }
    for name, button in files.items():
        with page.expect_download() as started:
            button.click()
        assert started.value.suggested_filename == name
        started.value.save_as(folder / name)
        page.get_by_role("status").get_by_text(f"Downloaded {name}.").wait_for()
    study, answers = read_answers(folder / "round-1-answers.parquet")
    assert (study.id, len(answers.users)) == (rehearsed.folder.study.id, 69)
    assert len((folder / "round-2-answers.csv").read_text().splitlines()) == 51
    assert len((folder / "round-1-panel.csv").read_text().splitlines()) == 41
    record = sqlite3.connect(folder / "record.sqlite")
    assert record.execute("SELECT count(*) FROM reports").fetchone() == (159,)
    record.close()


def test_a_study_of_one_round(
    serve: Callable[[Study], Live], visitor: Callable[..., Visit], picture: Callable[..., None]
) -> None:
    schema = Schema.numeric(3, 0.0, 1.0, classes=3)
    collector = serve(make_study(title="An operator's study", neighbours=None, schema=schema, opens=at(-300)))
    fill_store(collector)
    visit = visitor()
    page = visit.open(f"{collector.origin}/operator")
    page.get_by_label("Operator's key").fill(OPERATOR_KEY)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("heading", name="An operator's study").wait_for()
    page.get_by_text("The days as a table").click()
    for text in ("40.0 %", "of 300 people who are asked", "invalid report", "lpgnn", "0.812", "multiply their odds"):
        assert page.get_by_text(text).first.is_visible(), text
    assert page.get_by_role("heading", name="Next round").is_hidden()
    picture(page, "operator-one-round-1280-light")


def test_the_page_follows_the_study(serve: Callable[[Study], Live], visitor: Callable[..., Visit]) -> None:
    collector = serve(numeric_study(title="Growing"))
    visit = visitor()
    page = visit.open(f"{collector.origin}/operator")
    page.clock.install()
    page.get_by_label("Operator's key").fill(OPERATOR_KEY)
    page.get_by_role("button", name="Open").click()
    page.get_by_text("0.0 %").first.wait_for()
    collector.store.insert([5], [b"\x01"])
    page.clock.run_for(6000)
    page.get_by_text("0.3 %").first.wait_for()
    page.route("**/operator/summary", lambda route: route.abort())
    page.clock.run_for(6000)
    page.get_by_text("The collector cannot be reached. The figures below").wait_for()


def fill_store(collector: Live) -> None:
    """120 reports over the last ten days, some refusals, a conflict and a model."""
    study, chance = collector.study, np.random.default_rng(0)
    answering = PrivateData(np.arange(120), chance.random((120, 3)), chance.integers(0, 3, 120))
    bodies = study.release.wire.pack(study.release.perturb(answering, SeededBits(1)))
    moments = time.time() - 10 * 86400 * np.sort(chance.random(12))[::-1]
    for group, moment in enumerate(moments.tolist()):
        rows = slice(10 * group, 10 * group + 10)
        collector.store.insert(range(10 * group, 10 * group + 10), bodies[rows], now=moment)
    collector.store.insert([0], [bodies[1]])
    collector.store.reject({"invalid report": 3, "too many requests": 12})
    metrics = {"accuracy": 0.8123, "macro_f1": 0.79}
    trained = {"name": "first", "system": "lpgnn", "trained": "2026-03-01T12:00:00Z"}
    collector.store.add_model({**trained, "metrics": metrics, "erasures": 0})
