"""Class probabilities from public features alone, which nobody's own label has entered."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from torch import Tensor
from torch.nn.functional import embedding_bag

from privet.errors import InvalidData
from privet.estimation.priors.adam import Adam
from privet.estimation.shared_weights import SharedWeights

__all__ = ["class_priors_from_features"]

_HIDDEN = 64
_DROPOUT = 0.5
_EPOCHS = 80
_RATE = 0.01
_DECAY = 1e-3


def class_priors_from_features(
    features: Any,
    labels: NDArray[np.integer[Any]],
    classes: int,
    *,
    label_transition: NDArray[np.float64] | None = None,
    folds: int = 5,
    repeats: int = 2,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return calibrated class log-probabilities of everybody from features, N x classes.

    Small networks are trained on all folds of the labelled people but one. A labelled person's row comes from the
    networks that did not see that person's label, everybody else's from all of them. One weight and an offset a class
    then make the rows of the labelled people, and so all rows, calibrated.

    Args:
        features: The public features, dense or CSR, N x d.
        labels: The label of each person, -1 where it is unknown.
        classes: The number of classes.
        label_transition: T[i, j] = Pr[label j | class i] if labels are randomised reports (default: they are true).
        folds: The number of folds; each network learns from all but one.
        repeats: The number of times that people are dealt into folds; rows are averages over them.
        seed: The seed of folds and networks.
    """
    labelled = np.flatnonzero(labels >= 0)
    if len(labelled) < folds:
        raise InvalidData(f"A prior from features needs the labels of at least {folds} people, not of {len(labelled)}.")
    rows = _unit_rows(features)
    transition = np.eye(classes) if label_transition is None else np.asarray(label_transition)
    rng = np.random.default_rng(seed)
    total = np.zeros((len(labels), classes))
    share = np.where(labels >= 0, repeats, repeats * folds)[:, None]
    for repeat in range(repeats):
        for fold, left_out in enumerate(np.array_split(rng.permutation(labelled), folds)):
            seen = np.setdiff1d(labelled, left_out)
            found = _network(rows, seen, labels[seen], transition, seed + repeat * folds + fold)
            found[seen] = 0.0
            total += found
    average = log_softmax(total / share, axis=1)[:, None, :]
    heard = transition.T[labels[labelled]]
    weights, _ = SharedWeights.choose(average[labelled], heard, (1.0,), (1.0, 10.0, 100.0), seed=seed)
    return np.asarray(log_softmax(weights.logits(average), axis=1))


def _unit_rows(features: Any) -> sp.csr_array:
    """Weigh each column by its rarity, log((1 + N) / (1 + n)) + 1, and scale every row to length 1."""
    matrix = sp.csr_array(features, dtype=np.float64)
    matrix.eliminate_zeros()
    held = np.bincount(matrix.indices, minlength=matrix.shape[1])
    rarity = np.log((1 + matrix.shape[0]) / (1 + held)) + 1
    matrix = sp.csr_array(matrix @ sp.diags_array(rarity))
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(length > 0, length, 1.0)) @ matrix)


def _network(
    rows: sp.csr_array,
    seen: NDArray[np.int64],
    labels: NDArray[np.integer[Any]],
    transition: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """Train a network of one hidden layer with dropout, and return everybody's log-probabilities."""
    generator = torch.Generator().manual_seed(seed)
    classes = len(transition)

    def kept(shape: torch.Size) -> Tensor:
        return (torch.rand(shape, generator=generator) >= _DROPOUT) / (1 - _DROPOUT)

    first = torch.randn(rows.shape[1], _HIDDEN, generator=generator) * (3 / rows.shape[1] ** 0.5)
    second = torch.randn(_HIDDEN, classes, generator=generator) / _HIDDEN**0.5
    weights = [first, torch.zeros(_HIDDEN), second, torch.zeros(classes)]
    for weight in weights:
        weight.requires_grad_()
    optimizer = Adam(weights, lr=_RATE, weight_decay=_DECAY)
    columns, starts, values = _bags(rows[seen])
    heard = torch.from_numpy(transition.T[labels]).float()
    for _ in range(_EPOCHS):
        optimizer.zero_grad()
        hidden = _hidden(columns, starts, values * kept(values.shape), weights)
        predicted = torch.softmax((hidden * kept(hidden.shape)) @ weights[2] + weights[3], dim=1)
        loss = -torch.log((predicted * heard).sum(dim=1).clamp(min=1e-12)).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        logits = _hidden(*_bags(rows), weights) @ weights[2] + weights[3]
        return torch.log_softmax(logits, dim=1).double().numpy()


def _bags(rows: sp.csr_array) -> tuple[Tensor, Tensor, Tensor]:
    columns, starts = (torch.from_numpy(part.astype(np.int64)) for part in (rows.indices, rows.indptr[:-1]))
    return columns, starts, torch.from_numpy(rows.data.astype(np.float32))


def _hidden(columns: Tensor, starts: Tensor, values: Tensor, weights: list[Tensor]) -> Tensor:
    return torch.relu(embedding_bag(columns, weights[0], starts, mode="sum", per_sample_weights=values) + weights[1])
