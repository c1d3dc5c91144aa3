from __future__ import annotations

from math import log

import numpy as np
import scipy.sparse as sp

from privet.estimation.answers.naive_bayes import naive_bayes, naive_bayes_left_out

RNG = np.random.default_rng(0)
ROWS = sp.csr_array(np.where(RNG.random((40, 6)) < 0.4, RNG.random((40, 6)), 0.0) * [1, 1, 1, 1, 1, 0])
LABELS = RNG.integers(3, size=40)


def test_weights_against_a_slow_sum() -> None:
    found, dense = naive_bayes(ROWS, LABELS, 4), ROWS.toarray()
    for word in range(6):
        usual = dense[:, word].sum() / dense.sum()
        for own in range(4):
            mine = dense[own == LABELS]
            share = (mine[:, word].sum() + 30 * usual) / (mine.sum() + 30)
            assert np.isclose(found[word, own], log(share / usual) if usual else 0.0)


def test_nobody_is_scored_by_weights_that_saw_them() -> None:
    other = LABELS.copy()
    other[7] = (other[7] + 1) % 3  # a false class changes all scores but that of the person whose class it is
    one, two = (naive_bayes_left_out(ROWS, labels, 3, seed=0) for labels in (LABELS, other))
    assert np.array_equal(one[7], two[7])
    assert not np.array_equal(one, two)
