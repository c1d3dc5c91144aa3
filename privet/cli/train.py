"""``privet train``: from the reports of a study to a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.cli.app import AsJson, BadOption, app, examples
from privet.cli.options import ClusterName, InsecureCluster
from privet.errors import InvalidParameter

if TYPE_CHECKING:
    from privet.collection.operator.facts import Facts
    from privet.collection.operator.models import TrainedModel
    from privet.collection.study.manifest import Study
    from privet.data import Graph
    from privet.graph.distributed.cluster import Cluster
    from privet.release import Answers
    from privet.systems import LocalSystem


@app.command(
    epilog=examples("privet train --study STUDY --system lpgnn --graph edges.parquet --labels labels.csv --out model")
)
def train(
    study: Annotated[
        Path,
        typer.Option(
            help="A study's directory, or its reports as 'privet study export' writes them: a file or a directory."
        ),
    ],
    system: Annotated[str, typer.Option(help="The system, such as lpgnn; it must fit the study's questions.")],
    out: Annotated[Path, typer.Option(help="New directory for the model.")],
    graph: Annotated[
        Path | None,
        typer.Option(
            help="Public edges, .csv or .parquet with source and target, or a store of 'privet graph build' "
            "(default: lists that the study collected).",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Public classes of some nodes, .csv or .parquet with node and label (default: private labels).",
            show_default=False,
        ),
    ] = None,
    validation_share: Annotated[float, typer.Option(help="Share of the labelled nodes that is held out.")] = 0.25,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 32) - 1, help="Seed of the split and of the network's first weights.")
    ] = 0,
    study_id: Annotated[
        str | None,
        typer.Option(
            "--study-id", help="Refuse reports of any other study (default: believe the file).", show_default=False
        ),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the system (default: its own); repeatable."),
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
    predict_erased: Annotated[
        bool,
        typer.Option(
            "--predict-erased", help="Predict people whose reports were erased, too (default: leave them out)."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train a model on the reports of a study.

    Budgets are those of the study's manifest.
    """
    import sys

    from privet.cli.files import check_writable
    from privet.cli.options import chosen_cluster, parse_settings
    from privet.collection.operator.public_data import read_labels
    from privet.collection.operator.received import Received
    from privet.collection.operator.training import systems_for
    from privet.collection.operator.training import train as train_on
    from privet.systems import SYSTEMS, LocalSystem, UnsuitableRelease

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidParameter("--out", "a new or an empty directory", str(out))
    check_writable(out.parent / (out.name + ".json"))
    kind = SYSTEMS.find(system)
    hosts = chosen_cluster(cluster, insecure_cluster, kind)
    if _is_study(study):
        model = _planned(study, system, study_id, graph, labels, other, hosts, predict_erased)
        if model is not None:
            _finish(model, study, out, as_json)
            return
    in_parts = _read_in_parts(study, graph, kind)
    answers: Answers | None
    manifest, answers, erasures, erased = _manifest(study) if in_parts else _reports(study)
    _check_id(study_id, manifest)
    if not issubclass(kind, LocalSystem):
        raise InvalidParameter("--system", "a system of the local model", system)
    if not kind.learns_from(manifest.release):
        asked = ", ".join(f"{each.name} ({each.mechanism.name})" for each in manifest.release.questions)
        fitting = ", ".join(systems_for(manifest)) or "no system"
        raise UnsuitableRelease(f"{system} cannot learn from a study that asks for {asked}; {fitting} can.")
    settings = parse_settings(other or [])
    unknown = sorted(settings.keys() - {each.name for each in fields(kind)})
    if unknown:
        raise InvalidParameter("--set", f"a setting of {system}", unknown[0])
    elsewhere = cluster is not None or (graph is not None and graph.is_dir())
    settings = kind.cluster_settings(settings) if elsewhere else settings
    built = kind.from_release(manifest.release, seed=seed, **settings)
    with _topology(graph, manifest, kind, hosts) as public:
        if answers is None:
            answers = _answers_in_parts(study, public)
        model = train_on(
            Received.of(manifest, answers, erasures, erased),
            built,
            graph=public,
            labels=None if labels is None else read_labels(labels, manifest.population),
            validation_share=validation_share,
            predict_erased=predict_erased,
            progress=sys.stderr.isatty(),
        )
    _finish(model, study, out, as_json)


@contextmanager
def _topology(
    path: Path | None, study: Study, kind: type[LocalSystem], cluster: Cluster | None
) -> Iterator[Graph | None]:
    """Give the public topology: none, that of a file, or that of a store, which is never loaded whole."""
    from privet.collection.operator.public_data import read_graph
    from privet.graph.distributed.hosting import hosting, stored_graph

    if path is not None and path.is_dir():
        if not kind.on_cluster:
            raise BadOption(f"{kind.name} needs the whole graph in one process: name a file of edges, not a store.")
        with stored_graph(path, cluster) as graph:
            yield graph
        return
    with hosting(cluster) as place:
        yield None if path is None else place(read_graph(path, study.population))


def _finish(model: TrainedModel, study: Path, out: Path, as_json: bool) -> None:
    """Write the model, tell the operator's page of it, and print what became of it."""
    model.save(out)
    if _is_study(study):
        _remember(study, out.name, model.fitted.system, model.facts)
    if as_json:
        known = {"study": model.study.id, "system": model.fitted.system, "model": str(out)}
        typer.echo(json.dumps(known | model.facts.to_dict()))
        return
    typer.echo("\n".join([*model.summary(), f"The model is in {out}."]))


def _planned(
    path: Path,
    system: str,
    study_id: str | None,
    graph: Path | None,
    labels: Path | None,
    other: list[str] | None,
    cluster: Cluster | None,
    predict_erased: bool,
) -> TrainedModel | None:
    """Train on a study in rounds, whose plan says everything; None for a study of one round."""
    import sys

    from privet.collection.operator.folder import StudyFolder
    from privet.collection.operator.received import Received
    from privet.collection.operator.training import train as train_on
    from privet.graph.distributed.hosting import hosting

    store = StudyFolder.open(path).newest()
    try:
        plan = store.study.plan
        if plan is None:
            return None
        _check_id(study_id, store.study)
        if plan.system != system:
            raise InvalidParameter("--system", f"that of the study's plan, {plan.system}", system)
        if graph is not None or labels is not None or other:
            raise InvalidParameter("--graph, --labels, --set", "left out: the plan of the rounds binds them", "given")
        with hosting(cluster) as place:
            received = Received.at(store)
            return train_on(received, place=place, predict_erased=predict_erased, progress=sys.stderr.isatty())
    finally:
        store.dispose()


def _is_study(path: Path) -> bool:
    """Tell a study's directory from an exported one, and from a file."""
    from privet.collection.operator.export.partitions import PartitionedAnswers

    return path.is_dir() and not PartitionedAnswers.is_at(path)


def _check_id(study_id: str | None, manifest: Study) -> None:
    if study_id is not None and study_id.strip().lower() != manifest.id:
        raise InvalidParameter("--study-id", "the id of the study that the reports are of", manifest.id)


def _read_in_parts(path: Path, graph: Path | None, kind: type[LocalSystem]) -> bool:
    """Tell whether the workers can read the reports part by part: an export in parts, beside a store."""
    from privet.collection.operator.export.partitions import PartitionedAnswers

    stored = graph is not None and graph.is_dir()
    if not stored or not PartitionedAnswers.is_at(path) or not getattr(kind, "on_cluster", False):
        return False
    names = {question.name for question in PartitionedAnswers.open(path).study().release.questions}
    return names <= {"features", "label"}


_Erased: TypeAlias = tuple[int, ...]
"""The people who were erased, as far as they are known: an export has their number only."""


def _manifest(path: Path) -> tuple[Study, None, int, _Erased]:
    """Return manifest and number of erasures of an export in parts, and no answers yet."""
    from privet.collection.operator.export.partitions import PartitionedAnswers

    found = PartitionedAnswers.open(path)
    return found.study(), None, found.manifest.erasures, ()


def _answers_in_parts(path: Path, public: Any) -> Answers:
    """Let the workers behind a stored topology read an export."""
    from privet.collection.operator.export.parted_answers import parted_answers
    from privet.collection.operator.export.partitions import PartitionedAnswers

    return parted_answers(PartitionedAnswers.open(path), public.adjacency.graph.client)[1]


def _reports(path: Path) -> tuple[Study, Answers, int, _Erased]:
    """Return manifest, answers and erasures of a study's directory, or of an exported file or directory."""
    from privet.collection.operator.export.partitions import PartitionedAnswers

    if PartitionedAnswers.is_at(path):
        found = PartitionedAnswers.open(path)
        return *found.answers(), found.manifest.erasures, ()
    if path.is_dir():
        from privet.collection.operator.enrolment import erased_people
        from privet.collection.operator.folder import open_reports

        erased = erased_people(path)
        return *open_reports(path), len(erased), erased
    from privet.collection.operator.export.answer_files import read_answers, read_erasures

    return *read_answers(path), read_erasures(path), ()


def _remember(path: Path, name: str, system: str, facts: Facts) -> None:
    """Tell the operator's page about a model."""
    from privet.collection.operator.folder import StudyFolder

    accuracy = facts.accuracy
    metrics = {"response_rate": facts.response_rate, "accuracy_from": accuracy.low, "accuracy_to": accuracy.high}
    trained = datetime.now(UTC).isoformat(timespec="seconds")
    store = StudyFolder.open(path).store()
    model = {"name": name, "system": system, "trained": trained, "metrics": metrics, "erasures": facts.erasures}
    store.add_model(model)
    store.dispose()
