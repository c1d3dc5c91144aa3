"""From the answers of a study to a trained model: only reports, public topology and public labels are read.

Questions and budgets are the manifest's. Beside the model stands a control, the same training on the same reports dealt
to other people at random, which shows whether the reports helped, and label propagation. :func:`train_study` reads
everything from files: a study's directory or an export of it, public edges and public classes beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.operator.export.answer_files import read_answers, read_erasures
from privet.collection.operator.export.partitions import PartitionedAnswers
from privet.collection.operator.facts import facts_of
from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.models import TrainedModel
from privet.collection.operator.public_data import read_graph, read_labels
from privet.collection.operator.received import Received
from privet.collection.study.manifest import Study
from privet.data import Graph
from privet.errors import InvalidData, InvalidParameter
from privet.graph.distributed.hosting import hosting, stored_graph
from privet.systems import SYSTEMS, LocalSystem, UnsuitableRelease
from privet.systems.controls import label_propagation

if TYPE_CHECKING:
    from privet.graph.distributed.cluster import Cluster

__all__ = ["open_received", "remember_model", "systems_for", "train", "train_study"]


def systems_for(study: Study) -> list[str]:
    """Name the systems that can learn from a study's answers."""
    local = (kind for kind in SYSTEMS.values() if issubclass(kind, LocalSystem))
    return [kind.name for kind in local if kind.learns_from(study.release)]


def train(
    received: Received,
    system: LocalSystem | None = None,
    *,
    graph: Graph | None = None,
    labels: NDArray[np.int64] | None = None,
    validation_share: float = 0.25,
    place: Callable[[Graph], Graph] = lambda graph: graph,
    predict_erased: bool = False,
    progress: bool = False,
) -> TrainedModel:
    """Train on a study's answers, and once more on the same reports dealt to other people at random.

    Args:
        received: Everything that the study's server has, of all rounds so far.
        system: A system that was made from the study's questions (``LocalSystem.from_release``); by default that of the
            study's plan.
        graph: The public topology; left out if the manifest binds it or the study asked for neighbour lists.
        labels: Public classes, -1 where unknown; left out if the manifest binds them or the study asked for the class.
        validation_share: The share of the labelled nodes that is held out.
        place: Moves the public topology to where it is computed on, such as a cluster.
        predict_erased: True to predict also the people whose reports were erased.
        progress: Show a progress bar.
    """
    chain, chosen = received.chain, received.system if system is None else system
    if chosen is None:
        raise InvalidData("The study has no plan that names a system. Choose one that fits its questions.")
    if system is not None and not system.release(chain.newest).matches(chain.release):
        raise UnsuitableRelease(f"{system.name} with these settings asks other questions than the study did.")
    collected = received.collected(chosen, graph=graph, labels=labels, validation_share=validation_share)
    collected = replace(collected, public=place(collected.public))
    fitted = chosen.fit(collected, progress=progress)
    control = chosen.fit(chosen.dealt(collected), progress=progress)
    topology = chosen.topology(collected)
    propagated = label_propagation(collected, topology) if topology.num_edges else None
    facts = facts_of(collected, topology, fitted, control, propagated)
    left_out = () if predict_erased else received.erased
    promised = replace(fitted.without(left_out), guarantee=chain.guarantee(), lines=chain.release.lines())
    told = replace(facts, erasures=received.erasures, erased_left_out=len(left_out))
    return TrainedModel(chain, promised, told)


def train_study(
    path: Path,
    system: str | None = None,
    *,
    graph: Path | None = None,
    labels: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    validation_share: float = 0.25,
    seed: int = 0,
    study_id: str | None = None,
    cluster: Cluster | None = None,
    predict_erased: bool = False,
    progress: bool = False,
) -> TrainedModel:
    """Train on the reports of a study; budgets are the manifest's.

    Args:
        path: A study's directory, or its reports as they were exported: a file or a directory of parts.
        system: The name of the system; a study whose manifest has a plan names it itself.
        graph: A file of public edges, or a store of them; None if the study asked for lists or its manifest binds them.
        labels: A file of public classes; None if the study asked for the class or its manifest binds them.
        settings: Settings of the system, if the study has no plan.
        validation_share: The share of the labelled nodes that is held out.
        seed: The seed of the split and of the network's first weights, if the study has no plan.
        study_id: The id that the newest round must have (default: any).
        cluster: The cluster to compute on (default: this process).
        predict_erased: True to predict also the people whose reports were erased.
        progress: Show a progress bar.
    """
    kind = None if system is None else SYSTEMS.find(system)
    by_workers = _read_by_workers(path, graph, kind)
    received = None if by_workers else open_received(path)
    study = PartitionedAnswers.open(path).study() if received is None else received.chain.newest
    if study_id is not None and study_id.strip().lower() != study.id:
        raise InvalidData(f"The reports are of the study {study.id}, not of the one that was asked for.")
    if received is not None and received.system is not None:
        _check_plan(received.system.name, system, settings)
        built, learner = None, type(received.system)
    else:
        built = _built(study, kind, settings or {}, seed, elsewhere=cluster is not None or _is_store(graph))
        learner = type(built)
    classes = None if labels is None else read_labels(labels, study.population)
    with _topology(graph, study, learner, cluster) as (public, place):
        if received is None:
            received = _parted(path, public)
        return train(
            received,
            built,
            graph=public,
            labels=classes,
            validation_share=validation_share,
            place=place,
            predict_erased=predict_erased,
            progress=progress,
        )


def open_received(path: Path) -> Received:
    """Read everything that was reported to a study, of all its rounds or as it was exported.

    Args:
        path: A study's directory, or its reports as they were exported: a file or a directory of parts.
    """
    if PartitionedAnswers.is_at(path):
        found = PartitionedAnswers.open(path)
        return Received.of(*found.answers(), found.manifest.erasures)
    if not path.is_dir():
        return Received.of(*read_answers(path), read_erasures(path))
    with StudyFolder.open(path).newest() as store:
        return Received.at(store)


def remember_model(path: Path, name: str, model: TrainedModel) -> None:
    """Tell the operator's page about a model; an export has no page, and nothing happens.

    Args:
        path: The study's directory, or an export of it.
        name: The model's name.
    """
    if not path.is_dir() or PartitionedAnswers.is_at(path):
        return
    facts = model.facts
    known = {"response_rate": facts.response_rate}
    known |= {"accuracy_from": facts.accuracy.low, "accuracy_to": facts.accuracy.high}
    trained = datetime.now(UTC).isoformat(timespec="seconds")
    told = {"name": name, "system": model.fitted.system, "trained": trained, "metrics": known}
    with StudyFolder.open(path).store() as store:
        store.add_model({**told, "erasures": facts.erasures})


def _check_plan(planned: str, system: str | None, settings: Mapping[str, Any] | None) -> None:
    if system not in (None, planned):
        raise InvalidData(f"The study's plan names {planned}. Train that system, or leave the system out.")
    if settings:
        raise InvalidData(f"The study's plan binds the settings of {planned}. Leave them out.")


def _built(
    study: Study, kind: type[Any] | None, settings: Mapping[str, Any], seed: int, *, elsewhere: bool
) -> LocalSystem:
    """Make a system from the questions of a study that has no plan."""
    fitting = ", ".join(systems_for(study)) or "no system"
    if kind is None:
        raise InvalidData(f"The study has no plan that names a system. Choose one that can learn from it: {fitting}.")
    if not issubclass(kind, LocalSystem):
        raise InvalidData(f"{kind.name} is no system of the local model. {fitting} can learn from this study.")
    if not kind.learns_from(study.release):
        asked = ", ".join(f"{each.name} ({each.mechanism.name})" for each in study.release.questions)
        raise UnsuitableRelease(f"{kind.name} cannot learn from a study that asks for {asked}; {fitting} can.")
    unknown = sorted(settings.keys() - {each.name for each in fields(kind)})
    if unknown:
        raise InvalidParameter(unknown[0], f"a setting of {kind.name}", settings[unknown[0]])
    chosen = kind.cluster_settings(dict(settings)) if elsewhere else settings
    return kind.from_release(study.release, seed=seed, **chosen)


@contextmanager
def _topology(
    path: Path | None, study: Study, kind: type[LocalSystem], cluster: Cluster | None
) -> Iterator[tuple[Graph | None, Callable[[Graph], Graph]]]:
    """Give the public topology, a store's without loading it whole, and what moves another one to the cluster."""
    if path is not None and _is_store(path):
        if not kind.on_cluster:
            raise InvalidData(f"{kind.name} needs the whole graph in one process. Name a file of edges, not a store.")
        with stored_graph(path, cluster) as graph:
            yield graph, lambda public: public
        return
    with hosting(cluster) as place:
        yield None if path is None else read_graph(path, study.population), place


def _is_store(graph: Path | None) -> bool:
    return graph is not None and graph.is_dir()


def _read_by_workers(path: Path, graph: Path | None, kind: type[Any] | None) -> bool:
    """Tell whether workers can read the reports part by part: an export in parts, beside a store."""
    if not _is_store(graph) or not PartitionedAnswers.is_at(path) or not getattr(kind, "on_cluster", False):
        return False
    names = {question.name for question in PartitionedAnswers.open(path).study().release.questions}
    return names <= {"features", "label"}


def _parted(path: Path, public: Any) -> Received:
    """Let the workers behind a stored topology read an export."""
    from privet.collection.operator.export.parted_answers import parted_answers

    found = PartitionedAnswers.open(path)
    answers = parted_answers(found, public.adjacency.graph.client)[1]
    return Received.of(found.study(), answers, found.manifest.erasures)
