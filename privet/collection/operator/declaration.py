"""The declaration of a study: its first round, the plan of later ones, and everything that the manifest binds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.operator.folder import Declared
from privet.collection.operator.received import split_labelled
from privet.collection.study.manifest import Study
from privet.data import Graph, Schema
from privet.data.population import Population
from privet.errors import InvalidData
from privet.privacy import Unit
from privet.release import LocalRelease
from privet.release.blobs import array_digest, blob_of
from privet.systems import Collected, LocalSystem

__all__ = ["declare", "invited"]


def declare(
    document: dict[str, Any],
    schema: Schema,
    system: LocalSystem,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    panel: NDArray[np.int64] | None = None,
    people: NDArray[np.int64] | None = None,
) -> Declared:
    """Draw up the first round of a study, and the plan of all rounds.

    Args:
        document: The other fields of the manifest, such as its title.
        system: The system whose questions are asked; its settings are the rule by which people are asked.
        graph: The public topology; None if it is asked about, or given when the model is trained.
        labels: Public classes, -1 where unknown; None if they are asked for, or given when the model is trained.
        panel: The ids of the people who are asked to show features and class as they are.
        people: The ids of those who are asked in the first round; by default whom the system invites.
    """
    nodes, bound = int(document["nodes"]), _Bound()
    planned = system.release(Population(schema, nodes))
    known = np.full(nodes, -1, dtype=np.int64) if labels is None else labels
    adjacency = sp.csr_array((nodes, nodes), dtype=np.float32) if graph is None else graph.adjacency
    public = Graph(adjacency, labels=known, schema=schema)
    if labels is not None:
        public = public.replace(split=split_labelled(np.flatnonzero(labels >= 0), nodes, seed=system.seed))
    _check_study(system, planned, public, panel)
    _check_inputs(planned, schema, graph, labels, early=any(each.ask.attachments() for each in planned.questions))
    opened = system.opened(public)
    release = system.next_round(opened)
    if release is None:
        raise InvalidData(f"{system.name} asks nobody anything with these settings, so there is no study.")
    later = len(release.questions) < len(planned.questions)
    _check_inputs(planned, schema, graph, labels, early=later)
    release, whom = release.sealed(), invited(system, release, opened) if people is None else people
    study = Study.read(
        document
        | {
            "schema": schema,
            "release": release.to_list(),
            "plan": {
                "system": system.name,
                "settings": _settings(system, bound, None if panel is None else len(panel) / nodes),
                "questions": [question.declared() for question in planned.questions],
            },
            "panel": None if panel is None else bound.digest(np.unique(panel).astype(np.int32)),
            "people": None if whom is None else bound.digest(np.unique(whom).astype(np.int32)),
            "inputs": {
                "edges": None if graph is None else bound.digest(_pairs(graph)),
                "labels": None if labels is None else bound.digest(labels.astype(np.int32)),
            },
        }
    )
    return Declared(study, tuple(bound.blobs), tuple(question.ask for question in release.questions))


def invited(system: LocalSystem, release: LocalRelease, collected: Collected) -> NDArray[np.int64] | None:
    """Return whom a round asks: those whom all its questions are for; None for everybody.

    Args:
        system: The system of the plan.
        release: The questions of the round, with their tables.
        collected: Everything that the server holds before it.
    """
    people = None
    for question in release.questions:
        some = system.invited(question, collected)
        if some is not None:
            people = some if people is None else np.intersect1d(people, some)
    return people


class _Bound:
    """The public arrays of a manifest."""

    def __init__(self) -> None:
        self.blobs: list[bytes] = []

    def digest(self, array: NDArray[Any]) -> str:
        self.blobs.append(blob_of(array))
        return array_digest(array)


def _settings(system: LocalSystem, bound: _Bound, panel: float | None) -> dict[str, Any]:
    """Return the settings that make the system again; arrays are bound by their digests, a panel is named elsewhere."""
    defaults, plain = {each.name: each.default for each in fields(system)}, system.settings()
    settings = {name: value for name, value in plain.items() if value is not None or defaults[name] is not None}
    for name in list(settings):
        value = getattr(system, name)
        if callable(value):
            raise InvalidData(f"A manifest cannot state a function. Give {name} as a matrix of weights.")
        if isinstance(value, np.ndarray):
            settings[name] = bound.digest(value)
    if panel is not None:
        settings["panel"] = panel
    return settings | {"seed": system.seed or 0}


def _pairs(graph: Graph) -> NDArray[np.int32]:
    upper = sp.triu(graph.adjacency, format="coo")
    order = np.lexsort((upper.col, upper.row))
    return np.stack([upper.row[order], upper.col[order]], axis=1).astype(np.int32)


def _check_study(system: LocalSystem, planned: LocalRelease, public: Graph, panel: NDArray[np.int64] | None) -> None:
    """Refuse a system that needs somebody or something that a study does not have."""
    if planned.aggregated:
        raise InvalidData(
            f"{system.name} with these settings needs a trusted aggregator or two servers, and a study has neither. "
            "Use a panel or a pilot in their place."
        )
    has_panel = getattr(system, "panel", None) is not None
    if has_panel and panel is None:
        raise InvalidData(f"{system.name} learns from a panel. Name the people who show their features and class.")
    if panel is not None and not has_panel:
        raise InvalidData(f"{system.name} with these settings learns nothing from a panel. Leave the panel out.")
    if not has_panel and system.shows(public) is not None:
        raise InvalidData(f"{system.name} needs everybody's features with these settings, and a study asks for them.")


def _check_inputs(
    planned: LocalRelease, schema: Schema, graph: Graph | None, labels: NDArray[np.int64] | None, *, early: bool
) -> None:
    """Refuse public data that are asked for, and rounds that need public data which are not given.

    Args:
        planned: The questions of all rounds.
        graph: The public topology.
        labels: The public classes.
        early: True if rounds are computed from them; otherwise they may be given when the model is trained.
    """
    asked = planned.asks_about(Unit.NEIGHBOUR_BIT)
    if asked != schema.private_edges:
        raise InvalidData(
            "The schema says that edges are private, and nothing is asked about them. Give a budget of edges."
            if schema.private_edges
            else "The study asks about private edges, and the schema says that they are public."
        )
    for name, given, private in (
        ("topology", graph is not None, asked),
        ("labels", labels is not None, planned.asks_about(Unit.LABEL)),
    ):
        if given and private:
            raise InvalidData(f"The public {name} cannot be given: the study asks for them. Leave them out.")
        if early and not given and not private:
            raise InvalidData(f"The rounds are computed from the public {name}, which are not asked for. Give them.")
