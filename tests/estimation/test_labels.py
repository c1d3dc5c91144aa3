"""Noisy labels against dense references, enumerated posteriors and the mechanism's own expectations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import one_hot

from privet.data import social_graph
from privet.errors import InvalidData, InvalidParameter
from privet.estimation import (
    MajorityLabels,
    PosteriorLabels,
    Supervision,
    class_posterior,
    corrected_accuracy,
    majority_label,
    overfits,
    propagated_reports,
    report_loss,
    report_probabilities,
)
from privet.graph import gcn_operator
from privet.mechanisms import RandomizedResponse, SeededBits

GRAPH = social_graph(60, classes=3, average_degree=4, seed=1)
OPERATOR = gcn_operator(GRAPH, self_loops=False)
RESPONSE = RandomizedResponse(epsilon=1.0, classes=3)


def dense_operator() -> np.ndarray:
    adjacency = GRAPH.adjacency.toarray().astype(np.float64)
    degrees = adjacency.sum(1)
    root = np.where(degrees > 0, degrees, 1.0) ** -0.5
    return root[:, None] * adjacency * root


def some_reports(seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).integers(-1, 3, GRAPH.num_nodes))


@given(st.integers(0, 1000), st.integers(0, 5))
def test_propagated_reports_are_those_of_the_dense_matrix(seed: int, hops: int) -> None:
    reported = some_reports(seed)
    rows = np.zeros((GRAPH.num_nodes, 3))
    for node, label in enumerate(reported.tolist()):
        if label >= 0:
            rows[node, label] = 1.0
    expected = np.linalg.matrix_power(dense_operator(), hops) @ rows
    np.testing.assert_allclose(propagated_reports(reported, 3, OPERATOR, hops).numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("label", [-2, 3])
def test_a_strange_report_is_named(label: int) -> None:
    reported = torch.zeros(GRAPH.num_nodes, dtype=torch.int64)
    reported[7] = label
    with pytest.raises(InvalidData, match=f"from 0 to 2, not {label} in row 7"):
        propagated_reports(reported, 3, OPERATOR, 1)


def test_the_majority_wins_and_lonely_nodes_keep_their_reports() -> None:
    propagated = torch.tensor([[0.1, 0.5, 0.2], [0.0, 0.0, 0.0]])
    assert majority_label(propagated, torch.tensor([0, 2])).tolist() == [1, 2]


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), st.floats(0.1, 3.0))
def test_the_posterior_is_bayes_rule_on_counted_reports(counts: list[int], epsilon: float) -> None:
    response = RandomizedResponse(epsilon=epsilon, classes=3)
    likelihood = np.prod(response.transition ** np.array(counts), axis=1)
    found = class_posterior(torch.tensor([counts], dtype=torch.float64), epsilon, evidence=sum(counts))
    np.testing.assert_allclose(found.numpy()[0], likelihood / likelihood.sum(), rtol=1e-6)


def test_the_posterior_ignores_the_scale_of_the_weights() -> None:
    weights = torch.rand(5, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(class_posterior(weights, 1.0, 9.0), class_posterior(1e-3 * weights, 1.0, 9.0))


@pytest.mark.parametrize("evidence", [0.0, -1.0, math.inf])
def test_evidence_must_be_positive(evidence: float) -> None:
    with pytest.raises(InvalidParameter, match="evidence"):
        class_posterior(torch.ones(1, 2), 1.0, evidence)


def test_predicted_reports_have_the_distribution_of_the_reports() -> None:
    """False-alarm rate below 1e-4: five deviations of three frequencies of 200,000 draws."""
    labels = np.repeat([0, 1, 2], [100_000, 60_000, 40_000])
    reports = RESPONSE.perturb(labels, SeededBits(3)).symbols[:, 0]
    expected = report_probabilities(torch.tensor([[0.5, 0.3, 0.2]]).log(), RESPONSE)[0].numpy()
    assert np.abs(np.bincount(reports, minlength=3) / len(labels) - expected).max() < 5 * math.sqrt(0.25 / len(labels))


def test_the_loss_of_reports_is_their_negative_log_likelihood() -> None:
    logits, reports = some_logits(), some_reports(1).clamp(min=0)
    for response, transition in ((None, np.eye(3)), (RESPONSE, RESPONSE.transition)):
        chances = logits.double().softmax(1).numpy() @ transition
        expected = -np.log(chances[np.arange(len(reports)), reports.numpy()]).mean()
        np.testing.assert_allclose(report_loss(logits, reports, response).item(), expected, rtol=1e-6)


def test_the_loss_of_an_impossible_report_is_finite() -> None:
    sure = torch.tensor([[200.0, 0.0]], requires_grad=True)
    loss = report_loss(sure, torch.tensor([1]), RandomizedResponse(epsilon=29.0, classes=2))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(sure.grad).all()


def test_the_loss_of_reports_is_least_at_the_truth() -> None:
    """The corrected loss has its minimum at the true distribution; the loss of reports taken for labels does not."""
    truth = torch.tensor([[0.6, 0.3, 0.1]])
    labels = np.repeat([0, 1, 2], [60_000, 30_000, 10_000])
    reports = torch.from_numpy(RESPONSE.perturb(labels, SeededBits(3)).symbols[:, 0]).long()
    logits = torch.zeros(1, 3, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=50)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = report_loss(logits.expand(len(reports), 3), reports, RESPONSE)
        loss.backward()
        return loss

    optimizer.step(step)
    torch.testing.assert_close(logits.softmax(1), truth, atol=0.02, rtol=0)


def test_corrected_accuracy_is_unbiased() -> None:
    """False-alarm rate below 1e-5: five deviations of the agreement of 100,000 reports."""
    truth = np.random.default_rng(0).integers(3, size=100_000)
    guesses = np.where(np.arange(len(truth)) % 10 < 7, truth, (truth + 1) % 3)
    agreement = float((RESPONSE.perturb(truth, SeededBits(4)).symbols[:, 0] == guesses).mean())
    error = corrected_accuracy(agreement, RESPONSE.keep, RESPONSE.flip) - 0.7
    assert abs(error) < 5 * 0.5 / math.sqrt(len(truth)) / (RESPONSE.keep - RESPONSE.flip)


def test_overfitting_begins_two_deviations_above_the_keep_rate() -> None:
    assert not overfits(0.58, keep=0.5, reports=100)
    assert overfits(0.61, keep=0.5, reports=100)
    assert overfits(0.58, keep=0.5, reports=10_000)


def nodes(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return some_reports(seed).clamp(min=0), torch.arange(0, 30), torch.arange(30, 45)


def some_logits(seed: int = 5) -> torch.Tensor:
    return torch.randn(GRAPH.num_nodes, 3, generator=torch.Generator().manual_seed(seed))


def test_public_labels_are_fitted_on_training_nodes_only() -> None:
    seen, train, validation = nodes()
    labels, logits = Supervision(seen, train, validation), some_logits()
    chosen = logits.log_softmax(1)[torch.arange(60), seen]
    torch.testing.assert_close(labels.loss(logits), -chosen[:30].mean())
    torch.testing.assert_close(labels.validation_loss(logits), -chosen[30:45].mean())


def test_the_majority_loss_is_the_published_one() -> None:
    """-log of the propagated, corrected probability of the majority label, by dense matrices."""
    seen, train, validation = nodes()
    majority = some_reports(2).clamp(min=0)
    labels = MajorityLabels(seen, train, validation, RESPONSE, OPERATOR, 2, majority)
    logits = some_logits()
    own = logits.double().softmax(1).numpy() @ RESPONSE.transition
    around = np.linalg.matrix_power(dense_operator(), 2) @ own
    lonely = np.asarray(GRAPH.adjacency.sum(axis=1)).ravel() == 0
    expected = np.where(lonely[:, None], own, around)[np.arange(60), majority.numpy()][:30]
    np.testing.assert_allclose(labels.loss(logits).item(), -np.log(expected).mean(), rtol=1e-5)


def test_the_majority_loss_is_finite_without_any_edge() -> None:
    seen, train, validation = nodes()
    empty = gcn_operator(GRAPH.adjacency * 0.0, self_loops=False)
    labels = MajorityLabels(seen, train, validation, RESPONSE, empty, 2, seen)
    logits = some_logits().requires_grad_()
    labels.loss(logits).backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[:30].any()


def test_the_posterior_loss_reaches_every_node() -> None:
    posterior = some_logits(8).softmax(1)
    labels = PosteriorLabels(*nodes(), RESPONSE, posterior)
    logits = some_logits()
    torch.testing.assert_close(labels.loss(logits), -(posterior * logits.log_softmax(1)).sum(1).mean())


def test_noisy_validation_uses_corrected_likelihood_and_the_guard() -> None:
    seen, train, validation = nodes()
    labels = PosteriorLabels(seen, train, validation, RESPONSE, some_logits(8).softmax(1))
    logits = some_logits()
    transition = torch.from_numpy(RESPONSE.transition).float()
    expected = -(logits.softmax(1) @ transition).log()[validation, seen[validation]].mean()
    torch.testing.assert_close(labels.validation_loss(logits), expected)
    assert labels.validation_loss(10.0 * one_hot(seen, 3).float()) == math.inf
