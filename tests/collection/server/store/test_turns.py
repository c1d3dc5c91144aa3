"""Turns at computing the next round: one at a time, and a dead collector keeps nobody waiting."""

from concurrent.futures import ThreadPoolExecutor

from simulated_studies import make_study

from privet.collection.server.store.store import Store
from privet.collection.server.store.turns import BEAT_SECONDS, Turn


def take(store, now, number=2):
    with store.turns(write=True) as turns:
        return turns.take(number, now)


def last(store):
    with store.turns() as turns:
        return turns.last()


def test_one_takes_the_turn_and_others_wait_until_it_ends(store):
    assert last(store) is None
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: take(store, 1000.0), range(4))) == [False, False, False, True]
    assert last(store) == Turn(2, 1000, 1000, "")
    with store.turns(write=True) as turns:
        turns.end("It failed.")
    assert (last(store).runs(1001.0), last(store).trouble(1001.0)) == (False, "It failed.")
    assert take(store, 1002.0, number=3)
    assert last(store) == Turn(3, 1002, 1002, "")


def test_who_gives_no_sign_of_life_has_lost_the_turn(store):
    assert take(store, 1000.0)
    now = 1000.0
    for _ in range(20):
        now += BEAT_SECONDS
        with store.turns(write=True) as turns:
            turns.beat(now)
    assert (last(store).runs(now + BEAT_SECONDS), take(store, now + BEAT_SECONDS)) == (True, False)
    assert last(store).trouble(now + 60) == "The collector that computed the round stopped."
    assert take(store, now + 60)


def test_each_study_has_turns_of_its_own(store):
    other = Store(store._engine, make_study())
    assert take(store, 1000.0)
    assert take(other, 1000.0)
