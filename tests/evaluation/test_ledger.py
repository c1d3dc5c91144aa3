from __future__ import annotations

import pytest

from privet.data import Graph
from privet.evaluation.ledger import ledger
from privet.systems import LPGNN, HeterPoisson, Solitude

CASES = [
    (LPGNN(epsilon_features=2.0), ["features"]),
    (LPGNN(epsilon_features=2.0, epsilon_labels=1.0), ["features", "label"]),
    (LPGNN(mechanism="analytic-gaussian", delta=1e-4), ["features"]),
    (Solitude(epsilon_edges=7.0), ["features", "neighbour list"]),
    (Solitude(epsilon_edges=7.0, degrees="reported"), ["features", "neighbour list", "length of the list"]),
    (HeterPoisson(noise_multiplier=4.0, batch_size=60), ["training"]),
]


@pytest.mark.parametrize(("system", "parts"), CASES, ids=lambda case: getattr(case, "name", ""))
def test_the_entries_add_up_to_the_guarantee(system: LPGNN, parts: list[str], graph: Graph) -> None:
    entries = ledger(system, graph)
    promised = system.promise(graph)
    assert [entry["part"] for entry in entries] == parts
    assert sum(entry["epsilon"] for entry in entries) == pytest.approx(promised.epsilon)
    assert sum(entry["delta"] for entry in entries) == pytest.approx(promised.delta)


def test_a_central_run_says_how_often_it_looked(graph: Graph) -> None:
    (entry,) = ledger(HeterPoisson(noise_multiplier=4.0, batch_size=60, epochs=3.0), graph)
    assert (entry["steps"], entry["rate"], entry["noise_multiplier"]) == (12, 0.25, 4.0)
