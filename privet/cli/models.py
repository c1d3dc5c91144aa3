"""``privet train`` and ``predict``: from the reports of a study to a model, and from a model to classes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import AsJson, app

if TYPE_CHECKING:
    from privet.collection.answers import Answers
    from privet.collection.study import Study


_DECIDED = {"epsilon_features", "epsilon_labels", "epsilon_edges", "delta", "mechanism", "sample", "fill", "one_sided"}


@app.command()
def train(
    study: Annotated[
        Path, typer.Option(help="A study's directory, or its reports as 'privet study export' writes them.")
    ],
    system: Annotated[str, typer.Option(help="lpgnn, privge, rgnn or solitude; it must fit the study's mechanisms.")],
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

    from privet.cli.run_command import parse_settings
    from privet.collection.operator.public_data import read_graph, read_labels
    from privet.collection.training import study_settings, train_model
    from privet.errors import InvalidParameter
    from privet.evaluation.choosing import system_for
    from privet.evaluation.outputs import check_writable
    from privet.systems import System

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidParameter("--out", "privet train", "a new or an empty directory", str(out))
    check_writable(out.parent / (out.name + ".json"))
    manifest, answers = _reports(study)
    if study_id is not None and study_id.strip().lower() != manifest.id:
        raise InvalidParameter("--study-id", "privet train", "the id of the study that the reports are of", manifest.id)
    decided = study_settings(manifest, system) | {"seed": seed}
    chosen = parse_settings(other or [])
    if taken := sorted(chosen.keys() & (decided.keys() | _DECIDED)):
        raise InvalidParameter("--set", "privet train", "of settings that the study does not decide", ", ".join(taken))
    built = system_for(system, "", decided | chosen)
    if not isinstance(built, System):
        raise InvalidParameter("--system", "privet train", "a system of the local model", system)
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
        _remember(study, out.name, model.fitted.system, model.fitted.facts)
    if as_json:
        typer.echo(json.dumps({"study": manifest.id, "system": system, "model": str(out), **model.fitted.facts}))
        return
    typer.echo("\n".join([*model.summary(), f"The model is in {out}."]))


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="A directory that 'privet train' wrote.")],
    nodes: Annotated[
        str | None, typer.Option(help="Nodes, comma separated (default: all).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write to this .csv or .parquet file (default: print).", show_default=False)
    ] = None,
) -> None:
    """The class of each node and how probable each class is."""
    import numpy as np

    from privet.collection.models import TrainedModel
    from privet.errors import InvalidParameter

    chosen = None
    if nodes is not None:
        words = [word.strip() for word in nodes.split(",")]
        if not all(word.isdecimal() for word in words):
            raise InvalidParameter("--nodes", "privet predict", "node numbers, such as 1,2,3", nodes)
        chosen = np.array([min(int(word), 1 << 62) for word in words], dtype=np.int64)
    trained = TrainedModel.load(model)
    if out is None:
        typer.echo(trained.predictions_as_csv(chosen), nl=False)
        return
    trained.write_predictions(out, chosen)


def _reports(path: Path) -> tuple[Study, Answers]:
    """The manifest and the answers of a study's directory, or of an exported file."""
    if path.is_dir():
        from privet.collection.operator.folder import open_reports

        return open_reports(path)
    from privet.collection.operator.export import read_answers

    return read_answers(path)


def _remember(path: Path, name: str, system: str, facts: dict[str, float]) -> None:
    """Tell the operator's page about a model."""
    from privet.collection.operator.folder import StudyFolder

    shown = ("response_rate", "validation_accuracy", "control_accuracy", "label_propagation_accuracy")
    trained = datetime.now(UTC).isoformat(timespec="seconds")
    store = StudyFolder.open(path).store()
    metrics = {key: facts[key] for key in shown}
    store.add_model({"name": name, "system": system, "trained": trained, "metrics": metrics})
    store.dispose()
