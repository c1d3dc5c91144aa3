"""Link prediction: one AUC at a time, for a system or one of its controls, on one graph, for one seed."""

from __future__ import annotations

import time
from dataclasses import replace

from privet.data import Graph, split_edges
from privet.errors import InvalidParameter
from privet.evaluation.measure import Measurement
from privet.mechanisms import SeededBits
from privet.systems import PrivGE, System
from privet.systems.controls import collect_raw, without_information

__all__ = ["LINK_KINDS", "measure_links"]

LINK_KINDS = ("private", "structure_only", "non_private")


def measure_links(kind: str, system: System, graph: Graph, seed: int) -> Measurement:
    """The AUC on test and validation links of an 85/5/10 split of the edges with as many non-edges.

    The topology that is collected from holds training edges only; this evaluator alone knows the test links.
    """
    if not isinstance(system, PrivGE):
        raise InvalidParameter("system", "measure_links", "privge", system.name)
    began = time.perf_counter()
    links = split_edges(graph, 0.05, 0.10, seed=seed)
    seeded, bits = replace(system, seed=seed), SeededBits(seed)
    if kind == "non_private":
        collected = collect_raw(seeded, links.graph, bits)
    else:
        source = without_information(links.graph) if kind == "structure_only" else links.graph
        collected = seeded.collect(source, bits)
    fitted = seeded.fit_links(collected, links.train, links.validation)
    return {
        "test": fitted.auc(links.test),
        "validation": fitted.auc(links.validation),
        "seconds": time.perf_counter() - began,
    }
