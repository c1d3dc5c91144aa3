"""Membership inference: does what was released tell who took part?

White box, from the observations of a canary game; black box, from a released model's confidence in the true labels of
nodes, by one threshold for all or by likelihood ratios against shadow models (Carlini et al. 2022, simplified).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from privet.data import Graph, Split
from privet.errors import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from privet.systems.central._base import CentralSystem

__all__ = ["Membership", "confidences_of", "largest_advantage", "loss_threshold", "membership", "shadow_attack"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Confidences = Callable[[Mask, int], Array]
"""Trains on some nodes (a mask) with a seed and returns the model's probability of every node's true label."""


@dataclass(frozen=True)
class Membership:
    """How well an attack tells members from others.

    ``auc`` is 1/2 for guessing; ``advantage`` the largest true-positive minus false-positive rate over thresholds;
    ``tpr_at_low_fpr`` the hit rate with false alarms on at most ``low_fpr`` of the others.
    """

    auc: float
    advantage: float
    tpr_at_low_fpr: float
    low_fpr: float
    members: int
    others: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def membership(members: Array, others: Array, low_fpr: float = 0.01) -> Membership:
    """The attack that calls those with large scores members.

    >>> membership(np.array([2.0, 3.0]), np.array([0.0, 1.0])).auc
    1.0
    """
    if not members.size or not others.size:
        raise InvalidData("scores of a membership attack", "at least one of members and of others", "none")
    ranks = rankdata(np.concatenate([members, others]))[: members.size]
    auc = (ranks.sum() - members.size * (members.size + 1) / 2) / (members.size * others.size)
    thresholds = np.unique(np.concatenate([members, others]))
    hits, alarms = (1 - np.searchsorted(np.sort(x), thresholds, side="right") / x.size for x in (members, others))
    low = alarms <= low_fpr
    return Membership(
        auc=float(auc),
        advantage=float(max(0.0, (hits - alarms).max())),
        tpr_at_low_fpr=float(hits[low].max(initial=0.0)),
        low_fpr=low_fpr,
        members=members.size,
        others=others.size,
    )


def largest_advantage(epsilon: float, delta: float) -> float:
    """What no attack on an (epsilon, delta)-private release can exceed: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta / (math.exp(min(epsilon, 700.0)) + 1))


def loss_threshold(confidences: Array, members: Mask, low_fpr: float = 0.01) -> Membership:
    """One threshold on the loss for all nodes: members are those that the model is surest about."""
    return membership(confidences[members], confidences[~members], low_fpr)


def shadow_attack(
    train: Confidences, num_nodes: int, *, shadows: int = 8, seed: int = 0, low_fpr: float = 0.01
) -> Membership:
    """Likelihood-ratio attack on one model by comparing it with ``shadows`` others, each trained on a random half.

    A node's score is log N(c; its members' mean) - log N(c; its others' mean), with c = logit of the confidence and one
    variance for all nodes (few shadows cannot tell it node by node).
    """
    if shadows < 4:
        raise InvalidParameter("shadows", "shadow_attack", "at least 4", shadows)
    generator = np.random.default_rng(seed)
    halves = _balanced_halves(shadows, num_nodes, generator)
    target = generator.permutation(num_nodes) < num_nodes // 2
    seen = np.stack([_logit(train(half, seed + 1 + i)) for i, half in enumerate(halves)])
    inside = np.where(halves, seen, np.nan)
    outside = np.where(halves, np.nan, seen)
    means = np.nanmean(inside, axis=0), np.nanmean(outside, axis=0)
    spread = max(1e-6, float(np.sqrt((np.nanvar(inside, axis=0) + np.nanvar(outside, axis=0)).mean() / 2)))
    found = _logit(train(target, seed))
    score = norm.logpdf(found, means[0], spread) - norm.logpdf(found, means[1], spread)
    return membership(score[target], score[~target], low_fpr)


def confidences_of(system: CentralSystem, graph: Graph) -> Confidences:
    """What an adversary learns by asking a released model about every node: its confidence in the true labels.

    The graph's split is replaced: members train, the others are what may be predicted.
    """
    if graph.labels is None:
        raise InvalidData("graph of a membership attack", "one with labels", "one without")
    labels = graph.labels

    def train(members: Mask, seed: int) -> Array:
        nobody = np.zeros_like(members)
        split = Split(train=members, validation=nobody, test=~members)
        fitted = replace(system, seed=seed).fit(replace(graph, split=split))
        probabilities = system.apply(fitted, graph)
        return np.asarray(probabilities[np.arange(labels.size), labels], dtype=float)

    return train


def _balanced_halves(count: int, nodes: int, generator: np.random.Generator) -> Mask:
    """Masks in complementary pairs, so that every node is in and out of some."""
    first = np.stack([generator.permutation(nodes) < nodes // 2 for _ in range((count + 1) // 2)])
    return np.concatenate([first, ~first])[:count] if count % 2 == 0 else np.concatenate([first, ~first[:-1]])


def _logit(confidence: Array) -> Array:
    clipped = np.clip(confidence, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))
