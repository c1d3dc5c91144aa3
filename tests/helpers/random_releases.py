"""Random releases over every registered mechanism, and private data that fit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from privet.data import Categories, Schema
from privet.data.population import Population
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import MECHANISMS, AdjacencyResponse, Mechanism
from privet.release import ASKS, Ask, LocalRelease, PrivateData, Question
from privet.release.asks.friends import Friends
from privet.release.asks.friends_again import FriendsAgain
from privet.release.asks.neighbours import Neighbours
from privet.release.asks.person import Person
from privet.release.asks.resemblance import Resemblance

NODES = 9
POPULATIONS = {
    "numeric": Population(Schema.numeric(4, [-1.0, 0.0, 2.0, 0.0], [1.0, 0.5, 5.0, 9.0], classes=3), NODES),
    "single": Population(Schema.numeric(1, 0.0, 1.0, classes=2), NODES),
    "categorical": Population(Schema.categorical([2, 3, 2, 300], classes=200), NODES),
}


@dataclass(frozen=True)
class Followers(Neighbours):
    """A second list, so that a body holds several."""

    name = "followers"


@dataclass(frozen=True)
class Mentions(Neighbours):
    """A third list."""

    name = "mentions"


def fitting(ask: Ask, population: Population, epsilon: float = 1.0) -> Iterator[Question]:
    """Every registered mechanism that can answer an ask, with any parameters."""
    for kind in MECHANISMS.values():
        try:
            yield Question(ask, declared(kind, population, epsilon))
        except (InvalidData, InvalidParameter):
            continue


def ready(ask: Ask, population: Population = POPULATIONS["numeric"]) -> Ask:
    """An ask with the public tables that it needs, if any; the two rounds of the friend question go together."""
    people = np.arange(NODES)
    if isinstance(ask, FriendsAgain):
        return ask.attach(table=np.where(people % 2, -1, people % 3 - 1), ranks=np.where(people % 2, 0, people % 4))
    if isinstance(ask, Friends):
        return ask.attach(table=np.where(people % 2, people % 3 - 1, -1), ranks=people % 4)
    if isinstance(ask, Resemblance):
        weights = np.random.default_rng(0).integers(-9, 10, (population.dimension + 1, population.classes))
        return ask.attach(scorer=weights.astype(np.int32), offers=np.tile([0, 1], (NODES, 1)))
    if isinstance(ask, Person):
        rng, classes = np.random.default_rng(1), population.classes
        weights = rng.integers(-9, 10, (population.dimension + 1, classes)).astype(np.int32)
        return ask.attach(
            scorer=weights, offers=np.tile([0, 1], (NODES, 1)),
            table=rng.integers(0, 256, (NODES, classes), dtype=np.uint8),
            mixing=rng.integers(-9, 10, (classes, classes)).astype(np.int32),
            shares=np.arange(1, classes + 1, dtype=np.int32),
        )  # fmt: skip
    return ask


def declared(kind: type[Mechanism], population: Population, epsilon: float) -> Mechanism:
    try:
        return kind.declare(population, epsilon=epsilon)
    except TypeError:  # approximate privacy needs a delta
        return kind.declare(population, epsilon=epsilon, delta=1e-3)


@st.composite
def releases(draw: st.DrawFn, *, extra_lists: bool = True) -> LocalRelease:
    """A release with one or more questions in any order, of which everybody can be asked each."""
    population = draw(st.sampled_from(list(POPULATIONS.values())))
    epsilon = draw(st.floats(0.5, 4.0))
    asks = [ready(kind(), population) for kind in ASKS.values()] + ([Followers(), Mentions()] if extra_lists else [])
    chosen = draw(st.lists(st.sampled_from(asks), min_size=1, unique=True))
    chosen = [ask for ask in chosen if not any(other.name in ask.instead_of for other in chosen)]
    questions = [draw(st.sampled_from(list(fitting(ask, population, epsilon)))) for ask in chosen]
    if draw(st.booleans()):
        questions = [
            Question(each.ask, AdjacencyResponse.declare(population, epsilon=epsilon, one_sided=True))
            if isinstance(each.mechanism, AdjacencyResponse)
            else each
            for each in questions
        ]
    return LocalRelease(tuple(questions), population)


def people(population: Population, seed: int, users: list[int] | None = None) -> PrivateData:
    """Raw values of some people that fit a population's schema."""
    rng = np.random.default_rng(seed)
    features = np.column_stack(
        [
            rng.integers(domain.count, size=NODES)
            if isinstance(domain, Categories)
            else rng.uniform(domain.low, domain.high, NODES)
            for domain in population.schema.features
        ]
    )
    lists = np.triu(rng.random((NODES, NODES)) < 0.4, 1)
    whole = PrivateData(
        np.arange(NODES),
        features.astype(float),
        rng.integers(population.classes, size=NODES),
        sp.csr_array((lists | lists.T).astype(np.float32)),
    )
    return whole if users is None else whole.take(np.array(users, dtype=np.int64))
