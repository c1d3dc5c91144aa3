"""Replay: the training program of a central system, run twice on neighbouring graphs with the same coins and noise.

In the manner of Re:cord-play (Cebere and others 2026, arXiv 2602.17454). The first run records every sum that gets
noise, and its noisy output. The second one trains without one node. Every coin falls as before, since coins belong to
nodes and edges, and every noisy output is taken from the recording, as in a proof by composition: what differs is what
the node itself does. Then

- each sum may move by no more than the accountant assumes, given how many sub-graphs contained the node;
- there must be as many sums, of the same shape and noise, and as many other random numbers;
- everything that leaves (weights, predictions, embeddings) must be equal to the bit: it may depend on the noisy sums
  alone.

A violation is a proof of a bug, at the node and the coins that were tried; to find none is no proof of privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Graph, Split
from privet.data.mixing import STEP, STEP_WORD, mixed_words
from privet.errors import InvalidParameter
from privet.graph.subgraphs import SubgraphBatch, SubgraphSampler
from privet.mechanisms import Bits, GridSum, SeededBits
from privet.systems import CentralSystem, Fitted
from privet.systems.central._settings import PrivateTraining

__all__ = ["Move", "Replay", "replay"]

Array = NDArray[np.float64]

_ABSURD = 1e6  # features of an absent node: whatever reads them shows it


@dataclass(frozen=True)
class Move:
    """The distance between a sum with the node and without it.

    Attributes:
        moved: The distance.
        allowed: The largest one that the accountant assumes, given the coins.
        subgraphs: The number of other nodes' sub-graphs that contained the node.
    """

    moved: float
    allowed: float
    subgraphs: int


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay.

    Attributes:
        system: The system's name.
        node: The node that was removed.
        moves: The distances, one for each noisy sum.
        problems: Sentences that say what is wrong; none if nothing was found.
    """

    system: str
    node: int
    moves: tuple[Move, ...]
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True if nothing was found."""
        return not self.problems


def replay(system: CentralSystem, graph: Graph, node: int, seed: int = 0) -> Replay:
    """Train with and without a node, with the same coins and the same noisy sums, and compare.

    Args:
        system: The system, with noise; its seed is replaced.
        graph: A graph with features, a schema, labels and a split.
        node: A training node.
        seed: The seed of coins and noise (default 0).
    """
    split, labels = graph.split, graph.labels
    if split is None or labels is None or not split.train[node]:
        raise InvalidParameter("node", "a training node of a graph with a split", node)
    if not system.noise_multiplier:
        raise InvalidParameter("noise_multiplier", "given and above 0", system.noise_multiplier)
    seeded = replace(system, seed=seed)
    others = np.arange(graph.num_nodes) != node
    absent = graph.replace(split=Split(split.train & others, split.validation, split.test))
    absent = absent.replace(labels=np.where(others, labels, -1))
    place = int((split.train & (labels >= 0))[:node].sum())
    first = _Run(node, place, seed)
    with first.recorded():
        with_node = seeded.fit(graph)
    second = _Run(node, place, seed, first)
    with second.recorded():
        without = seeded.fit(_emptied(absent, others, keep_edges=bool(system.process(graph.num_nodes).public_facts)))
    problems = [*second.problems, *_differences(first, second), *_leaks(with_node, without)]
    moves = tuple(_moves(first, second, system.noise_multiplier, node))
    for number, move in enumerate(moves):
        if move.moved > move.allowed:
            problems.append(
                f"sum {number} moves by {move.moved:.6g} with node {node}, which is in {move.subgraphs} other "
                f"sub-graphs: the accountant allows {move.allowed:.6g}"
            )
    return Replay(system.name, node, moves, tuple(problems))


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum that got noise, its noisy output, and the batch of sub-graphs that it is of, if there was one."""

    values: NDArray[np.int64]
    unit: float
    sigma: float
    noise: str
    output: Array
    batch: SubgraphBatch | None


class _FrozenBits(Bits):
    """Bits that give a named coin the same word in both worlds, and count the words that have no name."""

    def __init__(self, seed: int) -> None:
        self._rest = SeededBits(seed)
        self._key = np.uint64(seed * STEP % (1 << 64))
        self.calls = self.unnamed = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self.unnamed += count
        return self._rest.words(count)

    def words_for(self, names: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return a hash of the number of the call and the name."""
        self.calls += 1
        with np.errstate(over="ignore"):
            return mixed_words((names.astype(np.uint64) + np.uint64(self.calls << 40)) * STEP_WORD + self._key)


@dataclass(eq=False)
class _Run:
    """A training run under observation; with ``earlier`` its noisy sums are those of that run."""

    node: int
    place: int
    seed: int
    earlier: _Run | None = None
    sums: list[_Sum] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bits, self._noise = _FrozenBits(self.seed), SeededBits(self.seed + 1)
        self._batch: SubgraphBatch | None = None
        self._always: SubgraphBatch | None = None

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Watch the places where batches are formed and sums get noise."""
        form, with_noise = SubgraphSampler.form, GridSum.with_noise
        always, centres = SubgraphSampler.always_the_same, SubgraphSampler.centres

        def watched_form(sampler: SubgraphSampler, *arguments: Any) -> SubgraphBatch:
            self._batch = form(sampler, *arguments)
            return self._batch

        def watched_always(sampler: SubgraphSampler) -> SubgraphBatch | None:
            self._always = always(sampler)
            return self._always

        def watched_centres(sampler: SubgraphSampler, bits: Bits) -> NDArray[np.int64]:
            drawn = centres(sampler, bits)
            if self._always is not None:
                self._batch = _around(drawn, self._always)
            return drawn

        def watched_noise(exact: GridSum, sigma: float, bits: Bits, *, noise: Any = "gaussian") -> Array:
            recorded = self._recorded(exact, sigma, noise)
            output = with_noise(exact, sigma, self._noise, noise=noise) if recorded is None else recorded
            self.sums.append(_Sum(exact.values.copy(), exact.unit, sigma, noise, output.copy(), self._batch))
            self._batch = None
            return output

        with (
            patch.object(SubgraphSampler, "form", watched_form),
            patch.object(SubgraphSampler, "always_the_same", watched_always),
            patch.object(SubgraphSampler, "centres", watched_centres),
            patch.object(GridSum, "with_noise", watched_noise),
            patch.object(PrivateTraining, "bits", lambda settings: self.bits),
        ):
            yield

    def _recorded(self, exact: GridSum, sigma: float, noise: str) -> Array | None:
        """The output of the earlier run; None if this is the first run, or if the two do not agree."""
        if self.earlier is None:
            return None
        number = len(self.sums)
        if number >= len(self.earlier.sums):
            return None  # told once, at the end
        then = self.earlier.sums[number]
        output = then.output
        if _row_each(then.values, exact.values):  # one row for each training node
            output = np.delete(output, self.place, axis=0)
        if output.shape != exact.values.shape or (then.unit, then.sigma, then.noise) != (exact.unit, sigma, noise):
            self.problems.append(
                f"sum {number} has the shape {exact.values.shape} and noise {sigma:.6g} without node {self.node}, and "
                f"{then.values.shape} and {then.sigma:.6g} with it"
            )
            return None
        return output.copy()


def _around(centres: NDArray[np.int64], batch: SubgraphBatch) -> SubgraphBatch:
    """Return those sub-graphs of a batch that have one of these centres."""
    kept = np.isin(batch.central, centres)
    entries = kept[batch.owner]
    owner = (np.cumsum(kept) - 1)[batch.owner[entries]]
    return SubgraphBatch(batch.central[kept], owner, batch.peripheral[entries])


def _row_each(with_node: NDArray[np.int64], without: NDArray[np.int64]) -> bool:
    """Tell whether a sum has one row for each training node, and therefore one fewer without the node."""
    return with_node.ndim == 2 and without.shape == (with_node.shape[0] - 1, with_node.shape[1])


def _emptied(graph: Graph, others: NDArray[np.bool_], *, keep_edges: bool) -> Graph:
    """Return the graph with absurd features of a node, which nobody may read, and without edges that are secret."""
    changes: dict[str, Any] = {}
    if isinstance(graph.features, np.ndarray):
        changes["features"] = np.where(others[:, None], graph.features, np.float32(_ABSURD))
    elif graph.features is not None:
        features = graph.features.copy()
        features.data[np.repeat(~others, np.diff(features.indptr))] = _ABSURD
        changes["features"] = features
    if not keep_edges:
        kept = sp.diags_array(others.astype(np.float32), format="csr")
        adjacency = sp.csr_array(kept @ graph.adjacency @ kept)
        adjacency.eliminate_zeros()
        changes["adjacency"] = adjacency
    return graph.replace(**changes)


def _moves(first: _Run, second: _Run, noise_multiplier: float, node: int) -> Iterator[Move]:
    for then, now in zip(first.sums, second.sums, strict=False):
        values = now.values
        if _row_each(then.values, values):
            values = np.insert(values, first.place, 0, axis=0)
        if values.shape != then.values.shape:
            continue
        declared = then.sigma / noise_multiplier  # the accountant's sensitivity, that noise is a multiple of
        own, others = 1, 0
        if then.batch is not None:
            own, others = int((then.batch.central == node).any()), int((then.batch.peripheral == node).sum())
        moved = float(np.linalg.norm((then.values - values).astype(np.float64))) * then.unit
        yield Move(moved, declared * (own + 2 * others), others)


def _differences(first: _Run, second: _Run) -> Iterator[str]:
    pairs = (
        ("noisy sums", len(first.sums), len(second.sums)),
        ("rounds of coins", first.bits.calls, second.bits.calls),
        ("other random words", first.bits.unnamed, second.bits.unnamed),
    )
    for title, then, now in pairs:
        if then != now:
            yield f"the number of {title} is {then} with node {first.node} and {now} without it"


def _leaks(with_node: Fitted, without: Fitted) -> Iterator[str]:
    for name, weights in with_node.weights.items():
        if not np.array_equal(weights, without.weights[name], equal_nan=True):
            yield f"the weights {name} depend on the node by another way than the noisy sums"
    if not np.array_equal(with_node.probabilities, without.probabilities, equal_nan=True):
        yield "predictions depend on the node by another way than the noisy sums"
    rows, others = with_node.embedding, without.embedding
    if rows is not None and (others is None or not np.array_equal(rows, others, equal_nan=True)):
        yield "embeddings depend on the node by another way than the noisy sums"
