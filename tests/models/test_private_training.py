"""The loop against steps taken by hand."""

import numpy as np
import pytest
import torch

from privet.mechanisms import SeededBits
from privet.mechanisms.primitives.noise import noisy_sum
from privet.models.clipping import clipped_gradient, perceptron
from privet.models.private_training import PrivateSteps, train_privately


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("progress", [False, True])
def test_steps_are_clip_sum_noise_divide(optimizer: str, progress: bool) -> None:
    rng = np.random.default_rng(0)
    batches = [(rng.normal(size=(size, 6)).astype(np.float32), rng.integers(3, size=size)) for size in (9, 0, 4)]
    torch.manual_seed(0)
    network = perceptron(6, 5, 3)
    expected = perceptron(6, 5, 3)
    expected.load_state_dict(network.state_dict())
    how = PrivateSteps(3, 0.5, 2.0, 7.0, "sml", optimizer, 0.05)
    drawn = iter(batches)
    train_privately(network, lambda: next(drawn), how, SeededBits(1), progress=progress)
    bits = SeededBits(1)
    step = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer](expected.parameters(), lr=0.05)
    loss = torch.nn.CrossEntropyLoss(reduction="none")
    for x, y in batches:
        sums = clipped_gradient(expected, torch.from_numpy(x), lambda z, y=y: loss(z, torch.from_numpy(y)), 0.5).sums
        flat = np.concatenate([part.numpy().ravel() for part in sums])
        noisy = torch.from_numpy(noisy_sum(flat, 2.0, bits, noise="sml") / 7.0).float()
        for parameter, part in zip(expected.parameters(), noisy.split([p.numel() for p in sums]), strict=True):
            parameter.grad = part.reshape(parameter.shape)
        step.step()
    for ours, theirs in zip(network.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
