from __future__ import annotations

from privet.data import Graph
from privet.reproduction.figures.overlap import OverlappingHeterPoisson
from privet.reproduction.papers.heterpoisson import OVERLAP
from privet.systems import HeterPoisson
from privet.systems.central._training_view import TrainingView


def test_noise_is_calibrated_for_its_own_accountant(graph: Graph) -> None:
    plain = {"target_epsilon": 2.0, "batch_size": 60, "epochs": 2.0, "hidden_channels": 8, "multiplier": 1.0}
    kept, removed = OverlappingHeterPoisson(**plain), HeterPoisson(**plain)
    nodes = graph.num_nodes
    assert kept.noise_multiplier_for(nodes) > removed.noise_multiplier_for(nodes)
    assert kept.guarantee(graph).epsilon <= 2.0
    view = TrainingView.of(graph, "test")
    assert kept.sampler(view).keep_central
    assert not removed.sampler(view).keep_central
    column = next(each for each in OVERLAP.columns(removed) if each.key == "overlap")
    assert 0.1 < column.measure(column.subject(removed), graph, 0) <= 1
