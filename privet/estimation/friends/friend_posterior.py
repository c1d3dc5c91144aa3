"""Classes from noisy counts of friends in published classes; the server sees no edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from privet.errors import InvalidData
from privet.estimation.friends.count_certificate import Counted
from privet.estimation.friends.homophily import Homophily
from privet.estimation.resistant import MANY_FRIENDS
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import Counts
from privet.release.asks.friends import Friends, check_rounds

__all__ = ["FriendPosterior", "class_shares", "friend_posterior", "second_round"]

Array = NDArray[np.float64]

_BLOCK = 1 << 16  # people at once
_FITTED = 6000  # people from whom homophily or weights are estimated: their few numbers need no more
_PENALTIES = (1.0, 10.0, 100.0, 1e4)
_FEWEST = 50  # people of known class without whom weights are not fitted
_NEVER = 1e-300  # stands for the probability 0, which has no finite logarithm


@dataclass(frozen=True, eq=False)
class FriendPosterior:
    """The result of :func:`friend_posterior`.

    Attributes:
        probabilities: The class probabilities of everybody, N x classes. A person's own label enters their row only
            through the few numbers that everybody shares, so it can be the prior of another question.
        homophily: The fitted model of the counts.
        facts: ``calibrators`` (people of known class who answered), ``weight_prior``, ``weight_counts``,
            ``weight_symbols`` (the shared weights) and ``friends_within`` (the share of friends of the own class).
        counted: The counts as they were weighed, for a certificate.
    """

    probabilities: Array
    homophily: Homophily
    facts: dict[str, float]
    counted: Counted


def friend_posterior(
    users: NDArray[np.integer[Any]],
    symbols: NDArray[np.integer[Any]],
    table: NDArray[np.integer[Any]],
    ranks: NDArray[np.integer[Any]],
    mechanism: Counts,
    *,
    labels: NDArray[np.integer[Any]] | None = None,
    prior: Array | None = None,
    label_transition: Array | None = None,
    seed: int = 0,
    trimmed: bool = False,
) -> FriendPosterior:
    """Estimate everybody's class from the answers to the friend question.

    The counts' exact likelihood under a fitted :class:`Homophily` is the evidence. It is added to the prior with shared
    weights, fitted on the people of known class who answered; cross-validation chooses how far the weights may move
    from 1 and 1, which are right if the model is.

    Args:
        users: The ids of the people who answered.
        symbols: Their noisy counts, one row each.
        table: The published class of each of the N people, -1 where none is published.
        ranks: The rank of each person; a person counted friends of lower rank.
        mechanism: The noise of the counts.
        labels: The label of each person, -1 where it is unknown (default: the table). Entries of the table without a
            label are predictions, believed as far as the prior says.
        prior: Class log-probabilities from elsewhere, such as public features, N x classes, each row without the
            person's own label (default: the shares of the classes).
        label_transition: T[i, j] = Pr[label j | class i] if labels are randomised reports (default: they are true).
        seed: The seed of the folds and of the people from whom homophily is estimated.
        trimmed: True to learn what counts tell without people who count more than four times as many friends as the
            median of their rank. Everybody's class is estimated all the same.
    """
    known = np.asarray(table if labels is None else labels)
    classes = mechanism.classes
    if symbols.shape != (len(users), classes):
        raise InvalidData("counts of friends", f"{classes} for each of {len(users)} people", f"shape {symbols.shape}")
    if not (known >= 0).any():
        raise InvalidData("The friend question needs the label of at least one person; there is none.")
    transition = np.eye(classes) if label_transition is None else np.asarray(label_transition)
    shares = class_shares(np.bincount(known[known >= 0], minlength=classes), transition)
    facts = _Facts(
        np.broadcast_to(np.log(shares), (len(known), classes)) if prior is None else prior, known, transition
    )

    levels, groups = np.unique(ranks[users], return_inverse=True)
    exposure = _exposure(facts, table, ranks, levels)
    noise = mechanism.likelihood_table()
    order = np.random.default_rng(seed).permutation(len(users))
    if trimmed:
        order = order[_ordinary(symbols, groups)[order]]
    some = order[:_FITTED]
    model = Homophily.fit(symbols[some], groups[some], exposure, noise, facts.log_posterior(users[some]))

    def evidence(rows: Any) -> Array:
        likelihood = model.log_likelihood(symbols[rows], groups[rows], exposure, noise)
        return np.stack([facts.log_prior(users[rows]), likelihood, symbols[rows].astype(np.float64)], axis=1)

    calibrating = order[known[users[order]] >= 0]
    weights = SharedWeights(np.array([1.0, 1.0, 0.0]), np.zeros(classes))
    if len(calibrating) >= _FEWEST:
        chosen = calibrating[:_FITTED]
        heard = facts.heard(users[chosen])
        weights, _ = SharedWeights.choose(evidence(chosen), heard, (1.0, 1.0, 0.0), _PENALTIES, seed=seed)
    probabilities = softmax(facts.prior, axis=1)
    for start in range(0, len(users), _BLOCK):
        rows = slice(start, start + _BLOCK)
        probabilities[users[rows]] = softmax(weights.logits(evidence(rows)), axis=1)
    within = shares @ (np.diag(model.rates) / model.rates.sum(axis=1))
    found = dict(zip(("weight_prior", "weight_counts", "weight_symbols"), weights.weights.tolist(), strict=True))
    found |= {"calibrators": float(len(calibrating)), "friends_within": float(within)}
    counted = Counted.of(users, symbols, groups, exposure, noise, model, weights.weights)
    return FriendPosterior(probabilities, model, found, counted)


def _ordinary(symbols: NDArray[np.integer[Any]], groups: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Tell who does not count many times as many friends as the median person of their group."""
    totals = symbols.sum(axis=1, dtype=np.int64)
    kept = np.zeros(len(totals), dtype=np.bool_)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        kept[rows] = totals[rows] <= MANY_FRIENDS * max(1.0, float(np.median(totals[rows])))
    return kept


def second_round(first: Friends, probabilities: Array, *, levels: int = 4) -> Friends:
    """Draw up the question about pairs of unpublished people, which costs nothing beyond the first round's price.

    The table holds the classes that the first round's answers predict for the people it did not publish. They are
    ranked by how certain that is: the most certain do not answer, and the others count friends more certain than
    themselves. No pair is counted in both rounds (:func:`privet.release.asks.friends.check_rounds`).

    Args:
        first: The question of the first round, with its tables.
        probabilities: Everybody's class probabilities after the first round, N x classes.
        levels: The number of ranks.
    """
    others = np.flatnonzero(first.attachment("table") < 0)
    order = others[np.argsort(-probabilities[others].max(axis=1), kind="stable")]
    table, ranks = np.full(len(probabilities), -1), np.zeros(len(probabilities), dtype=np.int64)
    table[others] = probabilities[others].argmax(axis=1)
    ranks[order] = np.arange(len(order)) * levels // max(len(order), 1)
    second = Friends(table, ranks)
    check_rounds((first, second))
    return second


@dataclass(frozen=True, eq=False)
class _Facts:
    """Everything known about people without their counts, for some of them at a time to save memory.

    Attributes:
        prior: Class log-probabilities, up to a constant in each row.
        labels: Labels, -1 where they are unknown.
        transition: T[i, j] = Pr[label j | class i].
    """

    prior: Array
    labels: NDArray[np.integer[Any]]
    transition: Array

    def log_prior(self, nodes: NDArray[np.integer[Any]]) -> Array:
        """Return the log-probabilities without labels."""
        return np.asarray(log_softmax(self.prior[nodes], axis=1))

    def heard(self, nodes: NDArray[np.integer[Any]]) -> Array:
        """Return Pr[label | class]; 1 everywhere for a person without a label."""
        labels = self.labels[nodes, None]
        return np.where(labels >= 0, self.transition.T[np.maximum(labels[:, 0], 0)], 1.0)

    def log_posterior(self, nodes: NDArray[np.integer[Any]]) -> Array:
        """Return the log-probabilities with labels, up to a constant in each row."""
        return self.log_prior(nodes) + np.log(np.maximum(self.heard(nodes), _NEVER))


def class_shares(labels: NDArray[np.integer[Any]], transition: Array) -> Array:
    """Estimate the shares of the classes from the number of each label, by expectation maximisation.

    Args:
        labels: The number of people with each label.
        transition: T[i, j] = Pr[label j | class i].
    """
    shares = np.full(len(labels), 1 / len(labels))
    for _ in range(50):
        joint = transition * shares[:, None]
        shares = (joint / joint.sum(axis=0)) @ labels + 1
        shares /= shares.sum()
    return np.asarray(shares)


def _exposure(
    facts: _Facts, table: NDArray[np.integer[Any]], ranks: NDArray[np.integer[Any]], levels: NDArray[np.integer[Any]]
) -> Array:
    """Return the share of each class's published members who are counted by people of each rank, by published class.

    The result is levels x true classes x published classes.
    """
    classes = len(facts.transition)
    published = np.flatnonzero(table >= 0)
    sums = np.zeros((classes, (len(levels) + 1) * classes))
    for start in range(0, len(published), _BLOCK):
        nodes = published[start : start + _BLOCK]
        first = np.searchsorted(levels, ranks[nodes], side="right")  # the lowest level that counts the person
        believed = softmax(facts.log_posterior(nodes), axis=1)
        for own in range(classes):
            sums[own] += np.bincount(first * classes + table[nodes], believed[:, own], sums.shape[1])
    counted = np.cumsum(sums.reshape(classes, len(levels) + 1, classes), axis=1)
    whole = np.maximum(counted[:, -1].sum(axis=1), 1e-9)
    return np.ascontiguousarray((counted[:, :-1] / whole[:, None, None]).transpose(1, 0, 2))
