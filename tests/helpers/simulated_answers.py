"""Simulated people of known answers, asked again and again: how often intervals hold the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.statistics.findings import Finding, Scale, find, find_among, find_within
from privet.estimation.statistics.friends import list_length, mixing
from privet.estimation.statistics.readings import Reading, read_answers, read_open
from privet.mechanisms import (
    HDS,
    AdjacencyResponse,
    AnalyticGaussian,
    Counts,
    DegreeResponse,
    Laplace,
    Mechanism,
    MixedResponse,
    MultiBit,
    OfferedResponse,
    Piecewise,
    RandomizedResponse,
    SampledResponse,
    SeededBits,
    SquareWave,
    SubsetResponse,
)

__all__ = ["GROUPS", "LINKS", "QUESTIONS", "holds"]

_SHARES = {2: (0.9, 0.1), 3: (0.6, 0.3, 0.1), 4: (0.4, 0.3, 0.28, 0.02)}
Held = NDArray[np.int64]


def holds(finding: Finding, truth: Any) -> Held:
    """Tell which of a finding's intervals hold the truth: 1 or 0 for each figure."""
    pairs = zip(finding.estimates, truth, strict=True)
    return np.array([each.low - 1e-9 <= value <= each.high + 1e-9 for each, value in pairs], dtype=np.int64)


@dataclass(frozen=True)
class World:
    """People whom a mechanism asks.

    Attributes:
        mechanism: The mechanism.
        draw: Draws the true values of some people.
        scales: The possible answers to each question.
        truths: The true shares or mean of each question.
    """

    mechanism: Mechanism
    draw: Callable[[np.random.Generator, int], Any]
    scales: tuple[Scale, ...]
    truths: tuple[Any, ...]

    def held(self, people: int, times: int, seed: int) -> Held:
        """Ask new people some times, and count for each figure how often its interval held the truth."""
        rng, widths = np.random.default_rng(seed), tuple(len(truth) for truth in self.truths)
        reports = self.mechanism.perturb(self.draw(rng, people * times), SeededBits(seed))
        found = np.zeros(sum(widths), dtype=np.int64)
        for start in range(0, people * times, people):
            some = np.arange(start, start + people)
            readings = read_answers(some, reports.take(some), self.mechanism, widths)
            each = zip(readings, self.scales, self.truths, strict=True)
            found += np.concatenate([holds(find(reading, scale), truth) for reading, scale, truth in each])
        return found


def _numbers(kind: type[Any], **parameters: Any) -> World:
    """Ask for numbers: the first is spread like a bell, the others lie near the low end."""
    mechanism = kind(epsilon=1.0, low=0.0, high=12.0, **{"dimension": 2, **parameters})
    tops, bottoms = [8.0, 1.0][: mechanism.dimension], [6.0, 9.0][: mechanism.dimension]

    def draw(rng: np.random.Generator, people: int) -> Any:
        return 12 * rng.beta(tops, bottoms, size=(people, len(tops)))

    truths = tuple((12 * a / (a + b),) for a, b in zip(tops, bottoms, strict=True))
    return World(mechanism, draw, (Scale(low=0.0, high=12.0),) * len(tops), truths)


def _categories(mechanism: Mechanism, *counts: int, flat: bool = False) -> World:
    """Ask for categories of uneven shares; as a vector of classes if ``flat``."""

    def draw(rng: np.random.Generator, people: int) -> Any:
        codes = np.stack([rng.choice(each, size=people, p=_SHARES[each]) for each in counts], axis=1)
        return codes[:, 0] if flat else codes.astype(np.float64)

    scales = tuple(Scale(tuple(map(str, range(each))), shares=True) for each in counts)
    return World(mechanism, draw, scales, tuple(_SHARES[each] for each in counts))


def _counted() -> World:
    """Ask for numbers of friends in two groups."""
    scale = Scale(("a", "b"), high=16.0, counts=True)

    def draw(rng: np.random.Generator, people: int) -> Any:
        return np.minimum(rng.poisson((2.0, 0.1), size=(people, 2)), 16)

    return World(Counts(epsilon=1.0, classes=2, cap=16), draw, (scale,), ((2.0, 0.1),))


def _offered(mechanism: Mechanism) -> World:
    """Ask which of three options is the true one."""

    def draw(rng: np.random.Generator, people: int) -> Any:
        return np.stack([rng.choice(3, size=people, p=_SHARES[3]), np.full(people, 3)], axis=1)

    scale = Scale(("a", "b", "c"), shares=True)
    return World(mechanism, draw, (scale,), (_SHARES[3],))


def _mixed() -> World:
    """Ask for a number, a category, and any of three choices."""
    columns = (("number", 0.0, 12.0, 0), ("category", 0.0, 2.0, 0), ("several", 0.0, 7.0, 0))

    def draw(rng: np.random.Generator, people: int) -> Any:
        chosen = rng.random((people, 3)) < (0.5, 0.3, 0.05)
        parts = (12 * rng.beta(8, 6, people), rng.choice(3, size=people, p=_SHARES[3]), chosen @ (1, 2, 4))
        return np.stack(parts, axis=1)

    scales = (Scale(high=12.0), Scale(("a", "b", "c"), shares=True), Scale(("a", "b", "c")))
    truths = ((12 * 8 / 14,), _SHARES[3], (0.5, 0.3, 0.05))
    return World(MixedResponse(epsilon=2.0, columns=columns, sample=2), draw, scales, truths)


QUESTIONS: dict[str, World] = {
    "multi-bit": _numbers(MultiBit),
    "multi-bit, all": _numbers(MultiBit, sample=2),
    "hds": _numbers(HDS),
    "piecewise": _numbers(Piecewise),
    "square-wave": _numbers(SquareWave, dimension=1),
    "laplace": _numbers(Laplace),
    "analytic-gaussian": _numbers(AnalyticGaussian, delta=1e-6),
    "randomized-response": _categories(RandomizedResponse(epsilon=1.0, classes=4), 4, flat=True),
    "sampled-response": _categories(
        SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=1, fill="none"), 2, 3
    ),
    "sampled-response, filled": _categories(
        SampledResponse(epsilon_per_feature=1.0, categories=(2, 3), sample=1), 2, 3
    ),
    "mixed-response": _mixed(),
    "offered-response": _offered(OfferedResponse(epsilon=1.0, most=3)),
    "subset-response": _offered(SubsetResponse(epsilon=1.0, most=3, sizes=(1, 2))),
    "counts": _counted(),
}
"""A question by the name of the mechanism that it is asked with."""


def _by_class(people: int, times: int, seed: int, budget: float) -> Held:
    """Tell a category and a number by class, both from two randomised answers of one person."""
    rng, whole = np.random.default_rng(seed), people * times
    classes = rng.choice(2, size=whole, p=(0.65, 0.35))
    within = np.array([[0.7, 0.2, 0.1], [0.15, 0.25, 0.6]])
    codes = (within.cumsum(axis=1)[classes] < rng.random(whole)[:, None]).sum(axis=1)
    numbers = 12 * rng.beta(2 + 2 * classes, 4)
    label = RandomizedResponse(epsilon=budget, classes=2)
    category = SampledResponse(epsilon_per_feature=budget, categories=(3, 2), sample=1, fill="none")
    number = MultiBit(epsilon=budget, dimension=1, low=0.0, high=12.0)
    bits = SeededBits(seed)
    answers = ((label, classes), (category, np.stack([codes, codes % 2], axis=1)), (number, numbers[:, None]))
    reports = [mechanism.perturb(values, bits) for mechanism, values in answers]
    found = np.zeros(8, dtype=np.int64)
    for start in range(0, whole, people):
        some = np.arange(start, start + people)
        mine = [each.take(some) for each in reports]
        (groups,) = read_answers(some, mine[0], label, (2,))
        first, _ = read_answers(some, mine[1], category, (3, 2))
        (mean,) = read_answers(some, mine[2], number, (1,))
        for each in range(2):
            one = slice(each, each + 1)
            members = Reading(groups.users, groups.symbols[:, one], groups.scale[one], groups.offset[one])
            shares = holds(find_within(members, first, Scale(("a", "b", "c"), shares=True)), within[each])
            means = holds(find_within(members, mean, Scale(high=12.0)), (12 * (2 + 2 * each) / (6 + 2 * each),))
            found[4 * each : 4 * each + 4] += np.concatenate([shares, means])
    return found


def _answering(people: int, times: int, seed: int) -> Held:
    """Tell a mean and three choices among the three in four who did not prefer to say nothing."""
    rng, whole = np.random.default_rng(seed), people * times
    columns = (("number", 0.0, 12.0, 1), ("several", 0.0, 7.0, 1))
    mechanism = MixedResponse(epsilon=3.0, columns=columns, sample=1)
    numbers, chosen = 12 * rng.beta(8, 6, whole), (rng.random((whole, 3)) < (0.5, 0.3, 0.05)) @ (1, 2, 4)
    values = np.where(rng.random((whole, 2)) < 0.25, (13.0, 8.0), np.stack([numbers, chosen], axis=1))
    reports = mechanism.perturb(values, SeededBits(seed))
    scales, truths = (Scale(high=12.0), Scale(("a", "b", "c"))), ((12 * 8 / 14,), (0.5, 0.3, 0.05))
    found = np.zeros(4, dtype=np.int64)
    for start in range(0, whole, people):
        some = np.arange(start, start + people)
        readings = read_answers(some, reports.take(some), mechanism, mechanism.widths)
        each = []
        for reading, scale, truth in zip(readings, scales, truths, strict=True):
            estimates = reading.estimates
            base = read_open(reading.users, 1 - estimates[:, -1:])
            each.append(holds(find_among(base, read_open(reading.users, estimates[:, :-1]), scale), truth))
        found += np.concatenate(each)
    return found


GROUPS: dict[str, Callable[[int, int, int], Held]] = {
    "by class, epsilon 1": lambda people, times, seed: _by_class(people, times, seed, 1.0),
    "by class, epsilon 3": lambda people, times, seed: _by_class(people, times, seed, 3.0),
    "of those who answered, mixed-response": _answering,
}
"""Tables by class, three shares and a mean in each of two groups; figures of those who answered at all."""


@dataclass(frozen=True)
class Town:
    """People in two groups, linked more often within a group; three in four of them answer."""

    classes: NDArray[np.int64]
    adjacency: NDArray[np.bool_]
    answering: NDArray[np.int64]

    @classmethod
    def draw(cls, people: int, rng: np.random.Generator) -> Town:
        """Draw a new town."""
        classes = rng.integers(2, size=people)
        chance = np.where(classes[:, None] == classes[None], 0.04, 0.01)
        upper = np.triu(rng.random((people, people)) < chance, 1)
        return cls(classes, upper | upper.T, np.sort(rng.permutation(people)[: 3 * people // 4]))


def _mixing(town: Town, seed: int) -> Held:
    response = RandomizedResponse(epsilon=1.0, classes=2)
    reports = response.perturb(town.classes, SeededBits(seed))
    (reading,) = read_answers(np.arange(len(town.classes)), reports, response, (2,))
    hot = np.eye(2)[town.classes]
    pairs = hot.T @ town.adjacency @ hot
    truth = pairs / pairs.sum(axis=1, keepdims=True)
    found = mixing(np.argwhere(np.triu(town.adjacency)), reading, ("a", "b"))
    return np.concatenate([holds(each, row) for each, row in zip(found, truth, strict=True)])


def _length(mechanism: Callable[[int], Any]) -> Callable[[Town, int], Held]:
    def held(town: Town, seed: int) -> Held:
        nodes, some = len(town.classes), town.answering
        made = mechanism(nodes)
        lists = sp.csr_array(town.adjacency.astype(np.float32))[some]
        if isinstance(made, AdjacencyResponse):
            reports = made.perturb(lists, SeededBits(seed), users=some)
        else:
            counted = np.triu(town.adjacency) if made.one_sided else town.adjacency
            reports = made.perturb(counted.sum(axis=1)[some], SeededBits(seed))
        return holds(list_length(some, reports, made, nodes), (town.adjacency.sum() / nodes,))

    return held


LINKS: dict[str, Callable[[Town, int], Held]] = {
    "mixing, randomized-response": _mixing,
    "adjacency-response": _length(lambda nodes: AdjacencyResponse(epsilon=2.0, num_nodes=nodes)),
    "adjacency-response, one-sided": _length(lambda n: AdjacencyResponse(epsilon=2.0, num_nodes=n, one_sided=True)),
    "degree-response": _length(lambda nodes: DegreeResponse(epsilon=1.0, num_nodes=nodes)),
    "degree-response, one-sided": _length(lambda n: DegreeResponse(epsilon=1.0, num_nodes=n, one_sided=True)),
}
"""Statistics of links in a town, which are about that town."""
