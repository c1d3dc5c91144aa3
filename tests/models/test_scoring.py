"""Link scores against edge vectors written out, and the pairwise losses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from privet.errors import InvalidData, InvalidParameter
from privet.graph import LazyFeatures, gcn_operator
from privet.models import (
    MLP,
    Edges,
    HadamardLinkScorer,
    TrainingSettings,
    accuracy,
    pairwise_loss,
    roc_auc,
    seeded,
    train,
)

NODES, CHANNELS = 7, 4


@given(st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=15), st.integers(0, 99))
def test_scores_are_logistic_regression_on_hadamard_products(pairs: list[tuple[int, int]], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scorer = HadamardLinkScorer(CHANNELS).double()
    for parameter in scorer.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    z = torch.randn(NODES, CHANNELS, generator=generator, dtype=torch.float64, requires_grad=True)
    index = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    direction = torch.randn(len(pairs), generator=generator, dtype=torch.float64)

    expected = (z[index[0]] * z[index[1]]) @ scorer.weight + scorer.bias
    inputs = [z, *scorer.parameters()]
    by_dense = torch.autograd.grad((expected * direction).sum(), inputs, retain_graph=True)
    for given_as in (index, Edges.from_pairs(index, NODES)):
        found = scorer(z, given_as)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(torch.autograd.grad((found * direction).sum(), inputs), by_dense)


def test_pairwise_losses_are_their_equations() -> None:
    links, others = torch.tensor([2.0, 0.0]), torch.tensor([1.0, 0.5, 0.0, -1.0])
    margins = np.array([1.0, -0.5, 2.0, 1.0])
    assert pairwise_loss(links, others) == pytest.approx(np.mean((1 - margins) ** 2))
    assert pairwise_loss(links, others, "logistic") == pytest.approx(np.mean(np.log1p(np.exp(-margins))))


def test_lazy_encoder_and_scorer_learn_blocks() -> None:
    """Links lie within two blocks whose reports differ; a perceptron on lazy features ranks them above non-links."""
    rng = np.random.default_rng(0)
    blocks = np.repeat([0, 1], 30)
    within = rng.permutation(np.argwhere((blocks[:, None] == blocks) & ~np.eye(60, dtype=bool)))[:400]
    across = rng.permutation(np.argwhere(blocks[:, None] != blocks))[:400]
    adjacency = sp.csr_array((np.ones(200), tuple(within[:200].T)), shape=(60, 60))
    symbols = sp.csr_array((rng.random((60, 20)) < 0.1 + 0.3 * ((np.arange(20) < 10) == blocks[:, None])) * 1.0)
    lazy = LazyFeatures.from_sparse(symbols).propagate(gcn_operator(adjacency + adjacency.T, self_loops=True), 2)
    links = [Edges.from_pairs(torch.from_numpy(part.T.copy()), 60) for part in np.split(within, 2)]
    others = [Edges.from_pairs(torch.from_numpy(part.T.copy()), 60) for part in np.split(across, 2)]
    with seeded(0):
        model = nn.ModuleDict({"encoder": MLP(20, 8, 8), "scorer": HadamardLinkScorer(8)})

    def scores(part: int) -> tuple[torch.Tensor, torch.Tensor]:
        z = model["encoder"](lazy)
        return model["scorer"](z, links[part]), model["scorer"](z, others[part])

    settings = TrainingSettings(max_epochs=60, seed=0)
    result = train(model, lambda _: pairwise_loss(*scores(0)), lambda _: roc_auc(*scores(0)), settings)
    assert result.best_score > 0.95
    assert roc_auc(*scores(1)) > 0.9


def test_errors() -> None:
    with pytest.raises(InvalidParameter, match="channels"):
        HadamardLinkScorer(0)
    with pytest.raises(InvalidData, match=r"multiple of the number of links, both above 0, not 3 for 2 links"):
        pairwise_loss(torch.zeros(2), torch.zeros(3))
    with pytest.raises(InvalidData, match="not 0 for 2 links"):
        pairwise_loss(torch.zeros(2), torch.zeros(0))
    with pytest.raises(InvalidParameter, match=r"logistic or square, not hinge"):
        pairwise_loss(torch.zeros(2), torch.zeros(2), "hinge")  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="node pair 0"):
        HadamardLinkScorer(1)(torch.zeros(2, 1), torch.tensor([[0], [2]]))


scores = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@given(scores, scores)
def test_auc_is_the_share_of_correctly_ranked_pairs(links: list[int], others: list[int]) -> None:
    difference = np.subtract.outer(links, others)
    expected = np.mean((difference > 0) + 0.5 * (difference == 0))
    assert roc_auc(torch.tensor(links).float(), torch.tensor(others).float()) == pytest.approx(expected)


def test_accuracy_counts_rows() -> None:
    logits = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert accuracy(logits, torch.tensor([0, 1, 2, 2])) == 0.75


def test_errors_of_measures() -> None:
    with pytest.raises(InvalidData, match="at least one: 3 for 2"):
        accuracy(torch.zeros(2, 2), torch.zeros(3))
    with pytest.raises(InvalidData, match="at least one: 0 for 0"):
        accuracy(torch.zeros(0, 2), torch.zeros(0))
    with pytest.raises(InvalidData, match="there are 1 and 0"):
        roc_auc(torch.zeros(1), torch.zeros(0))


def test_a_diverged_model_does_not_look_perfect() -> None:
    nan = float("nan")
    with pytest.raises(InvalidData, match="scores are NaN"):
        roc_auc(torch.tensor([nan, nan]), torch.tensor([0.0, 1.0]))
    with pytest.raises(InvalidData, match="scores are NaN"):
        accuracy(torch.tensor([[nan, 0.0]]), torch.tensor([0]))
