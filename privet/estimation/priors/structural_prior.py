"""Everybody's class probabilities from public topology and visible labels alone, nobody's own label included.

People whose labels are visible are dealt into folds. A model for each fold learns from the other folds and predicts
this one: nothing that it learned from, neither as a target nor as a neighbour's label, is a label of the fold. What it
is told of a labelled person leaves out the labels of a small part of the fold, the person's own among them, so that
labelled people are told almost as much as others, and what holds of their priors holds of everybody's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax

from privet.errors import InvalidData
from privet.estimation.priors.fold_networks import FoldInputs, FoldNetworks
from privet.estimation.priors.shelf import lent_shelf
from privet.estimation.shared_weights import SharedWeights
from privet.graph.coordinates import random_coordinates, spectral_coordinates, standardised
from privet.graph.memory import topology_of
from privet.graph.operators import GraphLike
from privet.graph.topology import Topology

__all__ = ["calibrated", "neighbour_prior", "structural_prior"]

Array = NDArray[np.float64]
Columns = NDArray[np.float32]

FOLDS = 5
PARTS = 20  # parts of which a person's own is left out; each fold holds several
LARGE = 2_000_000  # people from whom on a prior of few columns is used
_SPREADS = ((0.8, 12), (0.95, 30))  # share that goes on in a hop, hops
_REMEMBERED = 3
_RECENT: dict[tuple[str, int], Array] = {}  # a run and its controls ask for the same prior
_COORDINATES: dict[str, tuple[NDArray[np.float32], ...]] = {}  # those of the last graph: seeds share them
_PEOPLE_A_COLUMN = 100  # of the random coordinates, which many people need more of
_SHARED_UP_TO = 200_000  # people up to whom coordinates are kept
_TRAINED_ON = 50_000  # labelled people whose weights of a large graph are fitted on


def structural_prior(
    graph: GraphLike,
    labels: NDArray[np.integer[Any]],
    classes: int,
    *,
    label_transition: Array | None = None,
    seed: int | None = 0,
) -> Array:
    """Return class log-probabilities, N x classes.

    Two small networks read the labels around a person (one hop, two hops, far), degrees and coordinates in the graph:
    one spectral coordinates, the other propagated random ones, which are better on some graphs. Their probabilities
    are averaged. The cost is linear in the edges. From 2,000,000 people on, :func:`neighbour_prior` is used instead.

    Args:
        graph: The public graph, undirected, or its topology or topology matrix.
        labels: The label of each person, -1 where none is visible.
        classes: The number of classes.
        label_transition: T[i, j] = Pr[label j | class i] if labels are randomised reports (default: they are true).
        seed: The seed of folds and networks.
    """
    topology = topology_of(graph)
    known = _check_labels(topology, labels, classes)
    if topology.num_nodes >= LARGE:
        return neighbour_prior(topology, labels, classes, label_transition=label_transition, seed=seed)
    transition = np.eye(classes) if label_transition is None else np.asarray(label_transition)
    key = topology.digest() + _digest(labels, transition)
    if seed is None:
        return _new_prior(topology, labels, known, transition, seed)
    if (key, seed) not in _RECENT:
        shelf, name = lent_shelf(), f"prior {key} {seed}"
        found = None if shelf is None else shelf.get(name)
        if found is None or found.shape != (len(labels), classes):
            found = _new_prior(topology, labels, known, transition, seed)
            if shelf is not None:
                shelf.put(name, found)
        _RECENT[key, seed] = found
        while len(_RECENT) > _REMEMBERED:
            _RECENT.pop(next(iter(_RECENT)))
    return _RECENT[key, seed].copy()


def _digest(*arrays: NDArray[Any]) -> str:
    mark = hashlib.sha256()
    for array in arrays:
        mark.update(np.ascontiguousarray(array).tobytes())
    return mark.hexdigest()


def _new_prior(
    topology: Topology,
    labels: NDArray[Any],
    known: NDArray[np.int64],
    transition: Array,
    seed: int | None,
) -> Array:
    classes = len(transition)
    rng = np.random.default_rng(seed)
    part = np.full(len(labels), -1)
    part[rng.permutation(known)] = np.arange(len(known)) % PARTS
    if not topology.nnz:
        return _shares_of_others(labels, part, transition)
    around = _LabelsAround.of(topology, labels, part, classes)
    heard = transition.T[np.maximum(labels, 0)].astype(np.float32)
    found = _cross_fitted(_coordinates(topology), around, heard, rng)
    return np.asarray(np.log(np.maximum(found, 1e-12)))


def _shares_of_others(labels: NDArray[Any], part: NDArray[np.int64], transition: Array) -> Array:
    """Return the log-shares of classes, which is all that labels tell where nobody knows anybody.

    A labelled person is told the shares among the people of the other folds.
    """
    fold = np.where(part < 0, FOLDS, part % FOLDS)
    result = np.empty((len(labels), len(transition)))
    for number in range(FOLDS + 1):
        counts = np.bincount(labels[(fold != number) & (part >= 0)], minlength=len(transition)) + 1.0
        shares = np.maximum(np.linalg.solve(transition.T, counts / counts.sum()), 1e-3)
        result[fold == number] = np.log(shares / shares.sum())
    return result


def _coordinates(topology: Topology) -> tuple[NDArray[np.float32], ...]:
    """Return spectral and propagated random coordinates with degrees, which depend on the graph alone."""
    key = topology.digest()
    if key in _COORDINATES:
        return _COORDINATES[key]
    degrees = np.log1p(topology.degrees)[:, None]
    mean = topology.mean()
    sizes = standardised(np.concatenate([degrees, mean @ degrees, mean @ (mean @ degrees)], axis=1))
    raw = spectral_coordinates(topology)
    spectral = np.concatenate([raw, spectral_coordinates(topology, normalised=True), sizes], axis=1)
    width = min(max(topology.num_nodes // _PEOPLE_A_COLUMN, 32), 128)
    propagated = np.concatenate([raw[:, -32:], random_coordinates(topology, width), sizes], axis=1)
    _COORDINATES.clear()
    if topology.num_nodes <= _SHARED_UP_TO:
        _COORDINATES[key] = spectral, propagated
    return spectral, propagated


def calibrated(log_prior: Array, labels: NDArray[np.integer[Any]], label_transition: Array | None = None) -> Array:
    """Make a prior as sure as it is right: raise all rows to one power and shift each class by one offset.

    Where the structure tells nothing of the classes the power is about 0 and the shares of the classes are left. A
    prior that leaves each person's own label out can be judged by all labels at once; what such a label then moves of
    its owner's row is one power and one offset a class, which everybody shares.

    Args:
        log_prior: Class log-probabilities, N x classes.
        labels: The label of each person, -1 where none is visible.
        label_transition: As for :func:`structural_prior`.
    """
    known = np.flatnonzero(labels >= 0)
    transition = np.eye(log_prior.shape[1]) if label_transition is None else np.asarray(label_transition)
    shared = SharedWeights.fit(log_prior[known, None], transition.T[labels[known]], (1.0,), 1.0)
    return np.asarray(log_softmax(shared.logits(log_prior[:, None]), axis=1))


def neighbour_prior(
    graph: GraphLike,
    labels: NDArray[np.integer[Any]],
    classes: int,
    *,
    label_transition: Array | None = None,
    seed: int | None = 0,
) -> Array:
    """Return class log-probabilities from the labels one and two hops away, weighed by a few shared weights.

    It holds N x classes columns only, for graphs of many millions of people. A person's own label is taken out of the
    two hops exactly; it has a part only in the few weights, which are fitted on at most 50,000 people.

    Args:
        graph: As for :func:`structural_prior`.
        labels: As for :func:`structural_prior`.
        classes: As for :func:`structural_prior`.
        label_transition: As for :func:`structural_prior`.
        seed: The seed of the people whom weights are fitted on.
    """
    topology = topology_of(graph)
    known = _check_labels(topology, labels, classes)
    mean = topology.mean()
    rows = np.zeros((len(labels), classes), dtype=np.float32)
    rows[known, labels[known]] = 1
    one = mean @ rows
    two = mean @ one
    back = np.asarray(mean @ (1 / np.maximum(topology.degrees, 1)).astype(np.float32))  # the walk that returns
    two[known, labels[known]] -= back[known]
    shares = rows[known].mean(axis=0)
    del rows
    sources = [_log_shares(each, shares) for each in (one, np.maximum(two, 0, out=two))]
    some = np.random.default_rng(seed).permutation(known)[:_TRAINED_ON]
    transition = np.eye(classes) if label_transition is None else np.asarray(label_transition)
    fitted = np.stack([each[some] for each in sources], axis=1).astype(np.float64)
    weights = SharedWeights.fit(fitted, transition.T[labels[some]], (1.0, 0.5), 1.0)
    logits = sources[0] * np.float32(weights.weights[0])
    logits += sources[1] * np.float32(weights.weights[1])
    logits += weights.offsets.astype(np.float32)
    return np.asarray(log_softmax(logits, axis=1))


@dataclass(frozen=True, eq=False)
class _LabelsAround:
    """The labels of each part and class around a person, by distance: propagation is linear in the labels.

    Attributes:
        reached: Weights of labels, distances x N x parts x classes.
        part: The part of each person, -1 without a visible label; part p belongs to fold p mod FOLDS.
    """

    reached: NDArray[np.float32]
    part: NDArray[np.int64]

    @classmethod
    def of(cls, topology: Topology, labels: NDArray[Any], part: NDArray[np.int64], classes: int) -> _LabelsAround:
        nodes, known = len(labels), np.flatnonzero(labels >= 0)
        start = np.zeros((nodes, PARTS * classes), dtype=np.float32)
        start[known, part[known] * classes + labels[known]] = 1
        spread = topology.mean().polynomial
        reached = np.empty((2 + len(_SPREADS), nodes, PARTS * classes), dtype=np.float32)
        reached[0] = spread(start, (0.0, 1.0))
        reached[1] = spread(reached[0], (0.0, 1.0))
        for place, (onward, hops) in enumerate(_SPREADS, start=2):
            # (1 - a) sum_{l < hops} a^l M^l Y + a^hops M^hops Y, without the labels of hop 0
            weights = [0.0, *((1 - onward) * onward**hop for hop in range(1, hops)), onward**hops]
            reached[place] = spread(start, tuple(weights))
        return cls(reached.reshape(len(reached), nodes, PARTS, classes), part)

    def inputs(self, without: int | None) -> NDArray[np.float32]:
        """Return log-shares of classes and log-weights of labels for each distance.

        Args:
            without: A fold whose labels are not used; None uses all folds. A person's own part is never used.
        """
        kept = np.arange(PARTS) != self.part[:, None]
        if without is not None:
            kept[:, without::FOLDS] = False
        weights = np.einsum("hnpc,np->hnc", self.reached, kept.astype(np.float32))
        totals = weights.sum(axis=2, keepdims=True)
        shares = np.log((weights + 1e-4 / weights.shape[2]) / (totals + 1e-4) + 0.02)
        whole = np.log(totals * (PARTS / np.maximum(kept.sum(axis=1), 1))[:, None] + 1e-2)
        return np.concatenate([*shares, *whole], axis=1).astype(np.float32)


def _cross_fitted(
    coordinates: tuple[NDArray[np.float32], ...],
    around: _LabelsAround,
    heard: NDArray[np.float32],
    rng: np.random.Generator,
) -> Array:
    """Return probabilities, averaged over the kinds of coordinates.

    Each fold's are from the networks that it had no part in, all others' are averaged over the networks.
    """
    fold = np.where(around.part < 0, -1, around.part % FOLDS)
    others = np.flatnonzero(fold < 0)
    seen = [np.flatnonzero((fold >= 0) & (fold != number)) for number in range(FOLDS)]
    near = [around.inputs(number) for number in range(FOLDS)]
    complete = around.inputs(None)
    moments = [
        (rows[nodes].mean(axis=0), np.maximum(rows[nodes].std(axis=0), 1e-6))
        for rows, nodes in zip(near, seen, strict=True)
    ]
    learned = torch.from_numpy(np.stack([(rows - c) / s for rows, (c, s) in zip(near, moments, strict=True)]))
    del near
    result = np.zeros(heard.shape)
    for kind in coordinates:
        shared = torch.from_numpy(kind)
        networks = FoldNetworks(FoldInputs(shared, learned), torch.from_numpy(heard), seen, int(rng.integers(1 << 31)))
        for number, (centre, scale) in enumerate(moments):
            left_out = np.flatnonzero(fold == number)
            for people, share in ((left_out, 1.0), (others, 1 / FOLDS)):
                told = torch.from_numpy((complete[people] - centre) / scale)
                rows = torch.cat([shared[torch.from_numpy(people)], told], dim=1)
                result[people] += networks.probabilities(number, rows) * share / len(coordinates)
    return result


def _log_shares(weights: NDArray[np.float32], shares: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn weights into log-shares in place; people whom nothing reaches get the shares of the whole."""
    weights += np.float32(0.02) * shares
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(np.log(weights + np.float32(1e-4), out=weights))


def _check_labels(topology: Topology, labels: NDArray[Any], classes: int) -> NDArray[np.int64]:
    known = np.flatnonzero(labels >= 0)
    if len(labels) != topology.num_nodes:
        raise InvalidData("labels", f"one for each of {topology.num_nodes} people", f"{len(labels)} labels")
    if len(known) and labels.max() >= classes:
        raise InvalidData("labels", f"below {classes}, or -1 where none is visible", int(labels.max()))
    if len(known) < 2 * FOLDS:
        raise InvalidData(f"A structural prior needs the labels of at least {2 * FOLDS} people, not of {len(known)}.")
    return known
