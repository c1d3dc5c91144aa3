"""PrivateTrainer on links: sensitivity, predictions for pairs, refusals."""

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
from torch_geometric.nn import GATv2Conv, GCNConv, SAGEConv

from privet.data import Graph, social_graph, split_nodes
from privet.data.interop import to_pyg
from privet.data.splits import split_edges
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.systems import HeterPoisson
from privet.systems.central._training_view import TrainingView
from privet.systems.central.trainer import PrivateTrainer
from privet.systems.central.trainer.link_prediction import LinkPrediction
from privet.systems.fitted import Fitted

pytestmark = pytest.mark.usefixtures("few_tries")


class Net(nn.Module):
    def __init__(self, layer: Any, columns: int) -> None:
        super().__init__()
        self.first, self.drop = layer(columns, 6), nn.Dropout(0.2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.drop(self.first(x, edge_index))


class Odd(Net):
    """A parameter in an exponential, for which there is no closed form."""

    def __init__(self, layer: Any, columns: int) -> None:
        super().__init__(layer, columns)
        self.heat = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) * self.heat.exp()


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(300, classes=3, average_degree=10, homophily=0.9, feature_signal=0.9, seed=0)
    return made.replace(split=split_nodes(made, 0.5, 0.1, seed=0), labels=None)


def trainer(graph: Any, layer: Any = SAGEConv, kind: Any = Net, columns: int | None = None, **changes: Any) -> Any:
    torch.manual_seed(0)
    width = graph.features.shape[1] if columns is None else columns
    small = {"noise_multiplier": 2.0, "batch_size": 100, "epochs": 1, "at_once": 16, "seed": 0, "loss": "links"}
    return PrivateTrainer(kind(layer, width), graph, **{**small, **changes})


@pytest.fixture(scope="module")
def fitted(graph: Graph) -> Any:
    return trainer(graph).fit()


EXAMPLES: dict[Any, PrivateTrainer] = {}


@given(
    st.integers(0, 2**32), st.integers(3, 10), st.booleans(), st.sampled_from([0.0, 1.0]),
    st.sampled_from([(GCNConv, Net), (SAGEConv, Net), (GATv2Conv, Net), (SAGEConv, Odd)]),
)  # fmt: skip
@settings(max_examples=80)
def test_sensitivity_of_the_clipped_sum(
    seed: int, nodes: int, is_central: bool, multiplier: float, module: tuple[Any, Any]
) -> None:
    """Given all coins, node 0's presence moves the sum by at most C if it is central, else by 2 C a touched sub-graph.

    Both hold in integers, on the grid, and sub-graphs that it is not in keep their gradients to the bit.
    """
    rng = np.random.default_rng(seed)
    with_node = random_graph(rng, nodes)
    part = with_node.split
    if not (part.validation | part.test).any():
        return
    falls, coins = rng.random(nodes) < 0.6, rng.random(with_node.adjacency.nnz) < (0.7 if multiplier else 0.0)
    falls[0] = is_central
    system = HeterPoisson(noise_multiplier=1.0, batch_size=5, multiplier=multiplier)
    if module not in EXAMPLES:  # lanes are tested once
        EXAMPLES[module] = trainer(with_node, *module, at_once=8)
        assert EXAMPLES[module].engine.startswith("vmap")
    made, task = EXAMPLES[module], LinkPrediction(part.validation | part.test)
    secrets = rng.integers(2**62, size=nodes)
    sums, touched = [], 0
    for here in (with_node, without_node(with_node, 0)):
        view = TrainingView.of(here, "test")
        sampled = system.sampler(view).form(np.flatnonzero(falls & view.members), lambda entries: coins[entries])
        touched = touched or int((sampled.peripheral == 0).sum())
        batch = task.examples(sampled, secrets[sampled.central])
        targets, keys = task.targets[batch.central], secrets[batch.central] + 1
        sums.append(made._examples.clipped_sum(batch, view.features, targets, keys, 0.5).values)
    squared = sum(value * value for value in (sums[0] - sums[1]).tolist())
    assert squared <= ((1 if is_central else 2 * touched) * 2**37) ** 2


def test_epsilon_is_that_of_the_same_settings(graph: Graph) -> None:
    made = trainer(graph, multiplier=1.0, noise_multiplier=9.0)
    system = HeterPoisson(noise_multiplier=9.0, batch_size=100, epochs=1, multiplier=1.0)
    assert made.guarantee == replace(system, seed=0).guarantee(300)


@pytest.mark.parametrize("multiplier", [0.0, 2.0])
def test_it_learns(graph: Graph, multiplier: float) -> None:
    """Without noise, the trained module ranks held-out links clearly better than its first weights do."""
    links = split_edges(graph, 0.0, 0.5, seed=0, nodes=graph.split.test)
    pairs = np.concatenate([links.test.edges, links.test.non_edges], axis=1)
    exists = np.arange(pairs.shape[1]) < links.test.edges.shape[1]
    few = {"batch_size": 300, "epochs": 12, "learning_rate": 0.1, "noise_multiplier": 0.0}
    made = trainer(links.graph, multiplier=multiplier, **few).fit()
    untrained = trainer(links.graph, learning_rate=1e-12).fit()
    assert made.score(pairs=pairs, exists=exists) > untrained.score(pairs=pairs, exists=exists) + 0.05


def test_pairs_of_unprotected_nodes_have_a_probability(graph: Graph, fitted: Any) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(300, size=(2, 400))
    chances = fitted.predict_links(pairs)
    assert chances.shape == (400,)
    assert np.array_equal(np.isnan(chances), graph.split.train[pairs].any(axis=0))
    known = chances[~np.isnan(chances)]
    assert ((known > 0) & (known < 1)).all()
    np.testing.assert_allclose(fitted.predict_links(pairs[::-1]), chances, rtol=1e-5)
    assert fitted.predict_links(np.zeros((2, 0), dtype=np.int64)).shape == (0,)


def test_a_pair_s_own_edge_is_not_heard(graph: Graph) -> None:
    """The score of a link is that of the same module over the graph without it."""
    open_nodes = graph.split.validation | graph.split.test
    ends = graph.edges[:, open_nodes[graph.edges].all(axis=0)][:, :20]
    made = trainer(graph, test_neighbours=None).fit()
    found = made.predict_links(ends)
    view = made._view()
    for number, (u, v) in enumerate(ends.T.tolist()):
        adjacency = view.among_unprotected().tolil()
        adjacency[u, v] = adjacency[v, u] = 0
        around, features = sp.csr_array(adjacency), torch.from_numpy(graph.features.toarray())
        scores = []
        for one, other in ((u, v), (v, u)):
            heard = around[[one]].nonzero()[1]
            edges = torch.tensor([list(range(1, 1 + len(heard))), [0] * len(heard)], dtype=torch.int64)
            with torch.no_grad():
                h = made.module(features[[one, *heard.tolist()]], edges)[0]
                g = made.module(features[[other]], torch.zeros(2, 0, dtype=torch.int64))[0]
            scores.append(float(h @ g) / 6**0.5)
        assert found[number] == pytest.approx(1 / (1 + np.exp(-np.mean(scores))), rel=1e-4)


def test_a_prediction_reads_no_training_node(graph: Graph, fitted: Any) -> None:
    pairs = np.stack(np.nonzero(graph.split.test[:, None] & graph.split.test))[:, ::50]
    before = fitted.predict_links(pairs)
    hidden = np.where(graph.split.train, np.nan, 1.0).astype(np.float32)[:, None] * graph.features.toarray()
    inference = replace(fitted._predictions, features=hidden)
    heard, alone = inference.rows(), inference.rows(alone=True)
    chances = torch.from_numpy(inference.link_scores(pairs, heard, alone)).sigmoid().numpy()
    np.testing.assert_allclose(chances, before, rtol=1e-5)


def test_what_is_saved_has_no_row_of_a_protected_node(graph: Graph, fitted: Any, tmp_path: Any) -> None:
    result = fitted.fitted()
    assert result.guarantee == fitted.guarantee
    assert result.embedding.shape == (300, 12)
    assert np.array_equal(np.isnan(result.embedding).all(axis=1), graph.split.train)
    assert not result.predicted().any()
    assert (result.predict() == -1).all()
    result.save(tmp_path / "model")
    loaded = Fitted.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.embedding, result.embedding)
    u, v = np.flatnonzero(graph.split.test)[[0, 5]]
    assert not graph.adjacency[u, v]
    rows = loaded.embedding
    score = (rows[u, :6] @ rows[v, 6:] + rows[v, :6] @ rows[u, 6:]) / 2 / 6**0.5
    assert fitted.predict_links([[u], [v]])[0] == pytest.approx(1 / (1 + np.exp(-score)), rel=1e-4)


def test_pyg_data_needs_no_labels(graph: Graph) -> None:
    data = to_pyg(graph)
    data.y = torch.full((300,), 0.5)  # of another kind than classes
    assert trainer(data, columns=graph.features.shape[1]).fit().predict_links([[0], [1]]).shape == (1,)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda made: made.predict(), r"use predict_links\(pairs\)"),
        (lambda made: made.predict_proba(), r"use predict_links\(pairs\)"),
        (lambda made: made.score(), r"score\(pairs=..., exists=...\)"),
        (lambda made: made.predict_links([1, 2, 3]), r"integers of shape \[2, n\]"),
        (lambda made: made.predict_links([[1, 2], [3]]), r"integers of shape \[2, n\]"),
        (lambda made: made.predict_links(None), r"integers of shape \[2, n\]"),
        (lambda made: made.predict_links([["a"], ["b"]]), r"integers of shape \[2, n\]"),
        (lambda made: made.predict_links([[1.5], [2.5]]), r"integers of shape \[2, n\]"),
        (lambda made: made.predict_links([[-1], [300]]), "from 0 to 299"),
        (lambda made: made.predict_links([(1, 2), (3, 4), (5, 6)]), r"stand in 3 rows, .* give np.asarray\(pairs\).T"),
        (lambda made: made.predict_links(torch.ones(2, 3, requires_grad=True)), r"integers of shape \[2, n\]"),
        (
            lambda made: made.score(pairs=[[1], [2]], exists=[[True], [True, False]]),
            "True or False for each of 1 pairs",
        ),
        (lambda made: made.score(pairs=[[1], [2]], exists=[True, False]), "True or False for each of 1 pairs"),
        (lambda made: made.score(pairs=[[1], [2]], exists=[1]), "True or False for each of 1 pairs"),
        (lambda made: made.score(pairs=np.zeros((2, 0), int), exists=np.zeros(0, bool)), "a link and a non-link"),
    ],
)
def test_other_questions_are_answered_with_a_sentence(fitted: Any, call: Any, sentence: str) -> None:
    with pytest.raises(PrivetError, match=sentence):
        call(fitted)


def test_links_need_unprotected_nodes_that_training_knows(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="transductive with loss='links'"):
        trainer(graph, setting="inductive")
    everybody = graph.replace(split=split_nodes(300, 1.0, 0.0, seed=0))
    with pytest.raises(InvalidData, match="validation or test nodes"):
        trainer(everybody)
    with pytest.raises(PrivetError, match=r"call fit\(\) first"):
        trainer(graph).predict_links([[0], [1]])


def test_a_classifier_has_no_links(graph: Graph) -> None:
    labelled = social_graph(300, classes=3, seed=0).replace(split=graph.split)
    made = trainer(labelled, loss="cross_entropy").fit()
    for call in (lambda: made.predict_links([[0], [1]]), lambda: made.score(pairs=[[0], [1]], exists=[True])):
        with pytest.raises(PrivetError, match="loss='links'"):
            call()
