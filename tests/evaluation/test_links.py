from __future__ import annotations

import pytest
from privet.evaluation.links import LINK_KINDS, measure_links

from privet.data import Graph
from privet.errors import InvalidParameter
from privet.systems import LPGNN, PrivGE


@pytest.mark.parametrize("kind", LINK_KINDS)
def test_every_kind_is_measured_and_repeats(kind: str, graph: Graph) -> None:
    system = PrivGE(epsilon_features=4.0, max_epochs=5, hidden_channels=8)
    one, two = (measure_links(kind, system, graph.replace(split=None), seed=1) for _ in range(2))
    assert 0.3 < one["test"] <= 1
    assert one["test"] == two["test"]


def test_other_systems_do_not_predict_links(graph: Graph) -> None:
    with pytest.raises(InvalidParameter, match="privge"):
        measure_links("private", LPGNN(), graph, seed=0)
