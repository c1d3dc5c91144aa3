"""The training loop: what it repeats, keeps, stops at, leaves alone and refuses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from privet.errors import InvalidData
from privet.graph import LazyFeatures
from privet.models import GNN, TrainingResult, TrainingSettings, accuracy, fixed_weights, seeded, shared, train


class Point(nn.Module):
    """One trainable number; with an SGD step of 1 on the loss -x it counts steps: 0, 1, 2, ..."""

    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Parameter(torch.zeros(1))


def upwards(model: Point) -> Tensor:
    return -model.x.sum()


def counting(**changes: object) -> TrainingSettings:
    return TrainingSettings(**{"optimizer": torch.optim.SGD, "learning_rate": 1.0, "max_epochs": 20, **changes})


def two_blocks(seed: int = 0) -> tuple[sp.csr_array, LazyFeatures, Tensor, Tensor, Tensor]:
    """200 nodes in two blocks with sparse, noisy features: adjacency, features, labels, training and other nodes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(200) % 2
    same = labels[:, None] == labels
    upper = np.triu(rng.random((200, 200)) < np.where(same, 0.1, 0.01), k=1)
    features = rng.random((200, 30)) < np.where((np.arange(30) % 2) == labels[:, None], 0.25, 0.08)
    order = torch.from_numpy(rng.permutation(200))
    lazy = LazyFeatures.from_sparse(sp.csr_array(features.astype(np.float64)))
    return sp.csr_array((upper | upper.T) * 1.0), lazy, torch.from_numpy(labels), order[:100], order[100:]


def fit(backbone: str, seed: int = 1, **options: object) -> tuple[GNN, TrainingResult, float]:
    adjacency, x, labels, training, others = two_blocks()
    with seeded(seed):
        model = GNN(30, 16, 2, backbone=backbone, **options)
    operator = model.operator(adjacency)
    result = train(
        model,
        lambda m: cross_entropy(m(x, operator)[training], labels[training]),
        lambda m: accuracy(m(x, operator)[others[:50]], labels[others[:50]]),
        TrainingSettings(max_epochs=30, seed=seed, weight_decay=1e-3),
    )
    return model, result, accuracy(model(x, operator)[others[50:]], labels[others[50:]])


@pytest.mark.parametrize("backbone", ["gat", "gcn", "gin", "sage"])
def test_learns_two_blocks(backbone: str) -> None:
    _, result, test_accuracy = fit(backbone, dropout=0.2, batch_norm=True)
    assert result.losses[-1] < result.losses[0] / 2
    assert result.best_score > 0.9
    assert test_accuracy > 0.9


def test_a_seed_repeats_a_run_bit_for_bit() -> None:
    (one, first, _), (two, second, _) = (fit("gcn", dropout=0.5, batch_norm=True) for _ in range(2))
    assert (first.losses, first.scores) == (second.losses, second.scores)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True))
    assert fit("gcn", seed=2, dropout=0.5, batch_norm=True)[1].losses != first.losses


def dropout_losses(seed: int | None) -> tuple[float, ...]:
    model = nn.Sequential(nn.Linear(8, 1), nn.Dropout(0.5))
    nn.init.ones_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    settings = TrainingSettings(max_epochs=8, seed=seed)
    return train(model, lambda m: m(torch.ones(8, 8)).square().mean(), lambda m: 0.0, settings).losses


def test_the_seed_of_the_settings_alone_decides_the_dropout() -> None:
    assert dropout_losses(0) == dropout_losses(0)
    assert dropout_losses(0) != dropout_losses(1)
    assert dropout_losses(None) != dropout_losses(None)


def test_global_random_numbers_are_left_alone() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        expected = nn.Linear(8, 1).weight, torch.rand(3)  # the model's own draws come first, as outside training
        torch.manual_seed(11)
        model = nn.Sequential(nn.Linear(8, 1), nn.Dropout(0.5))
        train(model, lambda m: m(torch.ones(8, 8)).sum(), lambda m: 0.0, TrainingSettings(max_epochs=3, seed=5))
        assert torch.equal(model[0].weight, expected[0])
        assert torch.equal(torch.rand(3), expected[1])


def test_scores_and_losses_are_of_the_weights_they_say() -> None:
    result = train(Point(), upwards, lambda m: float(m.x), counting(max_epochs=4))
    assert result.scores == (0, 1, 2, 3, 4)
    assert result.losses == (0, -1, -2, -3)
    assert (result.best_epoch, result.best_score, result.epochs) == (4, 4, 4)
    assert result.seconds > 0


def test_best_state_is_restored_and_the_earliest_of_equals() -> None:
    model = Point()
    result = train(model, upwards, lambda m: min(float(m.x), 7.0), counting())
    assert (result.best_epoch, result.best_score, result.epochs) == (7, 7.0, 20)
    assert model.x.item() == 7
    assert not model.training


def test_smaller_is_better_if_the_direction_says_so() -> None:
    model = Point()
    result = train(model, upwards, lambda m: (m.x - 5).abs(), counting(direction="min"))
    assert (result.best_epoch, result.best_score, model.x.item()) == (5, 0.0, 5)


def test_stops_when_the_best_is_patience_epochs_old() -> None:
    result = train(Point(), upwards, lambda m: -abs(float(m.x) - 5), counting(patience=3))
    assert (result.best_epoch, result.epochs, len(result.scores)) == (5, 8, 9)


def test_an_infinite_score_keeps_a_state_from_being_the_best() -> None:
    model = Point()
    train(model, upwards, lambda m: float(m.x) if m.x <= 6 else -float("inf"), counting())
    assert model.x.item() == 6


def test_mini_batches_get_a_step_each() -> None:
    seen = []

    def batches(model: Point) -> Iterator[Tensor]:
        for _ in range(3):
            seen.append(model.x.item())
            yield upwards(model)

    result = train(Point(), batches, lambda m: float(m.x), counting(max_epochs=2))
    assert seen == [0, 1, 2, 3, 4, 5]
    assert result.scores == (0, 3, 6)
    assert result.losses == (-1, -4)


def test_mini_batches_see_fresh_weights_of_a_network() -> None:
    """Sharing ends with the first step: the second batch's loss is that of the changed weights."""
    adjacency, x, labels, training, _ = two_blocks()
    with seeded(0):
        model = GNN(30, 8, 2)
    operator, recomputed = model.operator(adjacency), []

    def batches(m: GNN) -> Iterator[Tensor]:
        for nodes in training.chunk(4):
            loss = cross_entropy(m(x, operator)[nodes], labels[nodes])
            first, second = m.layers
            hidden = torch.selu(operator @ (x @ first.lin.weight.T) + first.bias)
            output = operator @ (hidden @ second.lin.weight.T) + second.bias
            recomputed.append(torch.equal(loss, cross_entropy(output[nodes], labels[nodes])))
            yield loss

    train(model, batches, lambda m: accuracy(m(x, operator), labels), TrainingSettings(max_epochs=3))
    assert recomputed == [True] * 12


@pytest.mark.parametrize(("dropout", "calls"), [(0.0, 11), (0.5, 11)])
def test_ten_epochs_cost_eleven_products_with_the_features(dropout: float, calls: int) -> None:
    adjacency, x, labels, training, _ = two_blocks()
    model, counted = GNN(30, 8, 2, dropout=dropout), []
    operator = model.operator(adjacency)
    model.layers[0].register_forward_hook(lambda *_: counted.append(1))
    train(
        model,
        lambda m: cross_entropy(m(x, operator)[training], labels[training]),
        lambda m: accuracy(m(x, operator), labels),
        TrainingSettings(max_epochs=10),
    )
    assert len(counted) == calls


def test_gradients_are_clipped_before_the_step() -> None:
    model = Point()
    train(model, lambda m: -100 * m.x.sum(), lambda m: float(m.x), counting(max_epochs=4, max_grad_norm=0.5))
    assert model.x.item() == pytest.approx(2.0)


def test_weight_decay_reaches_the_optimiser() -> None:
    model = Point()
    nn.init.ones_(model.x)
    train(model, lambda m: 0 * m.x.sum(), lambda m: -float(m.x), counting(max_epochs=1, weight_decay=0.25))
    assert model.x.item() == pytest.approx(0.75)


def test_parameters_may_be_chosen() -> None:
    model, other = Point(), nn.Parameter(torch.zeros(1))
    groups = [{"params": [other], "lr": 2.0}]
    result = train(model, lambda m: -(m.x + other).sum(), lambda m: 0.0, counting(max_epochs=3), parameters=groups)
    assert (model.x.item(), other.item()) == (0, 6)
    assert result.losses == (0, -2, -4)


def test_a_loss_that_is_not_a_number_stops_with_the_best_weights() -> None:
    model = Point()
    with pytest.raises(InvalidData, match=r"loss of epoch 4 must be finite, not nan"):
        train(model, lambda m: -m.x.sum() + (torch.nan if m.x >= 3 else 0), lambda m: -abs(float(m.x) - 2), counting())
    assert model.x.item() == 2


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(InvalidData, match=r"score after epoch 2 must be a number, not nan"):
        train(Point(), upwards, lambda m: torch.nan if m.x >= 2 else 0.0, counting())


def test_an_epoch_without_mini_batches_is_refused() -> None:
    with pytest.raises(InvalidData, match="loss of epoch 1 has no mini-batch"):
        train(Point(), lambda m: iter(()), lambda m: 0.0, counting())


def test_an_interrupt_leaves_the_best_weights() -> None:
    model = Point()

    def interrupted(m: Point) -> Tensor:
        if m.x >= 5:
            raise KeyboardInterrupt
        return upwards(m)

    with pytest.raises(KeyboardInterrupt):
        train(model, interrupted, lambda m: -abs(float(m.x) - 2), counting())
    assert model.x.item() == 2
    assert not model.training


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    result = train(Point(), upwards, lambda m: float(m.x), counting(progress=True))
    assert result.epochs == 20
    assert capsys.readouterr() == ("", "")


def test_training_can_be_given_up() -> None:
    seen: list[tuple[int, float]] = []

    def give_up(epoch: int, best: float) -> bool:
        seen.append((epoch, best))
        return epoch == 3

    with seeded(0):
        line = nn.Linear(1, 1)
    result = train(line, lambda model: model.weight.square().sum(), lambda model: 1.0, give_up=give_up)
    assert result.epochs == 3
    assert [epoch for epoch, _ in seen] == [0, 1, 2, 3]


def test_a_seed_repeats_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    before = torch.rand(3)
    torch.manual_seed(1)
    with seeded(9):
        first = torch.rand(3)
    after = torch.rand(3)
    with seeded(9):
        second = torch.rand(3)
    assert torch.equal(first, second)
    assert torch.equal(before, after)


def test_without_a_seed_the_global_generator_is_used() -> None:
    torch.manual_seed(4)
    with seeded(None):
        drawn = torch.rand(2)
    torch.manual_seed(4)
    assert torch.equal(drawn, torch.rand(2))


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
