from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax

from privet.estimation.friends.count_certificate import Counted
from privet.estimation.friends.count_trials import turned
from privet.estimation.friends.homophily import Homophily
from privet.mechanisms import Counts

CLASSES, CAP, PEOPLE = 3, 5, 30


@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.0), (0.8, 1.3, 0.4), (1.0, -0.5, -0.2)])
def test_no_move_of_counts_lowers_a_margin_further(weights: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(0)
    noise = Counts(epsilon=1.0, classes=CLASSES, cap=CAP).likelihood_table()
    symbols, groups = rng.integers(0, CAP + 1, (PEOPLE, CLASSES)), rng.integers(0, 2, PEOPLE)
    exposure = rng.dirichlet(np.ones(CLASSES), (2, CLASSES))
    model = Homophily(rng.random((CLASSES, CLASSES)) * 3, rng.dirichlet(np.ones(10)))
    counted = Counted.of(np.arange(PEOPLE), symbols, groups, exposure, noise, model, np.array(weights))
    predicted, size = rng.integers(0, CLASSES, PEOPLE), rng.random(PEOPLE)
    start = np.full((3, 3, PEOPLE, CLASSES), np.inf)
    start[0, 0] = 0.0
    bound = counted.least_change(start, predicted, size)

    def margins(reported: np.ndarray) -> np.ndarray:
        told = model.log_likelihood(reported, groups, exposure, noise)
        logits = weights[1] * told + weights[2] * reported
        return size[:, None] * (logits[np.arange(PEOPLE), predicted][:, None] - logits)

    before, tight = margins(symbols), []
    for move in product(range(-2, 3), repeat=CLASSES):
        shift = np.array(move)
        up, down = shift[shift > 0].sum(), -shift[shift < 0].sum()
        if max(up, down) > 2:
            continue
        moved = symbols + shift
        inside = ((moved >= 0) & (moved <= CAP)).all(axis=1)
        change = (margins(np.clip(moved, 0, CAP)) - before)[inside]
        least = bound[: up + 1, : down + 1].min(axis=(0, 1))[inside]
        assert (change >= least - 1e-9).all()
        tight.append(np.abs(change - least).min() if inside.any() else np.inf)
    assert min(tight) < 1e-9  # nothing moves in the first one


def test_trying_all_moves_finds_what_recounting_finds() -> None:
    rng = np.random.default_rng(1)
    noise = Counts(epsilon=1.0, classes=CLASSES, cap=CAP).likelihood_table()
    users = np.sort(rng.permutation(2 * PEOPLE)[:PEOPLE])
    symbols, groups = rng.integers(0, CAP + 1, (PEOPLE, CLASSES)), np.zeros(PEOPLE, dtype=np.int64)
    exposure = rng.dirichlet(np.ones(CLASSES), (1, CLASSES))
    model = Homophily(rng.random((CLASSES, CLASSES)) * 3, rng.dirichlet(np.ones(10)))
    weights, size = np.array([1.0, 1.2, 0.1]), np.full(2 * PEOPLE, 0.7)
    counted = Counted.of(users, symbols, groups, exposure, noise, model, weights)
    base, later = rng.normal(size=(2, 2 * PEOPLE, CLASSES))

    def logits(reported: np.ndarray) -> np.ndarray:
        told = model.log_likelihood(reported, groups, exposure, noise)
        found = base.copy()
        found[users] += weights[1] * told + weights[2] * reported
        return found

    own = log_softmax(logits(symbols), axis=1)
    for false in (1, 2):
        expected = np.zeros(PEOPLE, dtype=np.bool_)
        for move in product(range(-false, false + 1), repeat=CLASSES):
            shift = np.array(move)
            if max(shift[shift > 0].sum(), -shift[shift < 0].sum()) > false:
                continue
            inside = ((symbols + shift >= 0) & (symbols + shift <= CAP)).all(axis=1)
            after = log_softmax(logits(np.where(inside[:, None], symbols + shift, symbols)), axis=1)
            expected |= ((0.7 * after + later).argmax(axis=1) != (0.7 * own + later).argmax(axis=1))[users]
        found = turned([(counted, own)], users, 0.7 * own + later, size, false)
        assert (found == expected).all()
        assert 0 < expected.sum() < PEOPLE
