"""Bounds of trimmed means, against all sets of liars on small graphs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.estimation.answers.liars_needed import Possible
from privet.estimation.answers.neighbour_evidence import class_mixing, neighbour_evidence, told_of_neighbours
from privet.estimation.answers.trimmed_certificate import TrimmedRange, trimmed_liars
from privet.estimation.resistant import trimmed_means


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(0, 5))
def test_the_range_holds_all_lies_and_its_ends_are_reached(seed: int, liars: int) -> None:
    rng = np.random.default_rng(seed)
    degree = int(rng.integers(1, 6))
    adjacency = sp.csr_array((np.ones(degree), np.arange(1, degree + 1), [0, degree, *[degree] * 6]), shape=(7, 7))
    values, lies = rng.normal(size=(7, 1)), np.array([[-3.0], [3.0]])
    part = TrimmedRange(adjacency, values, lies)
    assert np.allclose(part.after(0)[0], trimmed_means(adjacency, values))
    assert np.allclose(part.after(0)[1], trimmed_means(adjacency, values))
    found = []
    for chosen in combinations(range(1, degree + 1), min(liars, degree)):
        for said in product((-3.0, 3.0), repeat=len(chosen)):
            false = values.copy()
            false[list(chosen), 0] = said
            found.append(float(trimmed_means(adjacency, false)[0, 0]))
    lowest, highest = part.after(liars)
    assert np.isclose(lowest[0, 0], min(found))
    assert np.isclose(highest[0, 0], max(found))


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_no_set_of_so_many_liars_turns_a_prediction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people, classes = 5, 2
    pairs = np.triu(rng.random((people, people)) < 0.9, 1)
    adjacency = sp.csr_array((pairs | pairs.T).astype(np.float32))
    labels, kinds = rng.integers(-1, classes, people), np.zeros(people, dtype=np.int64)
    said = np.array([[[1, -1], [-1, 1], [0, 0]]], dtype=np.float32)
    own = said[0, rng.integers(0, 3, people)]
    base, weights, bounded = rng.normal(size=(people, classes)) * 2, rng.normal(0.4, 0.6, 4), bool(seed % 2)

    def logits(answers: np.ndarray) -> np.ndarray:
        sources = neighbour_evidence(adjacency, answers, labels, trimmed=True, bounded=bounded)
        return base + sum(weight * source for weight, source in zip(weights, sources, strict=True))

    mixing = class_mixing(adjacency, labels, classes).astype(np.float32)
    told = told_of_neighbours(own, mixing).astype(np.float64)
    possible = Possible.of(kinds, said, mixing)
    stood = trimmed_liars(
        logits(own), adjacency, labels, weights, own.astype(np.float64), told, possible, bounded=bounded
    )
    before = logits(own).argmax(axis=1)
    for person in range(people):
        friends = adjacency.indices[adjacency.indptr[person] : adjacency.indptr[person + 1]]
        for number in range(1, int(min(stood[person], len(friends))) + 1):
            for liars in combinations(friends, number):
                for answers in product(range(3), repeat=number):
                    false = own.copy()
                    false[list(liars)] = said[0, list(answers)]
                    assert logits(false)[person].argmax() == before[person]
