from __future__ import annotations

import math

import numpy as np
import pytest

from privet.data import Graph, social_graph, split_nodes
from privet.errors import InvalidData, InvalidParameter
from privet.estimation.answers.answer_models import KnownAccuracy, best_offers
from privet.mechanisms import OfferedResponse
from privet.reproduction.papers.inquiry.measures import (
    PRIORS,
    RAW_GRAPH,
    RAW_NETWORK,
    answer_worth,
    measure_worth,
    raw_network,
)
from privet.systems import LPGNN, Inquiry


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_what_is_drawn_is_what_offers_are_chosen_by(prior: tuple[float, ...], epsilon: float) -> None:
    worth = {options: answer_worth(np.array(prior), options, epsilon) for options in range(2, 9)}
    mechanism = OfferedResponse(epsilon=epsilon, most=8)
    offers, nats = best_offers(np.log([prior]), KnownAccuracy(0.9, 8), mechanism)
    assert max(worth, key=lambda options: worth[options]) == (offers >= 0).sum()
    assert max(worth.values()) == pytest.approx(float(nats[0]) / math.log(2))


def test_a_sure_answer_without_noise_is_worth_the_entropy() -> None:
    assert answer_worth(np.full(4, 0.25), 4, 25.0, accuracy=1 - 1e-9) == pytest.approx(2.0, abs=1e-4)
    assert answer_worth(np.full(4, 0.25), 4, 1.0, accuracy=0.25) == pytest.approx(0.0, abs=1e-12)


def test_only_inquiry_has_a_worth(graph: Graph) -> None:
    found = measure_worth("private", Inquiry(epsilon_features=1.0), graph, 0, prior="sharp", options=3)
    assert found == answer_worth(np.array(PRIORS["sharp"]), 3, 1.0)
    with pytest.raises(InvalidParameter, match="inquiry"):
        measure_worth("private", LPGNN(), graph, 0)


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
