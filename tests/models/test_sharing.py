"""Sharing changes how often something is computed, never what comes out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from privet.models import GNN, fixed_weights, shared

PATH = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def double(self, x: Tensor) -> Tensor:
        self.calls += 1
        return 2 * x


def test_same_objects_are_computed_once_within_and_always_outside() -> None:
    counter, x = Counter(), torch.ones(2)
    shared(counter.double, x)
    shared(counter.double, x)
    assert counter.calls == 2
    with fixed_weights():
        first, second = shared(counter.double, x), shared(counter.double, x)
        assert counter.calls == 3
        assert first is second
        shared(counter.double, x.clone())
        assert counter.calls == 4
    with fixed_weights():
        shared(counter.double, x)
    assert counter.calls == 5


def test_different_owners_are_different() -> None:
    one, two, x = Counter(), Counter(), torch.ones(2)
    with fixed_weights():
        shared(one.double, x)
        shared(two.double, x)
    assert (one.calls, two.calls) == (1, 1)


def test_an_inner_stretch_starts_afresh_and_the_outer_goes_on() -> None:
    counter, x = Counter(), torch.ones(2)
    with fixed_weights():
        shared(counter.double, x)
        with fixed_weights():
            shared(counter.double, x)
        shared(counter.double, x)
    assert counter.calls == 2


def test_gradient_is_there_for_the_caller_that_needs_it() -> None:
    counter, x = Counter(), torch.ones(2, requires_grad=True)
    with fixed_weights():
        with torch.no_grad():
            assert not shared(counter.double, x).requires_grad
        shared(counter.double, x).sum().backward()
    assert counter.calls == 1
    assert torch.equal(x.grad, torch.full((2,), 2.0))


@pytest.mark.parametrize("options", [{}, {"dropout": 0.5}, {"batch_norm": True}])
@pytest.mark.parametrize("backbone", ["gat", "gcn", "gin", "sage"])
def test_network_outputs_and_gradients_are_the_same_with_sharing(backbone: str, options: dict[str, object]) -> None:
    model, x = GNN(2, 4, 2, backbone=backbone, **options), torch.randn(3, 2)
    operator = model.operator(PATH)

    def run() -> list[Tensor]:
        torch.manual_seed(0)
        with torch.no_grad():
            scored = model.eval()(x, operator)
        trained = model.train()(x, operator)
        return [scored, trained, *torch.autograd.grad(trained.square().sum(), list(model.parameters()))]

    with torch.random.fork_rng(devices=[]):
        alone = run()
        model.norms.apply(lambda module: getattr(module, "reset_running_stats", lambda: None)())
        with fixed_weights():
            together = run()
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize(
    ("options", "calls"), [({}, [1, 1]), ({"dropout": 0.5}, [1, 2]), ({"batch_norm": True}, [1, 2])]
)
def test_layers_run_as_often_as_they_must(options: dict[str, object], calls: list[int]) -> None:
    model, x = GNN(2, 4, 2, **options), torch.randn(3, 2)
    operator, counts = model.operator(PATH), [0, 0]
    for number, layer in enumerate(model.layers):

        def count(*_: object, number: int = number) -> None:
            counts[number] += 1

        layer.register_forward_hook(count)
    with fixed_weights():
        model.eval()(x, operator)
        model.train()(x, operator)
    assert counts == calls
