"""What all central systems share: words, rates, the noisy step, and who may be read."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from privet.accounts.systems import account_central
from privet.data import Graph, Split, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.mechanisms import SeededBits, SystemBits
from privet.privacy import Unit
from privet.systems import SYSTEMS
from privet.systems.central._base import CentralSystem
from privet.systems.central._training_view import TrainingView
from privet.systems.central.gap import GAP
from privet.systems.central.heterpoisson import HeterPoisson
from privet.systems.central.ndp import NDP
from privet.systems.central.private_mlp import PrivateMLP
from privet.systems.central.smoothed_mlp import SmoothedMLP

ALARM = 1e-6
TRIED = [HeterPoisson, PrivateMLP, SmoothedMLP]

CENTRAL = {name: kind for name, kind in SYSTEMS.items() if kind.model == "central"}


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = social_graph(240, classes=3, average_degree=5, features=12, seed=0)
    return made.replace(split=split_nodes(made, 0.6, 0.1, seed=0))


def small(kind: type[CentralSystem], **changes: Any) -> CentralSystem:
    settings = {"noise_multiplier": 0.0, "batch_size": 80, "epochs": 2, "hidden_channels": 8, "seed": 3, **changes}
    return kind(**settings)


def test_rates_of_the_paper() -> None:
    system = PrivateMLP(noise_multiplier=1.0)
    assert (system.rate(22_470), system.steps(22_470)) == (4096 / 22_470, 50)
    assert system.steps(19_717) == 44
    assert system.rate(100) == 1.0
    assert system.delta_for(22_470) == pytest.approx(1 / 224_700)
    assert replace(system, delta="paper").delta_for(22_470) == pytest.approx(1.634e-5, rel=1e-3)
    assert replace(system, delta=1e-6).delta_for(22_470) == 1e-6


def test_calibration_keeps_its_promise_and_the_guarantee_has_a_unit() -> None:
    system = PrivateMLP(target_epsilon=2.0, batch_size=200)
    noise = system.noise_multiplier_for(1000)
    guarantee = system.guarantee(SimpleNamespace(num_nodes=1000))
    assert guarantee is not None
    assert (guarantee.model, guarantee.unit, guarantee.delta) == ("central", Unit.NODE, 1e-4)
    assert 1.9 < guarantee.epsilon <= 2.0
    given = replace(system, target_epsilon=None, noise_multiplier=noise)
    assert given.get_epsilon(1e-4, num_nodes=1000) == guarantee.epsilon
    assert given.get_epsilon(1e-6, num_nodes=1000) > guarantee.epsilon


def test_the_noise_multiplier_is_relative_to_the_clip() -> None:
    """Opacus' meaning: the guarantee depends on noise_multiplier and not on max_grad_norm."""
    one, other = (PrivateMLP(noise_multiplier=3.0, max_grad_norm=norm, batch_size=200) for norm in (0.5, 2.0))
    public = SimpleNamespace(num_nodes=1000)
    assert one.guarantee(public) == other.guarantee(public)


def test_heterpoisson_without_picks_costs_what_the_perceptron_costs() -> None:
    common: dict[str, Any] = {"noise_multiplier": 4.0, "batch_size": 10, "epochs": 2}
    free = PrivateMLP(**common).get_epsilon(1e-3, num_nodes=30)
    assert HeterPoisson(multiplier=0.0, **common).get_epsilon(1e-3, num_nodes=30) == free
    assert HeterPoisson(multiplier=1.0, **common).get_epsilon(1e-3, num_nodes=30) > 1.5 * free


def test_without_noise_there_is_no_guarantee() -> None:
    system = PrivateMLP(target_epsilon=1.0).without_privacy()
    assert system.guarantee(SimpleNamespace(num_nodes=1000)) is None
    assert system.release(SimpleNamespace(num_nodes=1000)).lines() == ()
    assert system.get_epsilon(1e-5, num_nodes=1000) == math.inf


@pytest.mark.parametrize(("multiplier", "bound"), [(2.0, 0.5), (1.0, 3.0)])
def test_a_step_adds_noise_of_the_stated_scale_to_the_sum_and_divides_by_the_expected_size(
    multiplier: float, bound: float
) -> None:
    """An empty batch releases noise alone; with SGD at rate 1 the weights move by it."""
    system = PrivateMLP(
        noise_multiplier=multiplier, max_grad_norm=bound, batch_size=20, epochs=0.1, optimizer="sgd", learning_rate=1.0
    )
    network = nn.Sequential(nn.Linear(200, 150))
    start = torch.cat([p.detach().flatten().clone() for p in network.parameters()])
    empty = np.zeros((0, 200), np.float32), np.zeros(0, np.int64)
    assert system.steps(100) == 1
    system.descend(network, lambda: empty, 100, SeededBits(0), progress=False)
    moved = start - torch.cat([p.detach().flatten() for p in network.parameters()])
    scaled = moved.double().numpy() * 20 / (multiplier * bound)
    assert stats.kstest(scaled, "norm").pvalue > ALARM


def test_the_realised_batch_size_does_not_matter() -> None:
    """Twice the same rows move the weights twice as far: nothing is divided by how many there were."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(7, 4)).astype(np.float32), rng.integers(3, size=7)
    moves = []
    for times in (1, 2):
        system = PrivateMLP(noise_multiplier=0.0, optimizer="sgd", learning_rate=0.1, batch_size=20, epochs=0.1)
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(4, 3))
        before = network[0].weight.detach().clone()
        batch = np.repeat(x, times, axis=0), np.repeat(y, times)
        system.descend(network, lambda batch=batch: batch, 100, SeededBits(0), progress=False)
        moves.append(network[0].weight.detach() - before)
    torch.testing.assert_close(2 * moves[0], moves[1])


@pytest.mark.parametrize("kind", TRIED)
def test_labels_outside_training_cannot_reach_fit(kind: type[CentralSystem], graph: Graph) -> None:
    hidden = graph.replace(labels=np.where(graph.split.train, graph.labels, (graph.labels + 1) % 3))
    one, other = small(kind).fit(graph), small(kind).fit(hidden)
    assert np.array_equal(one.probabilities, other.probabilities, equal_nan=True)
    trained = graph.replace(labels=np.where(graph.split.train, (graph.labels + 1) % 3, graph.labels))
    assert not np.array_equal(one.probabilities, small(kind).fit(trained).probabilities, equal_nan=True)


@pytest.mark.parametrize("kind", TRIED)
def test_a_seed_repeats_bit_for_bit_and_its_absence_does_not(kind: type[CentralSystem], graph: Graph) -> None:
    system = small(kind, noise_multiplier=1.0, **({"multiplier": 0.0} if kind is HeterPoisson else {}))
    first, second = system.fit(graph), system.fit(graph)
    assert np.array_equal(first.probabilities, second.probabilities, equal_nan=True)
    assert first.weights.keys() == second.weights.keys()
    assert all(np.array_equal(first.weights[name], second.weights[name]) for name in first.weights)
    assert not np.array_equal(replace(system, seed=4).fit(graph).probabilities, first.probabilities, equal_nan=True)
    unseeded = replace(system, seed=None)
    assert isinstance(unseeded.bits(), SystemBits)
    assert not np.array_equal(unseeded.fit(graph).probabilities, unseeded.fit(graph).probabilities, equal_nan=True)


@pytest.mark.parametrize("kind", TRIED)
def test_nothing_is_predicted_for_training_nodes(kind: type[CentralSystem], graph: Graph) -> None:
    fitted = small(kind).fit(graph)
    assert np.isnan(fitted.probabilities[graph.split.train]).all()
    assert (fitted.predict()[graph.split.train] == -1).all()
    asked = fitted.probabilities[~graph.split.train]
    assert asked.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (asked != np.float32(1 / 3)).any(axis=1).all()
    assert fitted.lines == small(kind).release(graph).lines()


@pytest.mark.parametrize("kind", TRIED)
def test_nodes_in_no_part_are_not_read(kind: type[CentralSystem], graph: Graph) -> None:
    """A node that does not take part may have any features, labels and edges: no figure changes."""
    outside = graph.split.train & (np.arange(graph.num_nodes) % 3 == 0)
    split = Split(graph.split.train & ~outside, graph.split.validation, graph.split.test)
    features = graph.features.toarray()
    features[outside] = 1 - features[outside]
    without = graph.replace(split=split)
    changed = without.replace(features=features, labels=np.where(outside, (graph.labels + 1) % 3, graph.labels))
    one, other = (small(kind).fit(each).probabilities for each in (without, changed))
    assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("kind", [*TRIED, GAP, NDP])
def test_a_released_model_applies_to_another_graph(kind: type[CentralSystem], graph: Graph) -> None:
    """On the open part of its own graph it predicts what it predicted; on a graph of another width it is refused."""
    system = small(kind, **({"test_neighbours": None} if issubclass(kind, HeterPoisson) else {}))
    fitted = system.fit(graph)
    nodes = np.flatnonzero(~graph.split.train)
    if kind in (PrivateMLP, SmoothedMLP) or (kind is HeterPoisson and system.backbone != "gcn"):
        found = system.apply(fitted, graph.subgraph(nodes))
        np.testing.assert_allclose(found, fitted.probabilities[nodes], rtol=1e-5, atol=1e-6)
    bare = graph.replace(split=None)
    assert system.apply(fitted, bare).shape == (240, 3)
    with pytest.raises(InvalidData, match="training nodes, which are protected"):
        system.apply(fitted, graph)
    with pytest.raises(InvalidData, match="as wide as the training graph"):
        system.apply(fitted, bare.replace(schema=None, features=np.ones((240, 5), np.float32)))
    with pytest.raises(InvalidData, match="has no features"):
        system.apply(fitted, graph.replace(features=None))


@pytest.mark.parametrize("kind", TRIED)
@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"noise_multiplier": None, "target_epsilon": -1.0}, "target_epsilon"),
        ({"noise_multiplier": -1.0}, "noise_multiplier"),
        ({"noise_multiplier": 1.0, "max_grad_norm": math.inf}, "max_grad_norm"),
        ({"max_grad_norm": 0.0}, "max_grad_norm"),
        ({"delta": 1.0}, "delta"),
        ({"batch_size": 0}, "batch_size"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": math.nan}, "learning_rate"),
        ({"hidden_channels": 0}, "hidden_channels"),
        ({"num_layers": 0}, "num_layers"),
        ({"optimizer": "lion"}, "optimizer"),
        ({"noise": "uniform"}, "noise"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_parameters_in_one_sentence(kind: type[CentralSystem], changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} must be [^\n]*, not"):
        small(kind, **changes)


@pytest.mark.parametrize("kind", TRIED)
@pytest.mark.parametrize("changes", [{"target_epsilon": 1.0}, {"noise_multiplier": None}])
def test_one_setting_says_how_much_noise_there_is(kind: type[CentralSystem], changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"^Give exactly one of 'target_epsilon'[^\n]*, not"):
        small(kind, **changes)


@pytest.mark.parametrize("kind", TRIED)
def test_batch_norm_is_refused_with_the_reason(kind: type[CentralSystem]) -> None:
    with pytest.raises(InvalidParameter, match="depend on all the others"):
        small(kind, batch_norm=True)


@pytest.mark.parametrize("missing", ["features", "labels", "split"])
def test_incomplete_graphs_are_refused(graph: Graph, missing: str) -> None:
    with pytest.raises(InvalidData, match=rf"needs features, .* this graph has no {missing}\."):
        small(PrivateMLP).fit(graph.replace(**{missing: None}))
    nobody = np.zeros(graph.num_nodes, bool)
    with pytest.raises(InvalidData, match="found no labelled training node"):
        small(PrivateMLP).fit(graph.replace(split=Split(nobody, nobody, ~nobody)))


@pytest.mark.parametrize("kind", CENTRAL.values(), ids=lambda kind: kind.name)
def test_edge_weights_are_refused_and_not_dropped(kind: type[CentralSystem], graph: Graph) -> None:
    weighted = graph.replace(adjacency=graph.adjacency * np.float32(0.5))
    with pytest.raises(InvalidData, match=rf"{kind.__name__} reads edges, and no weights on them"):
        kind(noise_multiplier=4.0).fit(weighted)
    kind(noise_multiplier=4.0).check(
        weighted.replace(adjacency=(weighted.adjacency != 0).astype("float32"))
    )  # as the sentence says


@pytest.mark.parametrize("kind", CENTRAL.values(), ids=lambda kind: kind.name)
def test_predictions_do_not_depend_on_a_protected_nodes_edges(kind) -> None:
    """Node 0 is protected; its edges to open nodes decide none of their predictions, which carry no noise."""
    rng = np.random.default_rng(0)
    nodes, train = 60, np.arange(60) < 30
    among_open = np.array([(i, j) for i in range(30, 60) for j in range(i + 1, 60) if rng.random() < 0.3]).T
    protected = np.stack([np.zeros(20, dtype=int), np.arange(30, 50)])
    features, labels = rng.normal(size=(nodes, 6)).astype(np.float32), np.where(train, 0, -1)
    system = kind(noise_multiplier=1.0, seed=0)
    network, found = system.network(6, 2), []
    for edges in (np.concatenate([among_open, protected], axis=1), among_open):
        view = TrainingView(Graph.from_edges(edges, nodes), features, labels, train, ~train, 2)
        found.append(system.infer(network, view, SeededBits(0)))
    assert np.array_equal(*found)


def test_a_seed_is_not_stored_and_is_confessed(graph: Graph) -> None:
    system = PrivateMLP(noise_multiplier=5.0, batch_size=20, epochs=1, hidden_channels=4, seed=3)
    fitted = system.fit(graph)
    assert "seed" not in fitted.settings
    assert any("seed" in line for line in fitted.guarantee.unprotected)
    assert not any("seed" in line for line in replace(system, seed=None).guarantee(graph).unprotected)


@pytest.mark.parametrize("kind", [NDP, GAP])
def test_a_bound_on_degrees_makes_edges_public(kind) -> None:
    assert "keeps are public" in kind(noise_multiplier=5.0).guarantee(SimpleNamespace(num_nodes=100)).adjacency


def test_noise_that_promises_nothing_is_refused_before_training(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="epsilon is finite"):
        PrivateMLP(noise_multiplier=1e-8, batch_size=20).fit(graph)


@pytest.mark.parametrize("kind", CENTRAL.values(), ids=lambda kind: kind.name)
def test_a_run_an_account_and_a_ledger_say_the_same(kind: type[CentralSystem], graph: Graph) -> None:
    """What a run promises of a process is what an account of that process says, word for word."""
    system = kind(noise_multiplier=20.0, batch_size=40, epochs=1)
    release = system.release(graph)
    parameters = {name: value for name, value in release.process.to_dict().items() if name != "process"}
    found = account_central(kind, noise_multiplier=20.0, **parameters)
    assert found.guarantee == system.guarantee(graph) == release.guarantee()
    (line,) = release.lines()
    assert (line.epsilon, line.delta, line.unit) == (found.guarantee.epsilon, found.guarantee.delta, "node")
    assert system.get_epsilon(release.delta, num_nodes=graph.num_nodes) == found.guarantee.epsilon


def test_what_others_are_compared_with_says_so() -> None:
    titled = {name for name, kind in CENTRAL.items() if kind.baseline is not None}
    assert titled == {"private-mlp", "smoothed-mlp", "gap", "ndp", "progap", "dpar"}
    assert all(SYSTEMS[name].baseline_short for name in titled)


@pytest.mark.parametrize("wrong", [0.0, 1.0, "papers"])
def test_what_is_no_delta_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="delta must be above 0 and below 1"):
        PrivateMLP(noise_multiplier=1.0, delta=wrong)
    assert PrivateMLP(noise_multiplier=1.0, delta=0.1).release(SimpleNamespace(num_nodes=2)).delta == 0.1


def test_every_control_that_does_without_protected_data_can_decide() -> None:
    """The strongest of them does; GAP and the others read protected edges and features themselves."""
    asking = {control.key: control.question for control in CENTRAL["heterpoisson"](noise_multiplier=1.0).controls()}
    assert {key: question for key, question in asking.items() if question} == {
        "structure_alone": "the features",
        "private_mlp": "the edges",
        "smoothed_mlp": "the protected edges",
        "majority": "the private data",
    }
