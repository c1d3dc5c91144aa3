"""The first round of a study in rounds: what is asked before anything is known, and what its manifest binds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from privet.collection.operator.training import split_labelled
from privet.collection.study.manifest import Study
from privet.data import Graph, Schema
from privet.errors import InvalidData
from privet.release import LocalRelease
from privet.release.asks import Ask
from privet.release.blobs import array_digest, blob_of
from privet.systems.local.inquiry import Inquiry

__all__ = ["Declared", "declare"]


@dataclass(frozen=True, eq=False)
class Declared:
    """A first round and what its manifest binds by hash.

    Attributes:
        study: The manifest.
        public: The public data as bytes.
        asks: The questions with their public arrays.
    """

    study: Study
    public: tuple[bytes, ...] = ()
    asks: tuple[Ask, ...] = ()


def declare(
    document: dict[str, Any],
    schema: Schema,
    system: Inquiry,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    panel: NDArray[np.int64] | None = None,
    people: NDArray[np.int64] | None = None,
) -> Declared:
    """Draw up the first round.

    Args:
        document: The other fields of the manifest, such as its title.
        schema: The schema.
        system: The system whose questions are asked; its settings are the rule by which people are asked.
        graph: The public topology; None if friend lists are private.
        labels: Public classes, -1 where unknown; None if the class is asked for.
        panel: The ids of the people who are asked to show features and class as they are.
        people: The ids of those who are asked for their class in the first round; everybody but the panel by default.
    """
    _check(system, schema, graph, labels, panel)
    nodes, bound = int(document["nodes"]), _Bound()
    settings = {name: value for name, value in system.settings().items() if value is not None}
    settings |= {"seed": system.seed or 0}
    settings.pop("panel", None)
    if panel is not None:
        settings["panel"] = len(panel) / nodes
    if system.scorer is not None:
        settings["scorer"] = bound.digest(np.asarray(system.scorer))
    known = np.full(nodes, -1, dtype=np.int64) if labels is None else labels
    public = Graph(sp.csr_array((nodes, nodes), dtype=np.float32) if graph is None else graph.adjacency, labels=known)
    release, whom = _first_questions(system, public.replace(schema=schema), panel)
    release, people = release.sealed(), whom if people is None else people
    study = Study.read(
        document
        | {
            "schema": schema,
            "release": release.to_list(),
            "plan": {"system": system.name, "settings": settings},
            "panel": None if panel is None else bound.digest(np.unique(panel).astype(np.int32)),
            "people": None if people is None else bound.digest(np.unique(people).astype(np.int32)),
            "inputs": {
                "edges": None if graph is None else bound.digest(_pairs(graph)),
                "labels": None if labels is None else bound.digest(labels.astype(np.int32)),
            },
        }
    )
    return Declared(study, tuple(bound.blobs), tuple(question.ask for question in release.questions))


class _Bound:
    """The public arrays of a manifest."""

    def __init__(self) -> None:
        self.blobs: list[bytes] = []

    def digest(self, array: NDArray[Any]) -> str:
        self.blobs.append(blob_of(array))
        return array_digest(array)


def _first_questions(
    system: Inquiry, public: Graph, panel: NDArray[np.int64] | None
) -> tuple[LocalRelease, NDArray[np.int64] | None]:
    """Ask for classes where they are private; a panel is waited for before anything else is drawn up."""
    opened = system.opened(public)
    if system.epsilon_labels is None and panel is not None:
        return opened.release, None
    if public.labels is not None and system.epsilon_labels is None:
        known = np.flatnonzero(public.labels >= 0)
        opened = replace(
            opened, public=public.replace(split=split_labelled(known, len(public.labels), seed=system.seed))
        )
    release = system.next_round(opened)
    if release is None:
        raise InvalidData("system of a study", "one that asks people something", "one that asks nothing")
    return release, system.invited(release.questions[0], opened)


def _pairs(graph: Graph) -> NDArray[np.int32]:
    upper = sp.triu(graph.adjacency, format="coo")
    order = np.lexsort((upper.col, upper.row))
    return np.stack([upper.row[order], upper.col[order]], axis=1).astype(np.int32)


def _check(
    system: Inquiry,
    schema: Schema,
    graph: Graph | None,
    labels: NDArray[np.int64] | None,
    panel: NDArray[np.int64] | None,
) -> None:
    if system.class_sums is not None or system.public_features or callable(system.scorer):
        expected = "one whose scorer comes from a panel, from a pilot or from a matrix of weights"
        raise InvalidData("system of a study", expected, "another")
    if (system.panel is not None) != (panel is not None):
        found = "none" if panel is None else "one"
        raise InvalidData("panel", "given if, and only if, the system's scorer comes from a panel", found)
    if (graph is None) != schema.private_edges or (graph is None) != (system.epsilon_edges is not None):
        raise InvalidData("public topology", "given if, and only if, friend lists are not asked about", "otherwise")
    if (labels is None) != (system.epsilon_labels is not None):
        raise InvalidData("public labels", "given if, and only if, classes are not asked for", "otherwise")
