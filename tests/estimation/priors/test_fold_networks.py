"""Networks trained side by side learn what each would learn alone, from its own people and columns only."""

from __future__ import annotations

import numpy as np
import torch

from privet.estimation.priors.fold_networks import FoldInputs, FoldNetworks

PEOPLE, FOLDS = 600, 3


def world(seed: int = 0) -> tuple[FoldInputs, torch.Tensor, np.ndarray, list[np.ndarray]]:
    """Three classes that shared columns tell, and a column of noise that each fold sees its own of."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, PEOPLE)
    shared = np.eye(3)[labels] + 0.4 * rng.normal(size=(PEOPLE, 3))
    own = rng.normal(size=(FOLDS, PEOPLE, 1))
    inputs = FoldInputs(torch.from_numpy(shared).float(), torch.from_numpy(own).float())
    seen = [np.flatnonzero(np.arange(PEOPLE) % FOLDS != fold) for fold in range(FOLDS)]
    return inputs, torch.from_numpy(np.eye(3, dtype=np.float32)[labels]), labels, seen


def rows(inputs: FoldInputs, fold: int) -> torch.Tensor:
    return torch.cat([inputs.shared, inputs.own[fold]], dim=1)


def test_every_network_learns_and_repeats() -> None:
    inputs, heard, labels, seen = world()
    networks, again = (FoldNetworks(inputs, heard, seen, seed=4) for _ in range(2))
    for fold in range(FOLDS):
        found = networks.probabilities(fold, rows(inputs, fold))
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
        left_out = np.setdiff1d(np.arange(PEOPLE), seen[fold])
        assert (found[left_out].argmax(axis=1) == labels[left_out]).mean() > 0.85
        np.testing.assert_array_equal(found, again.probabilities(fold, rows(inputs, fold)))


def test_a_network_depends_on_its_own_people_only() -> None:
    """Other labels and columns of people whom fold 0 does not see change fold 1's network and not fold 0's."""
    inputs, heard, _, seen = world()
    unseen = torch.from_numpy(np.setdiff1d(np.arange(PEOPLE), seen[0]))
    shared, told = inputs.shared.clone(), heard.clone()
    shared[unseen] += 5.0
    told[unseen] = told[unseen].roll(1, dims=1)
    first = FoldNetworks(inputs, heard, seen, seed=0)
    second = FoldNetworks(FoldInputs(shared, inputs.own), told, seen, seed=0)
    given = rows(inputs, 0)
    np.testing.assert_allclose(first.probabilities(0, given), second.probabilities(0, given), atol=1e-6)
    assert np.abs(first.probabilities(1, given) - second.probabilities(1, given)).max() > 0.05


def test_side_by_side_is_as_good_as_alone() -> None:
    """Accuracies of 200 people who were left out; seeds are fixed."""
    inputs, heard, labels, seen = world(1)
    together = FoldNetworks(inputs, heard, seen, seed=0)
    for fold in range(FOLDS):
        alone = FoldNetworks(FoldInputs(inputs.shared, inputs.own[fold : fold + 1]), heard, [seen[fold]], seed=1)
        left_out = np.setdiff1d(np.arange(PEOPLE), seen[fold])
        scores = [
            (found[left_out].argmax(axis=1) == labels[left_out]).mean()
            for found in (
                together.probabilities(fold, rows(inputs, fold)),
                alone.probabilities(0, rows(inputs, fold)),
            )
        ]
        assert abs(scores[0] - scores[1]) < 0.05
