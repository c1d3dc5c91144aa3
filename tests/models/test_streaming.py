"""Training on rows that are read a mini-batch at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from stored_graphs import random_pattern, stored
from torch.nn.functional import cross_entropy

from privet.graph.distributed import ClusterGraph
from privet.models import MLP, TrainingSettings, seeded, streaming
from privet.models.streaming import HeldRows, Lesson, StoredRows, outputs_of, probabilities_of, train_streamed

NODES = 60
RNG = np.random.default_rng(0)
LABELS = torch.from_numpy(RNG.integers(0, 2, NODES))
ARRAY = (RNG.standard_normal((NODES, 3)) + 2.0 * LABELS.numpy()[:, None]).astype(np.float32)
FIT, HELD = torch.arange(0, 40), torch.arange(40, 60)


class Counted(HeldRows):
    """Rows that remember how many were asked for at a time."""

    asked: list[int]

    def take(self, nodes: np.ndarray) -> np.ndarray:
        self.asked.append(len(nodes))
        return super().take(nodes)


def a_lesson() -> Lesson:
    return Lesson(
        FIT,
        lambda outputs, nodes: cross_entropy(outputs, LABELS[nodes]),
        lambda outputs_of: float(cross_entropy(outputs_of(HELD), LABELS[HELD])),
        "min",
    )


def trained(rows: HeldRows | StoredRows, batch: int) -> MLP:
    with seeded(0):
        network = MLP(3, 8, 2, batch_norm=True)
    train_streamed(network, rows, a_lesson(), TrainingSettings(max_epochs=20, direction="min", seed=0), batch)
    return network


def test_no_more_than_a_batch_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "BATCH", 7)
    rows = Counted(ARRAY)
    object.__setattr__(rows, "asked", [])
    network = trained(rows, 13)
    assert max(rows.asked) == 10  # 40 nodes in 4 pieces of equal size, not 13, 13, 13 and 1
    assert (probabilities_of(network, rows, 2).argmax(1) == LABELS.numpy()).mean() > 0.9
    assert outputs_of(network, rows, HELD).shape == (20, 2)


def test_rows_of_a_store_train_the_same_network(tmp_path: Path) -> None:
    with ClusterGraph(stored(tmp_path, random_pattern(2, NODES), 4, by="hash"), scratch=tmp_path) as graph:
        rows = StoredRows(graph.columns(ARRAY))
        assert rows.shape == HeldRows(ARRAY).shape == (NODES, 3)
        expected, found = trained(HeldRows(ARRAY), 13), trained(rows, 13)
        for name, value in expected.state_dict().items():
            assert torch.equal(value, found.state_dict()[name])
        np.testing.assert_allclose(
            probabilities_of(expected, HeldRows(ARRAY), 2), probabilities_of(found, rows, 2), atol=1e-6
        )
