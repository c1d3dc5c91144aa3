"""Adam moves weights as torch's class does, and does not load torch's compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from privet.estimation.priors.adam import Adam


def moved(make: type, groups: bool) -> list[torch.Tensor]:
    torch.manual_seed(0)
    weights = [
        torch.randn(4, 3, requires_grad=True),
        torch.randn(3, requires_grad=True),
        torch.ones(2).requires_grad_(),
    ]
    given = [{"params": weights[:1], "lr": 0.5, "weight_decay": 0.1}, {"params": weights[1:]}] if groups else weights
    settings = {"fused": True} if make is torch.optim.Adam else {}
    optimizer = make(given, lr=0.1, weight_decay=0.01, **settings)
    for step in range(5):
        if step == 3:
            optimizer.param_groups[0]["lr"] = 0.02
        optimizer.zero_grad()
        (torch.ones(2, 4) @ weights[0] * weights[1]).square().sum().backward()  # the last one has no gradient
        optimizer.step()
    return weights


@pytest.mark.parametrize("groups", [False, True])
def test_steps_are_those_of_torch(groups: bool) -> None:
    for ours, theirs in zip(moved(Adam, groups), moved(torch.optim.Adam, groups), strict=True):
        assert torch.equal(ours, theirs)


def test_what_comes_after_a_step_comes_after_each() -> None:
    weight, calls = torch.ones(2, requires_grad=True), []
    optimizer = Adam([weight], lr=1.0, after=lambda: calls.append(weight.detach().clone()))
    for _ in range(2):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
    torch.testing.assert_close(torch.stack(calls), torch.tensor([[0.0, 0.0], [-1.0, -1.0]]))


def test_training_does_not_load_the_compiler() -> None:
    """It takes some two seconds, and the first training of every process would wait for it."""
    program = """
import sys
from privet.data import social_graph, split_nodes
from privet.systems import LPGNN, Structure
from privet.systems.controls import simulate
graph = social_graph(60, classes=2, features=4, seed=0)
graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
for system in (LPGNN(max_epochs=2), Structure()):
    simulate(system, graph, 0)
print("torch._dynamo" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
