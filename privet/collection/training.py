"""From the answers of a study to a trained model: only reports, public topology and public labels are read.

Budgets are the manifest's. Nodes that did not answer sent nothing, which is not the same as zeros: their features come
from their neighbours' reports (:mod:`privet.estimation.missing`). Beside the model stands a control, the same training
on the same reports dealt to other people at random, which shows whether the reports helped, and label propagation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.answers import Answers
from privet.collection.facts import response_facts, validation_accuracy, validation_facts
from privet.collection.models import TrainedModel
from privet.collection.study import Study
from privet.data import Graph, Split
from privet.errors import InvalidData, InvalidParameter
from privet.systems import Collected, Solitude, System
from privet.systems.controls import label_propagation, shuffled_reports

__all__ = ["collected_from", "study_settings", "systems_for", "train_model"]

_LEARN_FROM = {
    "multi-bit": ("lpgnn", "privge"),
    "hds": ("privge",),
    "piecewise": ("privge",),
    "laplace": ("lpgnn", "privge"),
    "analytic-gaussian": ("lpgnn",),
    "sampled-response": ("rgnn",),
}
"""The systems by the mechanism of the features, where the topology is public."""


def systems_for(study: Study) -> tuple[str, ...]:
    """The systems that can learn from a study's reports."""
    if study.neighbours is None:
        return _LEARN_FROM[study.features.mechanism]
    return ("solitude",) if study.features.mechanism == "multi-bit" and study.labels is None else ()


def study_settings(study: Study, system: str) -> dict[str, Any]:
    """The settings of a system that the manifest decides: mechanisms and budgets, never the command line."""
    fitting = systems_for(study)
    if system not in fitting:
        lists = "" if study.neighbours is None else " and neighbour lists"
        labels = "" if study.labels is None else " and private labels"
        what = f"{study.features.mechanism} features{labels}{lists}"
        expected = f"one that learns from {what}: {', '.join(fitting) or 'there is none'}"
        raise InvalidParameter("--system", "privet train", expected, system)
    settings: dict[str, Any] = {"epsilon_features": study.features.epsilon}
    settings |= {"epsilon_labels": None if study.labels is None else study.labels.epsilon}
    if system in ("lpgnn", "privge"):
        settings["mechanism"] = study.features.mechanism
    if system == "privge":
        settings["sample"] = study.features.sample
    if system == "rgnn":
        settings |= {"sample": study.feature_mechanism.sample, "fill": "none"}
    if study.features.delta is not None:
        settings["delta"] = study.features.delta
    if study.neighbours is not None:
        settings |= {"epsilon_edges": study.neighbours.epsilon, "one_sided": study.neighbours.one_sided}
    return settings


def train_model(
    study: Study,
    answers: Answers,
    system: System,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
    progress: bool = False,
) -> TrainedModel:
    """Train on a study's answers, and once more on the same reports dealt to other people at random."""
    collected = collected_from(
        study, answers, system, graph=graph, labels=labels, validation_share=validation_share, seed=system.seed
    )
    fitted = system.fit(collected, progress=progress)
    control = system.fit(shuffled_reports(collected, system.seed), progress=progress)
    labels_alone = label_propagation(collected)
    facts = {
        **fitted.facts,
        **response_facts(collected),
        **validation_facts(collected, fitted, control),
        "label_propagation_accuracy": validation_accuracy(collected, labels_alone),
    }
    return TrainedModel(study, replace(fitted, facts=facts))


def collected_from(
    study: Study,
    answers: Answers,
    system: System,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
    seed: int = 0,
) -> Collected:
    """What the server holds after a study, with a random split of the nodes whose class it sees.

    ``graph`` is the public topology, given unless the study collected neighbour lists. ``labels`` are public classes
    (-1: unknown), given unless the study collected private ones.
    """
    _check_system(study, system)
    answers = _in_order(study, answers)
    everybody = len(answers) == study.nodes
    if study.labels is not None and labels is not None:
        raise InvalidData("public labels", "left out: this study collected private labels", "some")
    seen = _seen(study, answers, labels)
    split = _split(np.flatnonzero(seen >= 0), study.nodes, validation_share, seed)
    topology = _topology(study, answers, system, graph, some=not everybody)
    nothing = np.full(study.nodes, -1, dtype=np.int64)
    lists = study.neighbour_mechanism
    return Collected(
        Graph(topology.adjacency, topology.directed, split=split, schema=study.declared),
        answers.features,
        study.feature_mechanism,
        nothing if study.labels is not None else seen,
        answers.labels,
        None if answers.labels is None else answers.nodes,
        study.label_mechanism,
        neighbours=None if lists is None else answers.neighbours,
        edge_mechanism=lists,
        respondents=None if everybody else answers.nodes,
    )


def _check_system(study: Study, system: System) -> None:
    for name, value in study_settings(study, system.name).items():
        if getattr(system, name) != value:
            found = getattr(system, name)
            raise InvalidParameter(name, system.name, f"what the study's manifest says, {value!r}", found)
    if isinstance(system, Solitude) and system.degrees == "reported":
        raise InvalidParameter("degrees", "solitude", "ignored or counted: no lengths of lists were sent", "reported")


def _in_order(study: Study, answers: Answers) -> Answers:
    """By node; every symbol once more checked, since answers may come from anywhere."""
    if not len(answers):
        raise InvalidData("study's reports", "those of at least one node", "none")
    order = np.argsort(answers.nodes, kind="stable")
    nodes = answers.nodes[order]
    if nodes[0] < 0 or nodes[-1] >= study.nodes or (nodes[1:] == nodes[:-1]).any():
        raise InvalidData("reporting nodes", f"different ids below {study.nodes}", "others")
    features = study.feature_mechanism.validate(answers.features.take(order))
    for name, mechanism, part in (
        ("labels", study.label_mechanism, answers.labels),
        ("neighbour lists", study.neighbour_mechanism, answers.neighbours),
    ):
        if (mechanism is None) != (part is None):
            found = "none" if part is None else "some"
            raise InvalidData("study's reports", f"with {name} if the manifest asks for them, and only then", found)
    labels = neighbours = None
    if study.label_mechanism is not None and answers.labels is not None:
        labels = study.label_mechanism.validate(answers.labels.take(order))
    if study.neighbour_mechanism is not None and answers.neighbours is not None:
        neighbours = study.neighbour_mechanism.validate(answers.neighbours.take(order))
    return Answers(nodes, features, labels, neighbours)


def _seen(study: Study, answers: Answers, labels: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The class that the server sees of each node."""
    if not study.declared.classes:
        raise InvalidData("study", "one whose schema has classes to predict", "one without")
    if answers.labels is not None:
        seen = np.full(study.nodes, -1, dtype=np.int64)
        seen[answers.nodes] = answers.labels.symbols[:, 0]
        return seen
    if labels is None:
        raise InvalidData("public labels", "given: this study did not collect labels", "none")
    if labels.shape != (study.nodes,) or labels.min() < -1 or labels.max() >= study.declared.classes:
        expected = f"one of {study.declared.classes} classes, or -1, for each of {study.nodes} nodes"
        raise InvalidData("public labels", expected, "others")
    return labels.copy()


def _split(labelled: NDArray[np.int64], nodes: int, validation_share: float, seed: int) -> Split:
    if not 0 < validation_share < 1:
        raise InvalidParameter("validation_share", "training", "above 0 and below 1", validation_share)
    if len(labelled) < 2:
        raise InvalidData("labelled nodes", "at least one for training and one for validation", len(labelled))
    held = min(max(1, round(validation_share * len(labelled))), len(labelled) - 1)
    order = np.random.default_rng(seed).permutation(labelled)
    masks = [np.zeros(nodes, dtype=np.bool_) for _ in range(3)]
    masks[1][order[:held]] = True
    masks[0][order[held:]] = True
    return Split(*masks)


def _topology(study: Study, answers: Answers, system: System, graph: Graph | None, *, some: bool) -> Graph:
    lists = study.neighbour_mechanism
    if lists is not None and answers.neighbours is not None and isinstance(system, Solitude):
        if graph is not None:
            raise InvalidData("public topology", "left out: this study collected private neighbour lists", "one")
        return system.joined(answers.neighbours, lists, some=some)
    if graph is None:
        raise InvalidData("public topology", "given: this study did not collect neighbour lists", "none")
    if graph.num_nodes != study.nodes:
        raise InvalidData("public topology", f"of the study's {study.nodes} nodes", graph.num_nodes)
    return graph
