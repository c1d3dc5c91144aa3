"""The lease on computing the next round: one collector holds it, and a dead one keeps nobody waiting."""

from concurrent.futures import ThreadPoolExecutor

from simulated_studies import make_study

from privet.collection.server.store.leases import RENEWAL_SECONDS, Lease
from privet.collection.server.store.store import Store


def take(store, now, number=2):
    with store.leases(write=True) as leases:
        return leases.take(number, now)


def last(store):
    with store.leases() as leases:
        return leases.last()


def test_one_takes_the_lease_and_others_wait_until_it_is_given_back(store):
    assert last(store) is None
    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: take(store, 1000.0), range(4))) == [False, False, False, True]
    assert last(store) == Lease(2, 1000, 1000, "")
    with store.leases(write=True) as leases:
        leases.release("It failed.")
    assert (last(store).is_held(1001.0), last(store).failure(1001.0)) == (False, "It failed.")
    assert take(store, 1002.0, number=3)
    assert last(store) == Lease(3, 1002, 1002, "")


def test_a_lease_that_is_not_renewed_is_free(store):
    assert take(store, 1000.0)
    now = 1000.0
    for _ in range(20):
        now += RENEWAL_SECONDS
        with store.leases(write=True) as leases:
            leases.renew(now)
    assert (last(store).is_held(now + RENEWAL_SECONDS), take(store, now + RENEWAL_SECONDS)) == (True, False)
    assert last(store).failure(now + 60) == "The collector that computed the round stopped."
    assert take(store, now + 60)


def test_each_study_has_its_own_lease(store):
    other = Store(store._engine, make_study())
    assert take(store, 1000.0)
    assert take(other, 1000.0)
