"""Link prediction: the AUC of PrivGE's table 2 and figure 4."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from privet.data import Graph, split_edges
from privet.errors import InvalidParameter
from privet.mechanisms import SeededBits
from privet.reproduction.measures import OWN, Column, Measure
from privet.systems import PrivGE
from privet.systems.controls import NON_PRIVATE, STRUCTURE_ONLY, collect_raw, without_information

__all__ = ["LINKS", "measure_links"]


def measure_links(kind: str, system: Any, graph: Graph, seed: int) -> float:
    """Return the AUC on the test links of an 85/5/10 split of the edges with as many non-edges.

    The topology that is collected from holds training edges only; this evaluator alone knows the test links.

    Args:
        kind: ``private``, or the key of a control: ``structure_only`` or ``non_private``.
        system: PrivGE with its hyper-parameters.
        graph: A graph with features and a schema.
        seed: The seed of the split, the reports and the training.
    """
    if not isinstance(system, PrivGE):
        raise InvalidParameter("system", "PrivGE", type(system).__name__)
    links = split_edges(graph, 0.05, 0.10, seed=seed)
    seeded, bits = replace(system, seed=seed), SeededBits(seed)
    if kind == NON_PRIVATE.key:
        collected = collect_raw(seeded, links.graph, bits)
    else:
        source = without_information(links.graph) if kind == STRUCTURE_ONLY.key else links.graph
        collected = seeded.collect(source, bits)
    return float(seeded.fit_links(collected, links.train, links.validation).auc(links.test))


def _column(key: str, short: str = "", title: str = "", subject: Any = lambda system: system) -> Column:
    def measure(system: Any, graph: Graph, seed: int) -> float:
        return measure_links(key, system, graph, seed)

    return Column(key, short, title, measure, subject)


_COLUMNS = (_column(OWN), *(_column(c.key, c.short, c.title, c.subject) for c in (STRUCTURE_ONLY, NON_PRIVATE)))
LINKS = Measure("links", "AUC (%)", lambda system: _COLUMNS)
