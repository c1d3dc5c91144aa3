from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.data import Schema
from privet.data.population import Population
from privet.errors import InvalidData
from privet.estimation.answers import scorers
from privet.estimation.answers.scorers import LinearScorer, mean_scorer, panel_scorer, pilot_scorer, unit_rows
from privet.mechanisms import MultiBit, SeededBits
from privet.release.asks.resemblance import linear_scores


def planted(people: int, features: int, classes: int, *, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Features around one centre a class."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(classes, size=people - classes)])
    centres = rng.normal(size=(classes, features)) * 2
    return centres[labels] + rng.normal(size=(people, features)), labels


def accuracy(scorer: LinearScorer, features: NDArray, labels: NDArray) -> float:
    return float((linear_scores(features, scorer.weights, scorer.unit_length).argmax(axis=1) == labels).mean())


@pytest.mark.parametrize(("people", "features"), [(14, 40), (14, 14), (60, 5)], ids=["dual", "square", "primal"])
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_of_people_left_out_equal_a_refit_without_them(people: int, features: int, sparse: bool) -> None:
    inputs, labels = planted(people, features, 3)
    given = sp.csr_array(inputs) if sparse else inputs
    error, scores, weights = scorers._left_out(given, labels, 3, penalty=0.7)
    targets, rows = np.eye(3)[labels], np.hstack([inputs, np.ones((people, 1))])

    def refit(kept: NDArray) -> NDArray:
        return np.linalg.solve(rows[kept].T @ rows[kept] + 0.7 * np.eye(features + 1), rows[kept].T @ targets[kept])

    expected = np.stack([rows[i] @ refit(np.delete(np.arange(people), i)) for i in range(people)])
    np.testing.assert_allclose(scores, expected, atol=1e-8)
    np.testing.assert_allclose(weights, refit(np.arange(people)), atol=1e-8)
    assert error == pytest.approx(((expected - targets) ** 2).mean())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("people", "features"), [(60, 200), (300, 10)])
def test_a_panel_finds_a_planted_direction(people: int, features: int, sparse: bool) -> None:
    inputs, labels = planted(2 * people, features, 3)
    given = sp.csr_array(inputs[:people]) if sparse else inputs[:people]
    found = panel_scorer(given, labels[:people], 3)
    assert accuracy(found, inputs[people:], labels[people:]) > 0.9
    assert found.weights.dtype == np.int32
    assert found.weights.shape == (features + 1, 3)
    assert found.scores is not None
    assert found.labels is not None
    assert (found.scores.argmax(axis=1) == found.labels).mean() > 0.9
    again = panel_scorer(given, labels[:people], 3)
    assert np.array_equal(found.weights, again.weights)


def test_scores_of_a_panel_without_signal_are_honest() -> None:
    """People left out are scored no better than by chance, though a fit on all of them looks perfect."""
    rng = np.random.default_rng(0)
    inputs, labels = rng.normal(size=(120, 400)), np.arange(120) % 3
    found = panel_scorer(inputs, labels, 3)
    assert found.scores is not None
    assert (found.scores.argmax(axis=1) == found.labels).mean() < 0.5
    assert accuracy(found, inputs, labels) > 0.9


def test_columns_of_different_scale_are_scaled_and_folded_into_the_weights() -> None:
    inputs, labels = planted(200, 6, 2)
    inputs = inputs * 10.0 ** np.arange(6) + 5000.0
    found = panel_scorer(inputs[:100], labels[:100], 2)
    assert not found.unit_length
    assert accuracy(found, inputs[100:], labels[100:]) > 0.9


def test_people_of_whom_a_large_panel_needs_no_more_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorers, "_MOST", 20)
    inputs, labels = planted(60, 80, 2)
    found = panel_scorer(inputs, labels, 2, seed=1)
    assert found.scores is not None
    assert len(found.scores) == 20


def test_a_missing_class_is_left_out_and_the_others_are_scored_as_if_it_did_not_exist() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 2], 40)
    inputs = rng.normal(size=(80, 3)) + labels[:, None]
    sums, noise = np.zeros((4, 3)), np.full(3, 0.1)
    np.add.at(sums, labels, inputs)
    counts = np.bincount(labels, minlength=4)
    for four, two in (
        (panel_scorer(inputs, labels, 4), panel_scorer(inputs, labels // 2, 2)),
        (pilot_scorer(inputs, noise, labels, 4), pilot_scorer(inputs, noise, labels // 2, 2)),
        (mean_scorer(sums, counts, 0.5), mean_scorer(sums[[0, 2]], counts[[0, 2]], 0.5)),
    ):
        assert (four.absent, two.absent) == ((1, 3), ())
        scores = [np.column_stack([inputs, np.ones(80)]) @ each.weights for each in (four, two)]
        assert (scores[0][:, [0, 2]].argmax(axis=1) == scores[1].argmax(axis=1)).all()


def test_people_of_one_class_are_one_sentence() -> None:
    inputs, labels = np.ones((4, 3)), np.array([2, 2, 2, 2])
    with pytest.raises(InvalidData, match=r"^A panel needs people of at least two classes and has people of one class"):
        panel_scorer(inputs, labels, 4)
    with pytest.raises(InvalidData, match=r"^A pilot needs people of at least two classes"):
        pilot_scorer(inputs, np.ones(3), labels, 3)
    with pytest.raises(InvalidData, match=r"^An aggregator of class sums needs people of at least two classes .*more"):
        mean_scorer(np.ones((3, 3)), np.array([2, 0, 0]), 1.0)


def test_class_sums_find_a_planted_direction_through_noise() -> None:
    inputs, labels = planted(4000, 20, 3)
    sums = np.stack([unit_rows(inputs[labels == c]).sum(axis=0) for c in range(3)])
    noisy = sums + np.random.default_rng(1).normal(size=sums.shape) * 5
    exact, found = (mean_scorer(each, np.bincount(labels), noise) for each, noise in ((sums, 0.0), (noisy, 5.0)))
    assert exact.unit_length
    assert accuracy(found, inputs, labels) > accuracy(exact, inputs, labels) - 0.02 > 0.9


def test_class_sums_score_by_the_nearest_mean() -> None:
    inputs, labels = planted(300, 8, 3)
    rows = unit_rows(inputs).toarray()
    means = np.stack([rows[labels == c].mean(axis=0) for c in range(3)])
    sums = means * np.bincount(labels)[:, None]
    found = mean_scorer(sums, np.bincount(labels), 0.0)
    nearest = ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(linear_scores(inputs, found.weights, found.unit_length).argmax(axis=1), nearest)


def test_the_length_of_the_noise_is_taken_off_the_offsets() -> None:
    """A class of few people has a long noisy mean, which must not push people away from it."""
    rng = np.random.default_rng(0)
    means = np.stack([np.full(400, 0.05), -np.full(400, 0.05)])
    counts = np.array([4000, 40])
    found = [
        mean_scorer(means * counts[:, None] + rng.normal(size=means.shape) * 4.0, counts, 4.0).weights[-1]
        for _ in range(20)
    ]
    gaps = [float(one - other) / (1 << 20) for one, other in found]
    naive = 400 * (4.0 / 40) ** 2 / 2  # the offset that the noise alone would make
    assert abs(np.mean(gaps)) < naive / 4


def test_a_pilot_finds_a_planted_direction_through_its_noise() -> None:
    inputs, labels = planted(6000, 5, 2)
    inputs = np.clip(inputs / 8 + 0.5, 0, 1)
    mechanism = MultiBit.declare(Population.of(Schema.numeric(5, 0.0, 1.0)), epsilon=4.0)
    estimate = mechanism.estimate(mechanism.perturb(inputs, SeededBits(0))).dense()
    noise = mechanism.variance(np.full((1, 5), 0.5))[0]
    found = pilot_scorer(estimate, noise, labels, 2)
    assert not found.unit_length
    exact = pilot_scorer(inputs, np.zeros(5), labels, 2)
    assert accuracy(found, inputs, labels) > accuracy(exact, inputs, labels) - 0.03 > 0.9


def test_discriminants_use_the_covariance_and_not_the_means_alone() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=5000)
    mixing = np.array([[1.0, 0.95], [0.0, 0.1]])  # one direction varies much, the other tells the class
    inputs = rng.normal(size=(5000, 2)) @ mixing + np.array([[0.3, 0.0], [0.0, 0.3]])[labels]
    found = pilot_scorer(inputs, np.zeros(2), labels, 2)
    means = np.stack([inputs[labels == c].mean(axis=0) for c in (0, 1)])
    nearest = ((inputs[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert accuracy(found, inputs, labels) > (nearest == labels).mean() + 0.05


def test_unit_rows_keep_rows_of_zeros() -> None:
    rows = unit_rows(sp.csr_array(np.array([[3.0, 4.0], [0.0, 0.0]])))
    np.testing.assert_allclose(rows.toarray(), [[0.6, 0.8], [0.0, 0.0]])


def test_integers_order_as_the_weights_do() -> None:
    inputs, labels = planted(40, 6, 3)
    for form, penalty in itertools.product(
        (scorers._UnitRows(), scorers._Columns.of(sp.csr_array(inputs))), (0.1, 3.0)
    ):
        _, _, weights = scorers._left_out(form.inputs(sp.csr_array(inputs)), labels, 3, penalty)
        real = np.asarray(form.inputs(sp.csr_array(inputs)) @ weights[:-1] + weights[-1])
        whole = linear_scores(inputs, scorers.as_integers(form.linear(weights)), form.unit_length)
        gap = np.sort(real, axis=1)[:, -1] - np.sort(real, axis=1)[:, -2]
        sure = gap > 1e-4
        assert np.array_equal(real.argmax(axis=1)[sure], whole.argmax(axis=1)[sure])
