"""The loop against steps taken by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.models.clipping import clipped_gradient, perceptron
from privet.models.clipping.rows import SparseRows
from privet.models.private_training import PrivateSteps, descend, train_privately


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("noise", ["gaussian", "sml"])
def test_steps_are_clip_sum_noise_divide(optimizer: str, progress: bool, noise: str) -> None:
    rng = np.random.default_rng(0)
    batches = [(rng.normal(size=(size, 6)).astype(np.float32), rng.integers(3, size=size)) for size in (9, 0, 4)]
    torch.manual_seed(0)
    network = perceptron(6, 5, 3)
    expected = perceptron(6, 5, 3)
    expected.load_state_dict(network.state_dict())
    how = PrivateSteps(3, 0.5, 2.0, 7.0, noise, optimizer, 0.05)
    drawn = iter(batches)
    train_privately(network, lambda: next(drawn), how, SeededBits(1), progress=progress)
    bits = SeededBits(1)
    step = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer](expected.parameters(), lr=0.05)
    for x, y in batches:
        total = clipped_gradient(expected, torch.from_numpy(x), torch.from_numpy(y), 0.5)
        noisy = torch.from_numpy(total.with_noise(2.0, bits, noise=noise) / 7.0).float()
        parameters = list(expected.parameters())
        for parameter, part in zip(parameters, noisy.split([p.numel() for p in parameters]), strict=True):
            parameter.grad = part.reshape(parameter.shape)
        step.step()
    for ours, theirs in zip(network.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_sparse_batches_train_as_dense_ones() -> None:
    rng = np.random.default_rng(0)
    values = sp.csr_array(sp.random_array((50, 30), density=0.2, format="csr", rng=rng, dtype=np.float32))
    rows, labels = SparseRows(values, rng.normal(size=50)), rng.integers(3, size=50)
    torch.manual_seed(0)
    first, second = perceptron(30, 8, 3), perceptron(30, 8, 3)
    second.load_state_dict(first.state_dict())
    how = PrivateSteps(4, 0.5, 0.5, 50.0, "gaussian", "sgd", 0.5)
    for network, x in ((first, rows), (second, rows.dense())):
        train_privately(network, lambda x=x: (x, labels), how, SeededBits(2))
    for ours, theirs in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=0)


def test_more_noise_than_is_accounted_for_is_refused_before_the_first_step() -> None:
    how = PrivateSteps(2**30, 0.5, 2.0, 7.0)
    with pytest.raises(InvalidParameter, match=r"at most 2\^32 noise values"):
        train_privately(perceptron(6, 5, 3), lambda: pytest.fail("a batch was drawn"), how, SeededBits(0))


def test_noise_needs_a_sum_on_the_grid() -> None:
    how = PrivateSteps(steps=1, max_grad_norm=0.5, sigma=1.0, expected_size=10.0)
    with pytest.raises(InvalidParameter, match="needs a sum on the integer grid"):
        descend([torch.nn.Parameter(torch.zeros(2))], lambda: np.zeros(2), how, SeededBits(0))
