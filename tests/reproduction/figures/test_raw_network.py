from __future__ import annotations

import numpy as np
import pytest

from privet.data import social_graph, split_nodes
from privet.errors import InvalidData
from privet.reproduction.figures.raw_network import RAW_GRAPH, RAW_NETWORK, raw_network
from privet.systems import Inquiry


def test_raw_data_tell_the_class_and_private_settings_do_not_matter() -> None:
    graph = social_graph(300, classes=3, average_degree=12, homophily=0.9, features=12, seed=0)
    graph = graph.replace(split=split_nodes(graph, 0.5, 0.25, seed=0))
    for control in (RAW_NETWORK, RAW_GRAPH):
        cheap, dear = (control.trained(Inquiry(epsilon_edges=eps), graph, 0) for eps in (0.1, 4.0))
        np.testing.assert_array_equal(cheap.probabilities, dear.probabilities)
        assert cheap.score(graph.labels, graph.split.test) > 0.8  # 0.33 by chance


def test_a_graph_without_a_split_is_refused() -> None:
    with pytest.raises(InvalidData, match="needs features"):
        raw_network(social_graph(60, seed=0), 0)
