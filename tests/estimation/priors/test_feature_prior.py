from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.errors import InvalidData
from privet.estimation import class_priors_from_features
from privet.mechanisms import RandomizedResponse


def words(people: int, seed: int = 0) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Bags of words: each of three classes has ten words that its members use more often."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=people)
    often = np.where(np.arange(30) // 10 == classes[:, None], 0.25, 0.1)
    return sp.csr_array((rng.random((people, 30)) < often).astype(np.float32)), classes


FEATURES, CLASSES = words(900)
LABELLED = np.arange(900) < 600


def test_the_prior_is_good_and_calibrated_for_labelled_and_unlabelled_alike() -> None:
    found = class_priors_from_features(FEATURES, np.where(LABELLED, CLASSES, -1), 3, repeats=1)
    assert np.exp(found).sum(axis=1) == pytest.approx(1.0)
    for part in (LABELLED, ~LABELLED):
        right = found[part].argmax(axis=1) == CLASSES[part]
        assert right.mean() > 0.6
        assert np.exp(found[part]).max(axis=1).mean() == pytest.approx(right.mean(), abs=0.06)


def test_nobodys_own_label_is_in_their_row() -> None:
    """Labels without meaning can be learnt by heart only; a row that had seen its label would tell it."""
    meaningless = np.random.default_rng(1).integers(3, size=900)
    found = class_priors_from_features(FEATURES, np.where(LABELLED, meaningless, -1), 3, repeats=1)
    assert (found[LABELLED].argmax(axis=1) == meaningless[LABELLED]).mean() < 0.42


def test_dense_features_and_the_same_seed_give_the_same() -> None:
    labels = np.where(np.arange(900) < 60, CLASSES, -1)
    one, two, other = (
        class_priors_from_features(matrix, labels, 3, folds=2, repeats=1, seed=seed)
        for matrix, seed in ((FEATURES, 0), (FEATURES.toarray(), 0), (FEATURES, 1))
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_private_labels_are_seen_through() -> None:
    response = RandomizedResponse(epsilon=1.0, classes=3)
    rng = np.random.default_rng(2)
    reported = (response.transition[CLASSES].cumsum(axis=1) < rng.random(900)[:, None]).sum(axis=1)
    labels = np.where(LABELLED, reported, -1)
    aware, naive = (
        class_priors_from_features(FEATURES, labels, 3, repeats=1, label_transition=transition)
        for transition in (response.transition, None)
    )
    rows = np.flatnonzero(~LABELLED)
    assert aware[rows, CLASSES[rows]].mean() > naive[rows, CLASSES[rows]].mean()


def test_too_few_labels_are_one_sentence() -> None:
    with pytest.raises(InvalidData, match="needs the labels of at least 5 people, not of 2"):
        class_priors_from_features(FEATURES, np.where(np.arange(900) < 2, CLASSES, -1), 3)
