"""The rate limit: a bucket for each address, refilled with time, and a bounded number of buckets."""

import pytest

from privet.collection.server.http import limits
from privet.collection.server.http.limits import RateLimit


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_bucket_empties_and_fills_again():
    clock = Clock()
    limit = RateLimit(rate=2.0, burst=3, clock=clock)
    assert [limit.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    clock.now = 0.25
    assert limit.wait("a") == pytest.approx(0.25)
    clock.now = 0.5
    assert limit.wait("a") == 0.0
    clock.now = 1000.0
    assert [limit.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5], "a bucket holds no more than its burst"


def test_addresses_do_not_share_a_bucket():
    limit = RateLimit(rate=1.0, burst=1, clock=Clock())
    assert [limit.wait(address) for address in "abab"] == [0.0, 0.0, 1.0, 1.0]


def test_a_rate_of_zero_limits_nothing():
    limit = RateLimit(rate=0.0, burst=1, clock=Clock())
    assert {limit.wait("a") for _ in range(100)} == {0.0}


def test_memory_is_bounded_and_the_longest_silent_is_forgotten(monkeypatch):
    monkeypatch.setattr(limits, "_MOST_ADDRESSES", 2)
    limit = RateLimit(rate=1.0, burst=1, clock=Clock())
    for address in "abc":
        limit.wait(address)
    assert len(limit._buckets) == 2
    assert limit.wait("c") == 1.0
    assert limit.wait("a") == 0.0
