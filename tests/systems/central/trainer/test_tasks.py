"""Tasks: members, losses and scores where labels are missing."""

import numpy as np
import pytest
import torch

from privet.errors import InvalidData
from privet.systems.central.trainer.tasks import Classification, Regression

NAN = np.nan
CENTRES = torch.ones(2, 1, dtype=torch.int8)


def test_classification() -> None:
    task = Classification(np.array([0, 1, -1, 1]))
    assert task.members(np.array([True, True, True, False])).tolist() == [True, True, False, False]
    rows = np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [NAN, NAN]], dtype=np.float32)
    assert task.score(rows, np.ones(4, dtype=np.bool_)) == 0.5
    assert task.losses(torch.zeros(2, 1, 2), torch.tensor([0, 1]), CENTRES[:2]).tolist() == pytest.approx(
        [np.log(2)] * 2
    )
    np.testing.assert_allclose(task.meaning(torch.zeros(1, 2)), 0.5)


def test_regression() -> None:
    task = Regression(np.array([0.0, 2.0, NAN, 1.0]), 4)
    assert task.members(np.array([True, True, True, False])).tolist() == [True, True, False, False]
    rows = np.array([[0.0], [1.0], [9.0], [NAN]], dtype=np.float32)
    assert task.score(rows, np.ones(4, dtype=np.bool_)) == pytest.approx(0.5)
    assert task.losses(torch.tensor([[[3.0], [9.0]]]), torch.tensor([1.0]), CENTRES[:1]).tolist() == [4.0]
    with pytest.raises(InvalidData, match="one number for each of 5 nodes"):
        Regression(np.zeros(4), 5)
    with pytest.raises(InvalidData, match="one number for each of 2 nodes"):
        Regression(["many", "few"], 2)  # type: ignore[arg-type]
