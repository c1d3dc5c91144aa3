"""Certificates against all sets of liars and all their answers, on graphs small enough to try every one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privet.estimation.answers.liars_needed import (
    MARGIN,
    Possible,
    fewest_liars,
    liars_needed,
    lost,
    neighbour_links,
    own_links,
)
from privet.estimation.answers.neighbour_evidence import class_mixing, neighbour_evidence, told_of_neighbours

PEOPLE, CLASSES, ANSWERS = 5, 3, 3


@dataclass(frozen=True, eq=False)
class World:
    adjacency: sp.csr_array
    labels: NDArray[np.int64]
    base: NDArray[np.float64]
    weights: NDArray[np.float64]
    kinds: NDArray[np.int64]
    said: NDArray[np.float32]
    own: NDArray[np.float32]
    bounded: bool

    @classmethod
    def draw(cls, seed: int) -> World:
        rng = np.random.default_rng(seed)
        pairs = np.triu(rng.random((PEOPLE, PEOPLE)) < 0.7, 1)
        loops = np.diag(rng.random(PEOPLE) < 0.5) if seed % 3 == 0 else False  # some graphs keep them
        kinds = rng.integers(-1, 2, PEOPLE)
        said = rng.normal(size=(2, ANSWERS, CLASSES)).astype(np.float32)
        said[:, -1] = 0
        said -= said.mean(axis=-1, keepdims=True)
        own = np.where(kinds[:, None] >= 0, said[kinds, rng.integers(0, ANSWERS, PEOPLE)], 0).astype(np.float32)
        return cls(
            sp.csr_array((pairs | pairs.T | loops).astype(np.float32)),
            rng.integers(-1, CLASSES, PEOPLE),
            rng.normal(size=(PEOPLE, CLASSES)),
            rng.normal(0.4, 0.8, 5),
            kinds,
            said,
            own,
            bool(seed % 2),
        )

    def logits(self, own: NDArray[np.float32]) -> NDArray[np.float64]:
        result = self.base + self.weights[0] * own
        sources = neighbour_evidence(self.adjacency, own, self.labels, bounded=self.bounded)
        for weight, source in zip(self.weights[1:], sources, strict=True):
            result = result + weight * source
        return result

    def tried(self, person: int, suspects: NDArray[np.int64]) -> float:
        """Try all sets of liars, the smallest first."""
        before = self.logits(self.own)[person].argmax()
        for size in range(1, len(suspects) + 1):
            for liars in combinations(suspects, size):
                for answers in product(range(ANSWERS), repeat=size):
                    own = self.own.copy()
                    for liar, answer in zip(liars, answers, strict=True):
                        own[liar] = self.said[self.kinds[liar], answer]
                    if self.logits(own)[person].argmax() != before:
                        return size
        return np.inf

    def needed(self, *, slack: float, own_answer: bool = False) -> NDArray[np.float64]:
        mixing = class_mixing(self.adjacency, self.labels, CLASSES).astype(np.float32)
        possible = Possible.of(self.kinds, self.said, mixing)
        links = neighbour_links(self.adjacency, self.labels, self.weights[1:], bounded=self.bounded)
        themselves = own_links(PEOPLE, self.weights[0]).joined(links).to_themselves(PEOPLE)
        links = themselves if own_answer else links.of_others()
        own, told = self.own.astype(np.float64), told_of_neighbours(self.own, mixing).astype(np.float64)
        return liars_needed(self.logits(self.own), links, own, told, possible, slack=slack)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_no_smaller_set_of_liars_turns_a_prediction_and_one_of_that_size_does(seed: int) -> None:
    world = World.draw(seed)
    sure, close = world.needed(slack=1e-4), world.needed(slack=-1e-4)
    for person in range(PEOPLE):
        friends = world.adjacency.indices[world.adjacency.indptr[person] : world.adjacency.indptr[person + 1]]
        found = world.tried(person, friends[(world.kinds[friends] >= 0) & (friends != person)])
        assert sure[person] <= found <= close[person]


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_a_lie_of_the_person_is_counted_apart(seed: int) -> None:
    world = World.draw(seed)
    sure, close = (world.needed(slack=slack, own_answer=True) for slack in (1e-4, -1e-4))
    for person in range(PEOPLE):
        found = world.tried(person, np.array([person])[world.kinds[[person]] >= 0])
        assert sure[person] <= found <= close[person]


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_the_largest_drops_are_taken_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    margins, listeners, drops = rng.random(4) * 2, rng.integers(0, 4, 9), rng.random(9)
    found = fewest_liars(margins, listeners, drops, 0.0)
    for person, margin in enumerate(margins):
        sums = np.cumsum(np.sort(drops[listeners == person])[::-1])
        enough = np.flatnonzero(sums >= margin)
        assert found[person] == (enough[0] + 1 if len(enough) else np.inf)


def test_a_tie_withstands_nobody() -> None:
    assert fewest_liars(np.array([0.0, 5.0]), np.array([1]), np.array([1.0])).tolist() == [1, np.inf]


def test_what_is_no_number_is_lost() -> None:
    """A margin or a drop that is no number, or unbounded, must never make a prediction look safe."""
    assert lost(np.array([np.nan, -np.inf, 0.0, MARGIN])).all()
    assert not lost(np.array([1.0, np.inf])).any()
    one, two = np.array([0]), np.array([0, 0])
    assert fewest_liars(np.array([np.nan]), one, np.array([0.1])).tolist() == [1]
    assert fewest_liars(np.array([5.0]), two, np.array([np.nan, 0.1])).tolist() == [1]
    assert fewest_liars(np.array([5.0]), two, np.array([0.1, np.inf])).tolist() == [1]
