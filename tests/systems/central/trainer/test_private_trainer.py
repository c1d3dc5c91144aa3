"""PrivateTrainer: the sensitivity that the accountant assumes, its epsilon, tasks, refusals and verbs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from few_tries import few_tries  # noqa: F401 (a fixture)
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import random_graph, without_node
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.nn import GATv2Conv, GCNConv, SAGEConv

from privet.data import Graph, social_graph, split_nodes
from privet.data.interop import to_pyg
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.mechanisms import SeededBits
from privet.systems import HeterPoisson
from privet.systems.central._training_view import TrainingView
from privet.systems.central.trainer import PrivateTrainer
from privet.systems.central.trainer.predictions import Predictions

pytestmark = pytest.mark.usefixtures("few_tries")


class Net(nn.Module):
    def __init__(self, layer: Any, columns: int, outputs: int = 3) -> None:
        super().__init__()
        self.first, self.drop, self.last = layer(columns, 6), nn.Dropout(0.2), nn.Linear(6, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.last(self.drop(torch.tanh(self.first(x, edge_index))))


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(300, classes=3, average_degree=6, homophily=0.9, seed=0)
    return made.replace(split=split_nodes(made, 0.6, 0.1, seed=0))


def trainer(graph: Any, layer: Any = GCNConv, outputs: int = 3, columns: int | None = None, **changes: Any) -> Any:
    torch.manual_seed(0)
    width = graph.features.shape[1] if columns is None else columns
    small = {"noise_multiplier": 2.0, "batch_size": 100, "epochs": 1, "at_once": 64, "seed": 0}
    return PrivateTrainer(Net(layer, width, outputs), graph, **{**small, **changes})


EXAMPLES: dict[Any, PrivateTrainer] = {}


@given(
    st.integers(0, 2**32), st.integers(3, 10), st.sampled_from([GCNConv, SAGEConv, GATv2Conv]), st.booleans(),
    st.sampled_from(["inductive", "transductive"]), st.sampled_from([0.0, 1.0, 2.0]),
)  # fmt: skip
@settings(max_examples=60)
def test_sensitivity_of_the_clipped_sum(
    seed: int, nodes: int, layer: Any, is_central: bool, setting: Any, multiplier: float
) -> None:
    """Given all coins, node 0's presence moves the sum by at most C if it is central, else by 2 C a touched sub-graph.

    Both hold in integers, on the grid, and sub-graphs that it is not in keep their gradients to the bit.
    """
    rng = np.random.default_rng(seed)
    with_node = random_graph(rng, nodes)
    falls, coins = rng.random(nodes) < 0.6, rng.random(with_node.adjacency.nnz) < (0.7 if multiplier else 0.0)
    falls[0] = is_central
    system = HeterPoisson(noise_multiplier=1.0, batch_size=5, multiplier=multiplier, setting=setting)
    if layer not in EXAMPLES:  # lanes are tested once
        EXAMPLES[layer] = trainer(with_node, layer, at_once=8)
    made = EXAMPLES[layer]
    sums, touched = [], 0
    for here in (with_node, without_node(with_node, 0)):
        view = TrainingView.of(here, "test")
        batch = system.sampler(view).form(np.flatnonzero(falls & view.members), lambda entries: coins[entries])
        touched = touched or int((batch.peripheral == 0).sum())
        targets, keys = with_node.labels[batch.central], 17 * batch.central + 5
        sums.append(made._examples.clipped_sum(batch, view.features, targets, keys, 0.5).values)
    squared = sum(value * value for value in (sums[0] - sums[1]).tolist())
    most = 1 if is_central else 2 * touched
    assert not (is_central and touched)
    assert squared <= (most * 2**37) ** 2
    assert squared > 0 or not most


def test_epsilon_is_the_accountant_s(graph: Graph) -> None:
    made = trainer(graph, multiplier=1.0, noise_multiplier=9.0)
    system = HeterPoisson(noise_multiplier=9.0, batch_size=100, epochs=1, multiplier=1.0)
    assert made.guarantee == replace(system, seed=0).guarantee(300)
    assert "degree" in made.guarantee.adjacency
    target = trainer(graph, noise_multiplier=None, target_epsilon=3.0)
    assert target.guarantee.epsilon <= 3.0
    assert target.get_epsilon(target.guarantee.delta) == target.guarantee.epsilon
    assert target.noise_multiplier == HeterPoisson(
        target_epsilon=3.0, batch_size=100, epochs=1
    ).noise_multiplier_for(300)  # fmt: skip


@pytest.mark.parametrize("layer", [GCNConv, SAGEConv])
def test_it_learns(graph: Graph, layer: Any) -> None:
    made = trainer(graph, layer, noise_multiplier=0.5, epochs=7, learning_rate=0.1).fit()
    assert made.engine.startswith("vmap over sub-graphs, 9 of")  # the vectors alone
    assert made.score() > 0.8
    assert not made.module.training


def test_predictions_are_for_unprotected_nodes_alone(graph: Graph) -> None:
    made = trainer(graph).fit()
    open_nodes = graph.split.validation | graph.split.test
    assert np.array_equal(made.predict() >= 0, open_nodes)
    assert np.array_equal(~np.isnan(made.predict_proba()).any(axis=1), open_nodes)
    np.testing.assert_allclose(made.predict_proba()[open_nodes].sum(axis=1), 1.0, rtol=1e-5)
    assert made.fitted().guarantee == made.guarantee
    assert "seed" not in made.fitted().settings


def predicted(made: Any) -> np.ndarray:
    return Predictions.of(made._examples, made._view(), 13, SeededBits(1)).rows()


def test_a_prediction_reads_no_training_node(graph: Graph) -> None:
    made = trainer(graph).fit()
    before = predicted(made)
    hidden = np.where(graph.split.train, 0.0, 1.0)
    made.graph = graph.replace(features=sp.csr_array(sp.diags_array(hidden) @ graph.features))
    np.testing.assert_array_equal(predicted(made), before)


def test_a_seed_repeats_and_none_does_not(graph: Graph) -> None:
    one, other, without = (trainer(graph, seed=seed).fit().predict_proba() for seed in (3, 3, None))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, without, equal_nan=True)


def test_regression(graph: Graph) -> None:
    targets = np.where(graph.labels >= 0, graph.labels - 1.0, np.nan)
    made = trainer(
        graph, outputs=1, loss="mse", targets=targets, noise_multiplier=0.5, epochs=7, learning_rate=0.1
    ).fit()  # fmt: skip
    assert made.score() > 0.3
    assert np.array_equal(np.isnan(made.predict()), graph.split.train)
    with pytest.raises(PrivetError, match="Only a classifier has probabilities"):
        made.predict_proba()


def test_pyg_data_is_taken_as_it_is(graph: Graph) -> None:
    data = to_pyg(graph)
    assert isinstance(data, Data)
    columns = graph.features.shape[1]
    one, other = (trainer(each, columns=columns).fit().predict() for each in (data, graph))
    assert np.array_equal(one, other)
    data.y = data.y.float() / 2
    assert trainer(data, columns=columns, outputs=1, loss="mse").fit().predict().dtype == np.float32


def test_heterogeneous_graphs_are_refused(graph: Graph) -> None:
    with pytest.raises(InvalidData, match="one kind of node and edge"):
        trainer(HeteroData(), columns=4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target_epsilon": 1.0}, "target_epsilon"),
        ({"max_grad_norm": np.inf}, "max_grad_norm"),
        ({"at_once": 0}, "at_once"),
        ({"loss": "pairs"}, "losses of one sub-graph"),
        ({"outputs": 2, "loss": "mse", "targets": np.zeros(300)}, "regression needs one output"),
        ({"loss": "mse"}, "Give one for each node as targets"),
        ({"targets": np.zeros(300)}, "the labels of the graph"),
        ({"multiplier": -1.0}, "multiplier"),
    ],
)
def test_settings_that_cannot_be_are_refused(graph: Graph, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises((InvalidParameter, InvalidData), match=sentence):
        trainer(graph, **changes)


def test_too_little_noise_is_refused_before_the_work(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="noise_multiplier"):
        trainer(graph, noise_multiplier=1e-3).fit()


def test_a_second_run_is_refused_and_so_is_a_prediction_before_the_first(graph: Graph) -> None:
    made = trainer(graph)
    with pytest.raises(PrivetError, match=r"call fit\(\) first"):
        made.predict()
    made.fit()
    with pytest.raises(PrivetError, match="second budget"):
        made.fit()


def test_an_interrupted_training_cannot_be_repeated(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(graph, SAGEConv)
    real, calls = made._examples.clipped_sum, []

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(made._examples, "clipped_sum", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.fit()
    with pytest.raises(PrivetError, match="second budget"):
        made.fit()


def test_buffers_are_put_back_after_an_interrupted_training(graph: Graph) -> None:
    class Late(torch.nn.Module):
        """Keeps rows where the checks did not see it, and fails."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(graph.features.shape[1], 3)
            self.register_buffer("kept", torch.zeros(graph.features.shape[1]))

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            if wakes:
                self.kept.copy_(x.sum(0) + 1)
                raise KeyboardInterrupt
            return self.layer(x) * float(x.max() > -1e9)  # one by one

    wakes: list[int] = []
    made = PrivateTrainer(Late(), graph, noise_multiplier=4.0, batch_size=100, epochs=1, at_once=4)
    wakes.append(1)
    with pytest.raises(KeyboardInterrupt):
        made.fit()
    assert not made.module.kept.any()


def test_a_module_that_keeps_what_it_saw_is_refused(graph: Graph) -> None:
    class Keeping(torch.nn.Module):
        def __init__(self, keep: Any) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(graph.features.shape[1], 3)
            self.frozen = torch.nn.Parameter(torch.zeros(graph.features.shape[1]), requires_grad=False)
            self.keep, self.calls, self.table = keep, 0, {"rows": 0}

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            self.keep(self, x.detach())
            return self.layer(x)

    ways = {
        "frozen": lambda module, x: module.frozen.data.copy_(x[0]),
        "last": lambda module, x: setattr(module, "last", x),
        "_attention": lambda module, x: setattr(module, "_attention", x),
        "calls": lambda module, x: setattr(module, "calls", module.calls + 1),
        "rows": lambda module, x: module.table.update(rows=x),
    }
    for name, keep in ways.items():
        with pytest.raises(InvalidParameter, match=f"'{name}' changes in training"):
            PrivateTrainer(Keeping(keep), graph, noise_multiplier=4.0)


def test_too_few_outputs_are_refused_before_any_label_is_read(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="2 outputs, and the graph's schema declares 3 classes"):
        PrivateTrainer(SAGEConv(graph.features.shape[1], 2), graph, noise_multiplier=4.0)


def test_dropout_of_attention_passes(graph: Graph) -> None:
    assert trainer(graph, lambda *sizes: GATv2Conv(*sizes, dropout=0.5)).module is not None
