"""An audit of the person question as a whole: every state of a small device against many dishonest servers, exactly.

A server is dishonest by its public arrays: it gives each person a table of its own, publishes a single friend, weighs
features or friends as it likes, and offers the two classes that interest it. The device's program runs for every state
that it can be in; the probabilities of its reports are rational numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.accounts.account import check_known, mechanism_from
from privet.errors import InvalidParameter
from privet.mechanisms import MECHANISMS, OfferedResponse
from privet.mechanisms.primitives.odds import exp_enclosure
from privet.release.asks.person import Person
from privet.release.private import PrivateData
from privet.release.question import Question

__all__ = ["PersonAudit", "audit_person"]

_FRIENDS, _CLASSES, _VALUES = 3, 4, (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class PersonAudit:
    """The largest privacy losses that dishonest servers reached.

    Attributes:
        mechanism: The name of the randomiser.
        reads: What the question reads.
        unit: The unit of its promise.
        servers: The number of dishonest servers.
        states: The number of states of the device.
        claim: The promised epsilon.
        largest: The largest loss between any two states.
        friend: The largest loss between two states that differ in one friend.
        relationship_claim: The promised epsilon of a relationship, both of whose ends may answer.
        relationship: The largest loss about one, from both answers together, each end with a server of its own.
        broken: True if a loss exceeds its promise, by exact comparison.
    """

    mechanism: str
    reads: str
    unit: str
    servers: int
    states: int
    claim: float
    largest: float
    friend: float
    relationship_claim: float
    relationship: float
    broken: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def audit_person(**parameters: Any) -> PersonAudit:
    """Let dishonest servers ask a device of three possible friends, two features and four classes.

    Args:
        **parameters: ``epsilon`` (default 1), ``mechanism`` ("offered-response" or "subset-response") with its other
            fields, ``reads`` as of the question, ``servers`` (default 300) and ``seed`` (default 0).
    """
    own = {"reads": "everything", "servers": 300, "seed": 0, "mechanism": OfferedResponse.name, "epsilon": 1.0}
    chosen = {name: parameters.get(name, default) for name, default in own.items()}
    kind = MECHANISMS.find(str(chosen["mechanism"]))
    if not issubclass(kind, OfferedResponse):
        raise InvalidParameter("mechanism", "one that chooses among offered classes", kind.name)
    fields = {name: each for name, each in parameters.items() if name not in own or name == "epsilon"}
    check_known("person", fields, ["epsilon", "sizes"])
    made: Any = mechanism_from(kind, {"most": _CLASSES, "epsilon": chosen["epsilon"], **fields})
    if int(chosen["servers"]) < 1:
        raise InvalidParameter("servers", "at least 1", chosen["servers"])
    return _attacked(made, str(chosen["reads"]), int(chosen["servers"]), int(chosen["seed"]))


def _attacked(mechanism: OfferedResponse, reads: str, servers: int, seed: int) -> PersonAudit:
    lists, device = _states()
    promise = Question(Person(reads=reads), mechanism).guarantee()
    largest, friend = Fraction(1), Fraction(1)
    count = 0
    for ask in _servers(reads, servers, np.random.default_rng(seed)):
        count += 1
        told = [(int(position), int(options)) for position, options in ask.apply(device, mechanism)]
        for one, other in itertools.permutations(sorted(set(told)), 2):
            largest = max(largest, _ratio(mechanism, one, other))
        for with_friend, without in _differing_in_a_friend(lists):
            friend = max(friend, _ratio(mechanism, told[with_friend], told[without]))
    both = promise.relationship_epsilon or 0.0
    limits = [exp_enclosure(Fraction(each))[1] for each in (promise.epsilon, both)]
    broken = max(largest, friend) > limits[0] or (friend**2 > limits[1])
    return PersonAudit(
        mechanism.name, reads, str(promise.unit), count, len(lists), promise.epsilon, _log(largest), _log(friend), both,
        _log(friend**2), broken,
    )  # fmt: skip


@cache
def _ratio(mechanism: OfferedResponse, one: tuple[int, int], other: tuple[int, int]) -> Fraction:
    """Return the largest ratio of probabilities of a report under two answers."""
    first, second = mechanism.exact_distribution(one), mechanism.exact_distribution(other)
    return max(first[report][0] / second[report][0] for report in first)


def _states() -> tuple[NDArray[np.float32], PrivateData]:
    """Return all states of the device of person 0: all friend lists with all features."""
    friends = list(itertools.product((0, 1), repeat=_FRIENDS))
    features = list(itertools.product(_VALUES, repeat=2))
    made = list(itertools.product(friends, features))
    lists = np.array([[0, *listed] for listed, _ in made], dtype=np.float32)
    values = np.array([each for _, each in made])
    return lists, PrivateData(np.zeros(len(made), dtype=np.int64), values, neighbours=sp.csr_array(lists))


def _differing_in_a_friend(lists: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
    """Yield pairs of states with the same features whose lists differ in one entry."""
    features = len(_VALUES) ** 2
    for one, other in itertools.permutations(range(len(lists)), 2):
        if one % features == other % features and np.abs(lists[one] - lists[other]).sum() == 1:
            yield one, other


def _servers(reads: str, count: int, rng: np.random.Generator) -> Iterator[Person]:
    """Yield servers that isolate a friend, and others whose arrays are drawn from extremes and between them."""
    people = _FRIENDS + 1
    eye = np.eye(_CLASSES, dtype=np.int32)
    for number in range(count):
        table = rng.choice(np.array([0, 1, 254, 255], dtype=np.uint8), (people, _CLASSES))
        scorer = rng.integers(-9, 10, (3, _CLASSES)) * 10 ** rng.integers(0, 6)
        mixing = rng.integers(-9, 10, (_CLASSES, _CLASSES)) * 10 ** rng.integers(0, 5)
        offered = np.sort(rng.permutation(_CLASSES)[: rng.integers(2, _CLASSES + 1)])
        if number < _FRIENDS:  # the answer is whether this one is a friend
            table, scorer, mixing, offered = np.zeros_like(table), scorer * 0, eye * 1000, np.array([0, 1])
            table[number + 1, 1] = 255
        offers = np.full((1, _CLASSES), -1)
        offers[0, : len(offered)] = offered
        shares = rng.integers(1, 9, _CLASSES) if number >= _FRIENDS else np.ones(_CLASSES, dtype=np.int64)
        yield Person(
            offers, reads, scorer=scorer.astype(np.int32), unit_length=bool(rng.integers(2)), table=table,
            mixing=mixing.astype(np.int32), shares=shares,
        )  # fmt: skip


def _log(ratio: Fraction) -> float:
    return math.log(ratio.numerator) - math.log(ratio.denominator)
