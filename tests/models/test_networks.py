"""Networks: their operators, the equations of a stack, lazy inputs, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from privet.errors import InvalidParameter
from privet.graph import LazyFeatures, Operator
from privet.models import BACKBONES, GNN, MLP, Dropout, Edges, seeded
from privet.models.backbones._base import columns_first
from privet.models.networks import kept_entries

FEATURES = sp.csr_array(np.array([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0], [1, 1, 1, 1]]))
PATH = sp.csr_array(np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_operator_has_the_backbones_loops_and_weights(backbone: str) -> None:
    operator = GNN(4, 8, 2, backbone=backbone).operator(PATH)
    if isinstance(operator, Edges):
        assert operator.num_edges == PATH.nnz + 4
        return
    assert isinstance(operator, Operator)
    half = 1 / np.sqrt(2 * 3)
    first_row = {"gcn": [1 / 2, half, 0, 0], "sage": [0, 1, 0, 0], "gin": [0, 1, 0, 0]}[backbone]
    last_row = {"gcn": [0, 0, 0, 1.0], "sage": [0, 0, 0, 0.0], "gin": [0, 0, 0, 0.0]}[backbone]
    dense = operator.matrix.to_dense()
    torch.testing.assert_close(dense[0], torch.tensor(first_row, dtype=torch.float32))
    torch.testing.assert_close(dense[3], torch.tensor(last_row, dtype=torch.float32))


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_lazy_equals_dense_through_the_whole_network(backbone: str, num_layers: int) -> None:
    model = GNN(4, 8, 3, backbone=backbone, num_layers=num_layers)
    lazy, operator = LazyFeatures.from_sparse(FEATURES), model.operator(PATH)
    output = model(lazy, operator)
    assert output.shape == (4, 3)
    torch.testing.assert_close(output, model(lazy.dense(), operator), rtol=1e-4, atol=1e-5)


def test_two_layer_gcn_is_its_equation() -> None:
    model = GNN(4, 8, 3, backbone="gcn", activation="selu", batch_norm=True, dropout=0.5).eval()
    x, A = torch.randn(4, 4), model.operator(PATH).matrix.to_dense()
    first, second = model.layers
    hidden = torch.selu(model.norms[0](A @ x @ first.lin.weight.T + first.bias))
    torch.testing.assert_close(model.embed(x, model.operator(PATH)), hidden, rtol=1e-4, atol=1e-5)
    expected = A @ hidden @ second.lin.weight.T + second.bias
    torch.testing.assert_close(model(x, model.operator(PATH)), expected, rtol=1e-4, atol=1e-5)


def test_dropout_and_batch_statistics_act_in_training_only() -> None:
    model = GNN(4, 64, 3, dropout=0.5, batch_norm=True)
    x, operator = torch.randn(4, 4), model.operator(PATH)
    assert not torch.equal(model(x, operator), model(x, operator))
    model.eval()
    assert torch.equal(model(x, operator), model(x, operator))


def test_mlp_takes_dense_and_lazy_features() -> None:
    model = MLP(4, 8, 3, num_layers=3, activation="relu")
    lazy = LazyFeatures.from_sparse(FEATURES)
    expected = lazy.dense()
    for number, layer in enumerate(model.layers):
        expected = expected @ layer.weight.T + layer.bias
        expected = expected if number == 2 else expected.relu()
    torch.testing.assert_close(model(lazy), expected)
    torch.testing.assert_close(model(lazy.dense()), expected)
    assert model.embed(lazy).shape == (4, 8)
    assert MLP(4, 8, 3, num_layers=1).embed(lazy) is lazy


def test_heads_split_the_hidden_channels() -> None:
    model = GNN(4, 8, 3, backbone="gat", heads=4)
    assert model.embed(torch.randn(4, 4), model.operator(PATH)).shape == (4, 8)
    assert model(torch.randn(4, 4), model.operator(PATH)).shape == (4, 3)


def test_a_seed_gives_the_same_initial_weights() -> None:
    def make() -> list[torch.Tensor]:
        with seeded(3):
            return list(GNN(4, 8, 3, backbone="gat").parameters())

    assert all(torch.equal(a, b) for a, b in zip(make(), make(), strict=True))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbone": "gnn"}, "backbone must be one of gat, gcn, gin, sage, not gnn"),
        ({"activation": "tanh"}, "activation must be one of elu, relu, selu, not tanh"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, not 1.0"),
        ({"num_layers": 0}, "num_layers must be an integer of at least 1, not 0"),
        ({"hidden_channels": 0}, "hidden_channels"),
        ({"backbone": "gat", "heads": 3}, "heads must be a divisor of hidden_channels"),
        ({"backbone": "gcn", "heads": 2}, "heads must be 1, not 2: a gcn layer has no heads"),
    ],
)
def test_errors(changes: dict[str, object], message: str) -> None:
    arguments = {"in_channels": 4, "hidden_channels": 8, "out_channels": 3, **changes}
    with pytest.raises(InvalidParameter, match=message):
        GNN(**arguments)


@pytest.mark.parametrize(("name", "kind"), [("elu", nn.ELU), ("relu", nn.ReLU), ("selu", nn.SELU)])
def test_activations(name: str, kind: type[nn.Module]) -> None:
    assert isinstance(MLP(4, 8, 3, activation=name).activation, kind)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_the_share_and_the_scale(share: float) -> None:
    """The number kept is binomial; five deviations: a correct program fails for one seed in 1.7 million."""
    with seeded(0):
        factors = kept_entries((400, 501), share)
    kept = factors > 0
    count = factors.numel()
    assert abs(int(kept.sum()) - (1 - share) * count) < 5 * math.sqrt(share * (1 - share) * count) + count / 65536
    torch.testing.assert_close(factors[kept], torch.full_like(factors[kept], 1 / (1 - share)), rtol=1e-4, atol=0)


def test_entries_are_dropped_independently_of_their_neighbours() -> None:
    with seeded(1):
        kept = kept_entries((1, 200_000), 0.5)[0] > 0
    for distance in (1, 2, 7, 8, 64):
        equal = int((kept[:-distance] == kept[distance:]).sum())
        assert abs(equal - (len(kept) - distance) / 2) < 5 * math.sqrt(len(kept)) / 2  # 1.7 million seeds, as above


def test_coins_repeat_with_the_seed_and_only_then() -> None:
    with seeded(3):
        first, second = kept_entries((9, 7), 0.5), kept_entries((9, 7), 0.5)
    with seeded(3):
        again = kept_entries((9, 7), 0.5)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_gradient_and_evaluation() -> None:
    layer = Dropout(0.5)
    x = torch.ones(50, 4, requires_grad=True)
    result = layer(x)
    result.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, result.detach())  # x is 1, so the factor is both
    assert torch.equal(layer.eval()(x), x)
    assert Dropout(0.0)(x) is x


def test_all_types_and_shapes() -> None:
    assert kept_entries((0, 3), 0.5).shape == (0, 3)
    assert kept_entries((3,), 0.3, torch.float64).dtype == torch.float64
    assert float(kept_entries((64, 64), 1 - 1e-9).sum()) >= 0  # never divides by 0


def test_only_the_order_in_memory_changes() -> None:
    with seeded(0):
        plain = nn.Linear(5, 3)
    with seeded(0):
        turned = nn.Linear(5, 3)
    columns_first(turned)
    assert turned.weight.T.is_contiguous()
    assert not plain.weight.T.is_contiguous()
    x = torch.randn(4, 5)
    plain(x).square().sum().backward()
    turned(x).square().sum().backward()
    torch.testing.assert_close(turned.weight, plain.weight)
    torch.testing.assert_close(turned.weight.grad, plain.weight.grad)
    plain.load_state_dict(turned.state_dict())
    torch.testing.assert_close(plain.weight, turned.weight)


def test_first_layers_of_sparse_input_keep_the_layout_through_a_step() -> None:
    x = LazyFeatures.from_sparse(sp.random_array((6, 9), density=0.5, format="csr", rng=0))
    graph = sp.csr_array(sp.eye_array(6))
    for network in (MLP(9, 4, 2), *(GNN(9, 4, 2, backbone=name) for name in ("gcn", "sage", "gin", "gat"))):
        operators = (network.operator(graph),) if isinstance(network, GNN) else ()
        network(x, *operators).sum().backward()
        wide = [each for each in network.parameters() if each.shape[1:] == (9,)]
        assert wide
        for weight in wide:
            assert weight.T.is_contiguous()
            assert weight.grad is not None
            assert weight.grad.T.is_contiguous()
