"""``privet train``: from the reports of a study to a model."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import AsJson, app, examples
from privet.errors import InvalidParameter

if TYPE_CHECKING:
    from privet.collection.facts import Facts
    from privet.collection.study import Study
    from privet.release import Answers


@app.command(
    epilog=examples("privet train --study STUDY --system lpgnn --graph edges.parquet --labels labels.csv --out model")
)
def train(
    study: Annotated[
        Path, typer.Option(help="A study's directory, or its reports as 'privet study export' writes them.")
    ],
    system: Annotated[str, typer.Option(help="The system, such as lpgnn; it must fit the study's questions.")],
    out: Annotated[Path, typer.Option(help="New directory for the model.")],
    graph: Annotated[
        Path | None,
        typer.Option(
            help="Public edges, .csv or .parquet with source and target (default: lists that the study collected).",
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
    as_json: AsJson = False,
) -> None:
    """Train a model on the reports of a study; budgets are the manifest's."""
    import sys

    from privet.cli.files import check_writable
    from privet.cli.options import parse_settings
    from privet.collection.operator.public_data import read_graph, read_labels
    from privet.collection.training import systems_for, train_model
    from privet.systems import SYSTEMS, LocalSystem, UnsuitableRelease

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidParameter("--out", "privet train", "a new or an empty directory", str(out))
    check_writable(out.parent / (out.name + ".json"))
    manifest, answers = _reports(study)
    if study_id is not None and study_id.strip().lower() != manifest.id:
        raise InvalidParameter("--study-id", "privet train", "the id of the study that the reports are of", manifest.id)
    kind = SYSTEMS.find(system)
    if not issubclass(kind, LocalSystem):
        raise InvalidParameter("--system", "privet train", "a system of the local model", system)
    if not kind.learns_from(manifest.release):
        asked = ", ".join(f"{each.name} ({each.mechanism.name})" for each in manifest.release.questions)
        fitting = ", ".join(systems_for(manifest)) or "no system"
        raise UnsuitableRelease(f"{system} cannot learn from a study that asks for {asked}; {fitting} can.")
    settings = parse_settings(other or [])
    unknown = sorted(settings.keys() - {each.name for each in fields(kind)})
    if unknown:
        raise InvalidParameter("--set", "privet train", f"a setting of {system}", unknown[0])
    built = kind.from_release(manifest.release, seed=seed, **settings)
    model = train_model(
        manifest,
        answers,
        built,
        graph=None if graph is None else read_graph(graph, manifest),
        labels=None if labels is None else read_labels(labels, manifest),
        validation_share=validation_share,
        progress=sys.stderr.isatty(),
    )
    model.save(out)
    if study.is_dir():
        _remember(study, out.name, model.fitted.system, model.facts)
    if as_json:
        typer.echo(json.dumps({"study": manifest.id, "system": system, "model": str(out), **model.facts.to_dict()}))
        return
    typer.echo("\n".join([*model.summary(), f"The model is in {out}."]))


def _reports(path: Path) -> tuple[Study, Answers]:
    """Return the manifest and the answers of a study's directory, or of an exported file."""
    if path.is_dir():
        from privet.collection.operator.folder import open_reports

        return open_reports(path)
    from privet.collection.operator.export import read_answers

    return read_answers(path)


def _remember(path: Path, name: str, system: str, facts: Facts) -> None:
    """Tell the operator's page about a model."""
    from privet.collection.operator.folder import StudyFolder

    accuracy = facts.accuracy
    metrics = {"response_rate": facts.response_rate, "accuracy_from": accuracy.low, "accuracy_to": accuracy.high}
    trained = datetime.now(UTC).isoformat(timespec="seconds")
    store = StudyFolder.open(path).store()
    store.add_model({"name": name, "system": system, "trained": trained, "metrics": metrics})
    store.dispose()
