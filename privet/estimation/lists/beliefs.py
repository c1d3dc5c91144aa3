"""Classes and edges explain each other: belief propagation on a graph whose edges may be noise.

With y_i the class of node i, z_e whether the reported pair e = {i, j} is an edge, pi_e its probability so far and
R(a, b) how many times more often classes a and b meet at an edge than they would by chance,

    Pr[z, y] ~ prod_i p(y_i) prod_e (pi_e R(y_i, y_j))^z_e (1 - pi_e)^(1 - z_e).

Summing over z_e leaves the factor pi_e R + 1 - pi_e between two nodes, through which messages are passed. A message
leaves out what came from its receiver, so that an edge is judged by what its ends know without it, and a node's belief
says nothing of its own label. All the pairs without an edge speak too: a node of d edges has none to most members of a
class, which multiplies its belief in class a by exp(-d sum_b R(a, b) s_b), s_b the share of class b among the ends of
edges. Without this field all beliefs can run off into one class where noise is heavy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.estimation.lists.closure import ReportedPairs

__all__ = ["Beliefs", "class_affinity", "propagate_beliefs"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The result of belief propagation.

    Attributes:
        log_classes: The logarithm of each node's class beliefs from its neighbours alone, N x C, up to a constant in
            each row.
        edges: The probability that each reported pair is an edge.
    """

    log_classes: NDArray[np.float64]
    edges: NDArray[np.float64]


def class_affinity(
    pairs: ReportedPairs, labels: NDArray[np.int64], classes: int, *, smoothing: float = 10.0
) -> NDArray[np.float64]:
    """Estimate R(a, b) from the pairs whose classes are known.

    The reports among them, less those that flips explain, count the edges between classes without bias.

    Args:
        pairs: The reported pairs.
        labels: Each node's class, -1 where it is unknown.
        classes: The number of classes.
        smoothing: The number of edges to add of a graph that knows only how often an edge stays within a class.
    """
    known = labels >= 0
    sizes = np.bincount(labels[known], minlength=classes).astype(np.float64)
    both = known[pairs.sources] & known[pairs.targets]
    codes = labels[pairs.sources[both]] * classes + labels[pairs.targets[both]]
    votes = np.bincount(codes, pairs.votes[both], classes**2).reshape(classes, classes)
    meetings = pairs.pairs_between(labels, classes)
    edges = np.maximum(pairs.count_edges((votes + votes.T) / 2, meetings), 0.0)
    everybody = (np.outer(sizes, sizes) - np.diag(sizes)) / 2
    # Classes answer to different degrees: their edges are scaled from the pairs asked about to all of them.
    overall = edges.sum() / max(meetings.sum(), 1.0)
    scale = np.divide(everybody, meetings, out=np.ones_like(meetings), where=meetings > 0)
    edges = np.where(meetings > 0, edges * scale, overall * everybody)
    shares = (sizes + 1) / (sizes + 1).sum()
    chance = np.outer(shares, shares)
    within = (np.trace(edges) + 1) / (edges.sum() + 2)
    same = np.eye(classes, dtype=bool)
    alike = chance * np.where(same, within / chance[same].sum(), (1 - within) / chance[~same].sum())
    joint = edges + smoothing * alike
    joint /= joint.sum()
    return np.asarray(joint / np.outer(joint.sum(0), joint.sum(0)))


def propagate_beliefs(
    pairs: ReportedPairs,
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    classes: int,
    *,
    iterations: int = 20,
    damping: float = 0.5,
    non_edges: bool = True,
) -> Beliefs:
    """Run loopy belief propagation; an iteration costs O(pairs x classes).

    Args:
        pairs: The reported pairs.
        probabilities: The probability that each pair is an edge, before classes are considered.
        labels: Each node's class, -1 where it is unknown.
        classes: The number of classes.
        iterations: The number of rounds of messages.
        damping: The share of the old message in a new one.
        non_edges: True adds the field of the pairs without an edge; without it beliefs are exact on trees.
    """
    affinity = class_affinity(pairs, labels, classes)
    known = labels >= 0
    prior = np.bincount(labels[known], minlength=classes) + 1.0
    log_prior = np.log(prior / prior.sum())
    # Message e goes from sources[e] to targets[e], message E + e back.
    count = len(pairs)
    sender = np.concatenate([pairs.sources, pairs.targets])
    receiver = np.concatenate([pairs.targets, pairs.sources])
    true = np.concatenate([probabilities, probabilities])[:, None]
    into = sp.csr_array((np.ones(2 * count), (receiver, np.arange(2 * count))), shape=(pairs.num_nodes, 2 * count))
    certain = np.zeros((pairs.num_nodes, classes))
    certain[known] = -np.inf
    certain[known, labels[known]] = 0.0
    messages = np.tile(np.exp(log_prior), (2 * count, 1))
    expected_degrees = into @ true if non_edges else 0.0
    for iteration in range(iterations + 1):
        factors = np.log(true * (messages @ affinity) + 1 - true)
        crowd = (true * messages).sum(axis=0) / max(true.sum(), 1e-12)
        log_classes = log_prior + into @ factors - expected_degrees * (affinity @ crowd)
        if iteration == iterations:
            break
        away = (log_classes + certain)[sender] - np.roll(factors, count, axis=0)
        messages = damping * messages + (1 - damping) * _softmax(away)
    meeting = np.einsum("ea,ea->e", messages[:count] @ affinity, messages[count:])
    return Beliefs(log_classes, probabilities * meeting / (probabilities * meeting + 1 - probabilities))


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))
