from __future__ import annotations

import numpy as np
import pytest

from privet.data import Graph, group_columns, social_graph, split_nodes
from privet.mechanisms import SeededBits
from privet.systems import GAP, LPGNN, RGNN, HeterPoisson, LocalSystem, PrivateMLP, PrivGE, Solitude
from privet.systems.controls import (
    STRUCTURE_ONLY,
    collect_raw,
    features_only,
    label_propagation,
    non_private,
    rival,
    simulate,
    structure_only,
    without_information,
)


@pytest.fixture(scope="module")
def graph() -> Graph:
    graph = social_graph(400, classes=3, features=12, homophily=0.95, feature_signal=0.95, average_degree=12, seed=0)
    return graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))


SYSTEM = LPGNN(epsilon_features=8.0, hops=2, max_epochs=40, seed=0)


def test_reports_without_information_do_not_depend_on_anybodys_features(graph: Graph) -> None:
    other = graph.replace(features=graph.features[::-1].copy())
    one = structure_only(SYSTEM, graph, SeededBits(0)).predict_proba()
    two = structure_only(SYSTEM, other, SeededBits(0)).predict_proba()
    assert (one == two).all()
    assert without_information(graph).features.nnz == 0
    assert graph.features.nnz > 0


@pytest.mark.parametrize("epsilon_labels", [None, 3.0])
def test_label_propagation_learns_from_homophily_alone(graph: Graph, epsilon_labels: float | None) -> None:
    system = LPGNN(epsilon_labels=epsilon_labels)
    fitted = label_propagation(system.collect(graph, SeededBits(0)))
    assert fitted.score(graph.labels, graph.split.test) > 0.8
    assert (fitted.guarantee is None) == (epsilon_labels is None)
    assert fitted.settings["hops"] >= 1


def test_features_only_never_reads_the_edges(graph: Graph) -> None:
    lonely = Graph.from_edges([[], []], graph.num_nodes).replace(
        features=graph.features, labels=graph.labels, split=graph.split, schema=graph.schema
    )
    one = features_only(SYSTEM.collect(graph, SeededBits(0)), max_epochs=10).predict_proba()
    two = features_only(SYSTEM.collect(lonely, SeededBits(0)), max_epochs=10).predict_proba()
    assert (one == two).all()


def test_features_only_learns_from_features(graph: Graph) -> None:
    rich = LPGNN(epsilon_features=60.0, mechanism="one-bit")
    fitted = features_only(rich.collect(graph, SeededBits(0)))
    assert fitted.score(graph.labels, graph.split.test) > 0.6
    assert fitted.guarantee.epsilon == 60.0


def test_the_upper_bound_is_not_private_and_says_so(graph: Graph) -> None:
    fitted = non_private(LPGNN(hops=2, max_epochs=60, epsilon_labels=1.0, seed=0), graph, SeededBits(0))
    assert fitted.guarantee is None
    assert fitted.score(graph.labels, graph.split.test) > 0.9
    raw = collect_raw(SYSTEM, graph, SeededBits(0))
    np.testing.assert_allclose(raw.estimate().dense(), graph.features.toarray())
    assert (raw.seen_labels()[graph.split.test] == -1).all()


def test_raw_categories_are_one_hot(graph: Graph) -> None:
    raw = collect_raw(RGNN(sample=2, epsilon_features=1.0), group_columns(graph, 1), SeededBits(0)).estimate().dense()
    codes = graph.features.toarray()
    np.testing.assert_allclose(raw[:, 1::2], codes)
    np.testing.assert_allclose(raw[:, ::2], 1 - codes)


QUICK = {"batch_size": 40, "epochs": 1.0, "hidden_channels": 8}
SYSTEMS = [
    LPGNN(hops=1, max_epochs=5),
    Solitude(epsilon_edges=6.0, max_epochs=5),
    HeterPoisson(noise_multiplier=2.0, **QUICK),
]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_control_is_trained_and_repeats(system, graph: Graph) -> None:
    controls = system.controls()
    assert len({control.key for control in controls}) == len(controls)
    for control in controls:
        one, two = (control.trained(system, graph, 3).score(graph.labels, graph.split.test) for _ in range(2))
        assert one == two
        assert 0.1 < one <= 1
        assert control.short
        assert control.title
    assert any(control.question for control in controls)


def test_a_subject_leaves_out_what_does_not_matter() -> None:
    one, two = (STRUCTURE_ONLY.subject(LPGNN(epsilon_features=budget)) for budget in (0.5, 4.0))
    assert one == two


def test_a_rival_trains_as_the_system_does() -> None:
    control = rival(GAP)
    subject = control.subject(HeterPoisson(target_epsilon=4.0, multiplier=0.0, **QUICK))
    assert isinstance(subject, GAP)
    assert (subject.target_epsilon, subject.batch_size) == (4.0, 40)
    assert control.key == "gap"
    assert rival(PrivateMLP).key == "private_mlp"


def test_a_system_is_no_control_of_itself() -> None:
    assert "private_mlp" not in [control.key for control in PrivateMLP(noise_multiplier=1.0).controls()]


def test_simulations_repeat(graph: Graph) -> None:
    one, two = (simulate(SYSTEM, graph, 4).predict_proba() for _ in range(2))
    assert (one == two).all()


@pytest.mark.parametrize(
    "system", [LPGNN(hops=16, max_epochs=60, seed=0), Solitude(feature_hops=16, max_epochs=60, seed=0)]
)
def test_without_privacy_settings_for_noise_do_not_make_it_a_poor_model(system: LocalSystem) -> None:
    """Sixteen steps of averaging blur raw features, so that fewer are chosen by validation labels."""
    graph = social_graph(400, classes=3, features=12, homophily=0.5, feature_signal=0.95, average_degree=12, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    public = system.without_privacy()
    as_it_is = public.fit(collect_raw(public, graph, SeededBits(0)))
    fair = non_private(system, graph, SeededBits(0))
    assert fair.settings[system.smoothing] < 16
    assert fair.validation_score > as_it_is.validation_score
    assert fair.score(graph.labels, graph.split.test) > as_it_is.score(graph.labels, graph.split.test) + 0.05


def test_only_the_number_of_steps_is_chosen_again() -> None:
    assert LPGNN(hops=1).on_raw_data() == (LPGNN(hops=1), LPGNN(hops=0))
    assert [each.feature_hops for each in Solitude(feature_hops=8).on_raw_data()] == [8, 2, 0]
    assert PrivGE().on_raw_data() == (PrivGE(),)
