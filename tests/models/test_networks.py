"""Networks: their operators, the equations of a stack, lazy inputs, and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from privet.errors import InvalidParameter
from privet.graph import LazyFeatures, Operator
from privet.models import BACKBONES, GNN, MLP, Edges, seeded

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
