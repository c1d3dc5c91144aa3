"""The collectors' clock: what it alone may delete, and what waits for a person."""

from datetime import UTC, datetime, timedelta

import pytest
from simulated_studies import STORES, make_study, store_place

from privet.collection.server.store.clock import LONGEST_STEP, PROBATION
from privet.collection.server.store.deletion import Retention
from privet.collection.server.store.store import Store

CLOSES = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WRONG = timedelta(days=200)


@pytest.fixture(params=STORES)
def open_study(request, tmp_path):
    """A study of 50 reports that is open, and whose collector has looked at its clock for a day."""
    store = Store.open(store_place(request.param, tmp_path), make_study(closes="2026-03-01T12:00:00Z", delete_after=30))
    store.insert(range(50), [b"%d" % node for node in range(50)])
    run(store, CLOSES - 3 * DAY, DAY)
    yield store
    store.dispose()


def run(store, start, duration, step=timedelta(minutes=30)):
    """Look at a clock that runs on, and return what the last look found."""
    found = Retention()
    for place in range(int(duration / step) + 1):
        found = store.look_at_clock(start + place * step)
    return found


def test_a_clock_that_is_wrong_for_seconds_deletes_nothing(open_study):
    for second in range(3):
        assert open_study.look_at_clock(CLOSES + WRONG + timedelta(seconds=second)) == Retention(clock=50)
    assert open_study.look_at_clock(CLOSES - 2 * DAY) == Retention()
    assert (open_study.count(), open_study.expired()) == (50, None)


def test_a_clock_that_stays_wrong_deletes_no_round_that_was_never_seen_to_end(open_study):
    assert run(open_study, CLOSES + WRONG, 10 * DAY) == Retention(unconfirmed=50)
    assert open_study.due(CLOSES + WRONG) == 50
    assert open_study.expire(CLOSES + WRONG) == 50  # its operator says that the clock is right


def test_what_is_due_is_deleted_by_a_clock_that_ran_on(open_study):
    run(open_study, CLOSES - 2 * DAY, 2 * DAY)
    assert run(open_study, CLOSES, 30 * DAY - timedelta(minutes=30), timedelta(hours=1)) == Retention()
    assert open_study.look_at_clock(CLOSES + 30 * DAY) == Retention(deleted=50)
    assert open_study.expired().reports == 50


def test_after_an_outage_the_clock_is_watched_for_hours_first(open_study):
    run(open_study, CLOSES - 2 * DAY, 3 * DAY)
    start = CLOSES + 40 * DAY
    assert run(open_study, start, timedelta(seconds=PROBATION - 1800)) == Retention(clock=50)
    assert open_study.look_at_clock(start + timedelta(seconds=PROBATION)) == Retention(deleted=50)


def test_the_operators_closing_is_an_end_that_somebody_saw(open_study):
    open_study.close()
    assert run(open_study, CLOSES + WRONG, timedelta(seconds=PROBATION)).deleted == 50


@pytest.mark.parametrize("step", [timedelta(seconds=LONGEST_STEP + 1), -timedelta(minutes=6)])
def test_a_jump_begins_the_watch_anew(open_study, step):
    run(open_study, CLOSES - 2 * DAY, 3 * DAY)
    late = CLOSES + 31 * DAY
    run(open_study, late, timedelta(seconds=PROBATION - 3600))
    assert open_study.look_at_clock(late + timedelta(seconds=PROBATION - 3600) + step) == Retention(clock=50)
    assert open_study.look_at_clock(late + timedelta(seconds=PROBATION) + step) == Retention(clock=50)


def test_two_collectors_may_differ_by_seconds(open_study):
    run(open_study, CLOSES - 2 * DAY, 3 * DAY)
    late = CLOSES + 31 * DAY
    for place in range(13):
        for skew in (0, -20):
            found = open_study.look_at_clock(late + timedelta(minutes=30 * place, seconds=skew))
            if found.deleted:
                break
    assert open_study.count() == 0
