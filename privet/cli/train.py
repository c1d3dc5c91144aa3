"""``privet train``: from the reports of a study to a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, BadOption, app, examples
from privet.cli.options import ClusterName, InsecureCluster


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
    out: Annotated[Path, typer.Option(help="New directory for the model.")],
    system: Annotated[
        str | None,
        typer.Option(help="The system, such as lpgnn (default: that of the study's plan).", show_default=False),
    ] = None,
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
    from privet.collection.operator.training_files import remember_model, train_study
    from privet.systems import SYSTEMS

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadOption(f"--out must name a new or an empty directory, and {out} is not.")
    check_writable(out.parent / (out.name + ".json"))
    model = train_study(
        study,
        system,
        graph=graph,
        labels=labels,
        settings=parse_settings(other or []),
        validation_share=validation_share,
        seed=seed,
        study_id=study_id,
        cluster=chosen_cluster(cluster, insecure_cluster, None if system is None else SYSTEMS.find(system)),
        predict_erased=predict_erased,
        progress=sys.stderr.isatty(),
    )
    model.save(out)
    remember_model(study, out.name, model)
    if as_json:
        known = {"study": model.study.id, "system": model.fitted.system, "model": str(out)}
        typer.echo(json.dumps(known | model.facts.to_dict()))
        return
    typer.echo("\n".join([*model.summary(), f"The model is in {out}."]))
