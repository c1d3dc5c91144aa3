"""Accuracy and AUC against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData
from privet.models import accuracy, roc_auc

scores = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@given(scores, scores)
def test_auc_is_the_share_of_correctly_ranked_pairs(links: list[int], others: list[int]) -> None:
    difference = np.subtract.outer(links, others)
    expected = np.mean((difference > 0) + 0.5 * (difference == 0))
    assert roc_auc(torch.tensor(links).float(), torch.tensor(others).float()) == pytest.approx(expected)


def test_accuracy_counts_rows() -> None:
    logits = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert accuracy(logits, torch.tensor([0, 1, 2, 2])) == 0.75


def test_errors() -> None:
    with pytest.raises(InvalidData, match="at least one: 3 for 2"):
        accuracy(torch.zeros(2, 2), torch.zeros(3))
    with pytest.raises(InvalidData, match="at least one: 0 for 0"):
        accuracy(torch.zeros(0, 2), torch.zeros(0))
    with pytest.raises(InvalidData, match="there are 1 and 0"):
        roc_auc(torch.zeros(1), torch.zeros(0))


def test_a_diverged_model_does_not_look_perfect() -> None:
    nan = float("nan")
    with pytest.raises(InvalidData, match=r"numbers, not NaN"):
        roc_auc(torch.tensor([nan, nan]), torch.tensor([0.0, 1.0]))
    with pytest.raises(InvalidData, match=r"numbers, not NaN"):
        accuracy(torch.tensor([[nan, 0.0]]), torch.tensor([0]))
