from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from privet.evaluation.central import CENTRAL_KINDS, measure_central
from privet.evaluation.measure import EDGE_KINDS, measure
from privet.evaluation.run import run_system
from privet.evaluation.tasks import KIND_TITLES, TASKS, task_of

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.evaluation.choosing import system_for
from privet.systems import LPGNN, SYSTEMS, HeterPoisson, Solitude

QUICK = HeterPoisson(noise_multiplier=2.0, batch_size=40, epochs=1.0, hidden_channels=8)


def test_every_system_has_a_task_and_every_kind_a_name() -> None:
    for name in SYSTEMS:
        assert task_of(name) in TASKS
    for task in TASKS.values():
        assert set(task.kinds[1:]) <= set(KIND_TITLES)
        assert task.kinds[0] == "private"
        assert {kind for kind, _ in task.questions} <= set(task.kinds)


@pytest.mark.parametrize("kind", EDGE_KINDS)
def test_private_topologies_are_measured_and_repeat(kind: str, graph: Graph) -> None:
    system = Solitude(epsilon_edges=6.0, max_epochs=5)
    one, two = (measure(kind, system, graph, seed=3) for _ in range(2))
    assert 0.2 < one["test"] <= 1
    assert one["test"] == two["test"]


def test_a_schema_may_declare_the_edges_private(graph: Graph) -> None:
    private = graph.replace(schema=replace(graph.schema, private_edges=True))
    result = run_system(Solitude(epsilon_edges=6.0, max_epochs=3), private, "tiny", 1)
    assert set(result["controls"]) == set(EDGE_KINDS[1:])


def test_only_solitude_has_controls_on_a_noisy_graph(system: LPGNN, graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="solitude"):
        measure("noisy_graph", system, graph, seed=0)


@pytest.mark.parametrize("kind", CENTRAL_KINDS)
def test_central_systems_are_measured_and_repeat(kind: str, graph: Graph) -> None:
    one, two = (measure_central(kind, QUICK, graph, seed=3) for _ in range(2))
    assert 0.1 < one["test"] <= 1
    assert one["test"] == two["test"]


def test_a_central_run_states_its_guarantee(graph: Graph) -> None:
    result = run_system(QUICK, graph, "tiny", 2)
    guarantee = result["guarantee"]
    assert guarantee["model"] == "central"
    assert guarantee["epsilon"] == pytest.approx(QUICK.get_epsilon(graph.num_nodes**-1.1, num_nodes=graph.num_nodes))
    assert guarantee["delta"] == pytest.approx(graph.num_nodes**-1.1)
    assert "DP-SGD on an MLP" in result["verdict"]
    assert np.isfinite(result["mean"])


def test_a_run_without_noise_is_no_private_run(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="above 0"):
        run_system(replace(QUICK, noise_multiplier=0.0), graph, "tiny", 1)


def test_the_command_lines_words_are_the_systems_fields() -> None:
    assert system_for("solitude", "none", {"hops": 3}).settings()["feature_hops"] == 3
    central = system_for("heterpoisson", "none", {"epsilon": 3.0})
    assert central.settings()["target_epsilon"] == 3.0
    with pytest.raises(InvalidParameter, match="--epsilon"):
        system_for("heterpoisson", "none", {})
    with pytest.raises(InvalidParameter, match="a setting of heterpoisson"):
        system_for("heterpoisson", "none", {"epsilon_features": 1.0})
