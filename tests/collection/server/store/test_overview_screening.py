"""The screening of a study's reports, as its operator sees it."""

import numpy as np
import pytest
from rehearsed_rounds import ASKED, add_second_round, first_round, people
from simulated_studies import make_study

from privet.collection.server.store import overview as module
from privet.collection.server.store.overview import Screener, screen_round, stores_of
from privet.collection.server.store.store import Store
from privet.mechanisms import SeededBits
from privet.release import PrivateData


@pytest.fixture
def store(tmp_path):
    found = first_round(tmp_path / "study", people()).store()
    yield found
    found.dispose()


def report(store, people_ids, classes, seed=0):
    release = store.study.release
    answers = release.perturb(PrivateData(people_ids, labels=classes), SeededBits(seed))
    store.insert(people_ids.tolist(), release.wire.pack(answers))


def test_honest_reports_raise_no_alarm_and_say_what_cannot_be_seen(store):
    report(store, ASKED[:40], np.zeros(40, dtype=np.int64))
    found = screen_round(store)
    assert (found["round"], found["alarm"], found["reports"]) == (1, False, 40)
    assert "at most 1 of 1,000 honest rounds, however often you look" in found["in_words"]
    assert {test["words"] for test in found["tests"]} == {"their class"}


def test_reports_without_noise_raise_an_alarm(store):
    release = store.study.release
    honest = release.wire.pack(release.perturb(PrivateData(ASKED, labels=0 * ASKED), SeededBits(0)))
    store.insert(ASKED.tolist(), [honest[0]] * len(ASKED))
    found = screen_round(store)
    assert found["alarm"]
    assert "honest devices in fewer than 1 of" in found["in_words"]


def test_a_running_collector_screens_again_only_after_new_reports(store, monkeypatch):
    times = []
    monkeypatch.setattr(module, "screen_round", lambda one: times.append(one) or {"round": one.study.round})
    screener, stores = Screener(), stores_of(store)
    report(store, ASKED[:10], np.zeros(10, dtype=np.int64))
    assert screener.screen(stores) == screener.screen(stores) == [{"round": 1}]
    assert len(times) == 1
    report(store, ASKED[10:20], np.zeros(10, dtype=np.int64))
    screener.screen(stores)
    assert len(times) == 2
    store.forget(int(ASKED[0]), "operator")
    screener.screen(stores)
    assert len(times) == 3
    add_second_round(store)
    assert [each["round"] for each in screener.screen(stores_of(store))] == [1, 2]


def test_a_very_large_round_is_left_to_the_command_line(store, monkeypatch):
    monkeypatch.setattr(module, "MOST_SCREENED", 5)
    report(store, ASKED[:6], np.zeros(6, dtype=np.int64))
    (found,) = Screener().screen(stores_of(store))
    assert not found["alarm"]
    assert "privet study status" in found["in_words"]


def test_a_study_without_reports(tmp_path):
    store = Store.open(tmp_path / "store.sqlite", make_study())
    assert screen_round(store)["in_words"].startswith("Reports were not screened")
    store.dispose()
