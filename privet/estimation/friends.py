"""Classes from noisy counts of friends in published classes; the server sees no edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from privet.errors import InvalidData
from privet.estimation.homophily import Homophily
from privet.estimation.shared_weights import SharedWeights
from privet.mechanisms import Counts
from privet.release.asks.friends import Friends, check_rounds

__all__ = ["FriendPosterior", "friend_posterior", "second_round"]

Array = NDArray[np.float64]

_FITTED = 6000  # people from whom the homophily is estimated: its few numbers need no more
_PENALTIES = (1.0, 10.0, 100.0, 1e4)
_FEWEST = 50  # people of known class without whom weights are not fitted
_NEVER = 1e-300  # stands for the probability 0, which has no finite logarithm


@dataclass(frozen=True, eq=False)
class FriendPosterior:
    """The result of :func:`friend_posterior`.

    Attributes:
        probabilities: The class probabilities of everybody, N x classes. Nobody's own label is used in their row, so
            it can be the prior of another question.
        homophily: The fitted model of the counts.
        facts: ``calibrators`` (people of known class who answered), ``weight_prior``, ``weight_counts``,
            ``weight_symbols`` (the shared weights) and ``friends_within`` (the share of friends of the own class).
    """

    probabilities: Array
    homophily: Homophily
    facts: dict[str, float]


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
    """
    known = np.asarray(table if labels is None else labels)
    classes, count = mechanism.classes, len(table)
    if symbols.shape != (len(users), classes):
        raise InvalidData("counts of friends", f"{classes} for each of {len(users)} people", f"shape {symbols.shape}")
    if not (known >= 0).any():
        raise InvalidData("The friend question needs the label of at least one person; there is none.")
    heard = _label_likelihood(known, classes, label_transition)
    base = np.log(_shares(heard[known >= 0])) if prior is None else log_softmax(prior, axis=1)
    log_prior = np.broadcast_to(base, (count, classes))
    told = log_prior + np.log(np.maximum(heard, _NEVER))
    believed = softmax(told, axis=1)

    levels, groups = np.unique(ranks[users], return_inverse=True)
    exposure = _exposure(believed, table, ranks, levels)
    noise = mechanism.likelihood_table()
    some = np.random.default_rng(seed).permutation(len(users))[:_FITTED]
    model = Homophily.fit(symbols[some], groups[some], exposure, noise, told[users[some]])
    evidence = np.stack(
        [log_prior[users], model.log_likelihood(symbols, groups, exposure, noise), symbols.astype(np.float64)], axis=1
    )

    calibrating = known[users] >= 0
    weights = SharedWeights(np.array([1.0, 1.0, 0.0]), np.zeros(classes))
    if calibrating.sum() >= _FEWEST:
        weights, _ = SharedWeights.choose(
            evidence[calibrating], heard[users[calibrating]], (1.0, 1.0, 0.0), _PENALTIES, seed=seed
        )
    logits = log_prior.copy()
    logits[users] = weights.logits(evidence)
    within = believed.mean(axis=0) @ (np.diag(model.rates) / model.rates.sum(axis=1))
    facts = {"calibrators": float(calibrating.sum()), "friends_within": float(within)}
    names = ("weight_prior", "weight_counts", "weight_symbols")
    facts |= dict(zip(names, weights.weights.tolist(), strict=True))
    return FriendPosterior(softmax(logits, axis=1), model, facts)


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


def _label_likelihood(labels: NDArray[np.integer[Any]], classes: int, transition: Array | None) -> Array:
    """Return Pr[label | class] for each person and class; 1 everywhere for a person without a label."""
    columns = np.eye(classes) if transition is None else np.asarray(transition)
    return np.where(labels[:, None] >= 0, columns.T[np.maximum(labels, 0)], 1.0)


def _shares(heard: Array) -> Array:
    """Estimate the shares of the classes from Pr[label | class] of the labelled, by expectation maximisation."""
    shares = np.full(heard.shape[1], 1 / heard.shape[1])
    for _ in range(50):
        joint = heard * shares
        shares = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + 1
        shares /= shares.sum()
    return np.asarray(shares)


def _exposure(
    believed: Array, table: NDArray[np.integer[Any]], ranks: NDArray[np.integer[Any]], levels: NDArray[np.integer[Any]]
) -> Array:
    """Return the share of each class's published members who are counted by people of each rank, by published class.

    The result is levels x true classes x published classes.
    """
    classes = believed.shape[1]
    published = np.flatnonzero(table >= 0)
    first = np.searchsorted(levels, ranks[published], side="right")  # the lowest level that counts the person
    cells = first * classes + table[published]
    size = (len(levels) + 1) * classes
    sums = np.stack([np.bincount(cells, believed[published, z], size) for z in range(classes)])
    counted = np.cumsum(sums.reshape(classes, len(levels) + 1, classes), axis=1)
    whole = np.maximum(counted[:, -1].sum(axis=1), 1e-9)
    return np.ascontiguousarray((counted[:, :-1] / whole[:, None, None]).transpose(1, 0, 2))
