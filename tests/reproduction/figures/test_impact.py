from __future__ import annotations

import numpy as np
import pytest

from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.reproduction.figures.impact import measure_impact
from privet.reproduction.figures.made_graphs import MADE
from privet.systems import HeterPoisson, PrivateMLP


@pytest.mark.parametrize("backbone", ["gcn", "gin", "sage"])
def test_more_listeners_mean_more_impact(backbone: str) -> None:
    system, graph = HeterPoisson(noise_multiplier=0.0, backbone=backbone), MADE["random-graph"]()
    means = [
        np.mean([measure_impact("private", system, graph, seed, share=share)["test"] for seed in range(8)])
        for share in (0.1, 0.5, 1.0)
    ]
    assert means[0] < means[1] < means[2]


def test_a_node_to_whom_nobody_listens_still_has_its_own_loss() -> None:
    system, graph = HeterPoisson(noise_multiplier=0.0), MADE["random-graph"]()
    alone = measure_impact("private", system, graph, 0, share=0.0)["test"]
    assert 0 < alone == measure_impact("private", system, graph, 0, share=0.0)["test"]


def test_bad_input() -> None:
    with pytest.raises(InvalidParameter, match="heterpoisson"):
        measure_impact("private", PrivateMLP(noise_multiplier=1.0), MADE["random-graph"](), 0)
    with pytest.raises(InvalidData, match="schema"):
        measure_impact("private", HeterPoisson(noise_multiplier=0.0), Graph.from_edges([[0], [1]], num_nodes=2), 0)
