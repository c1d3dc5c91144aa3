"""``privet train``, ``predict`` and ``certify``: from the reports of a study to a model, and what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, BadOption, app, check_writable, examples
from privet.cli.options import ClusterName, InsecureCluster, ModelFolder, OtherSettings, chosen_cluster, parse_settings


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
        str | None, typer.Option(help="The system, such as lpgnn (default: that of the study's plan).")
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            help="Public edges, .csv or .parquet with source and target, or a store of 'privet graph build' "
            "(default: lists that the study collected)."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Public classes of some nodes, .csv or .parquet with node and label (default: private labels)."
        ),
    ] = None,
    validation_share: Annotated[float, typer.Option(help="Share of the labelled nodes that is held out.")] = 0.25,
    seed: Annotated[
        int, typer.Option(min=0, max=(1 << 32) - 1, help="Seed of the split and of the network's first weights.")
    ] = 0,
    study_id: Annotated[
        str | None, typer.Option("--study-id", help="Refuse reports of any other study (default: believe the file).")
    ] = None,
    other: OtherSettings = None,
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
    from privet.collection.operator.training import remember_model, train_study
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


@app.command(
    epilog=examples(
        "privet predict model --nodes 1,2,3",
        "privet predict model --out predictions.csv",
        "privet predict model --out predictions --cluster local:2",
    )
)
def predict(
    model: ModelFolder,
    nodes: Annotated[str | None, typer.Option(help="Nodes, comma separated (default: all).")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write to this .csv or .parquet file, or with --cluster to a new directory (default: print)."
        ),
    ] = None,
    cluster: ClusterName = None,
    insecure_cluster: InsecureCluster = False,
) -> None:
    """Print each node's class and the classes' probabilities.

    With --cluster the workers write one Parquet file after another, none of which holds more than 262,144 nodes.
    """
    if cluster is not None:
        _on_cluster(model, nodes, out, cluster, insecure_cluster)
        return
    import numpy as np
    from pyarrow import csv

    from privet.collection.operator.models import TrainedModel
    from privet.errors import InvalidParameter
    from privet.systems import Fitted

    chosen = None
    if nodes is not None:
        words = [word.strip() for word in nodes.split(",")]
        if not all(word.isdecimal() for word in words):
            raise InvalidParameter("--nodes", "node numbers, such as 1,2,3", nodes)
        chosen = np.array([min(int(word), 1 << 62) for word in words], dtype=np.int64)
    names = None
    if (model / "study.json").is_file():
        trained = TrainedModel.load(model)
        fitted, names = trained.fitted, trained.study.class_names
    else:
        fitted = Fitted.load(model)
    if out is None:
        csv.write_csv(fitted.predictions(chosen, names), sys.stdout.buffer)
        return
    fitted.write_predictions(out, chosen, names)


def _on_cluster(model: Path, nodes: str | None, out: Path | None, cluster: str, insecure: bool) -> None:
    from privet.cli.render.screen import phase_progress
    from privet.collection.study.manifest import Study
    from privet.graph.distributed.cluster import connect, parse_cluster
    from privet.systems.inference import write_partitioned_predictions

    if out is None or out.suffix or nodes is not None:
        raise BadOption("With --cluster predict writes everybody's classes: name a new directory with --out.")
    manifest = model / "study.json"
    names = Study.from_bytes(manifest.read_bytes()).class_names if manifest.is_file() else None
    with connect(parse_cluster(cluster, insecure=insecure)) as client, phase_progress() as progress:
        files = write_partitioned_predictions(model, out, names=names, client=client, progress=progress)
    typer.echo(f"Wrote {files:,} {'file' if files == 1 else 'files'} to {out}.")


@app.command(epilog=examples("privet certify model", "privet certify model --out certified.csv"))
def certify(
    model: ModelFolder,
    out: Annotated[
        Path | None,
        typer.Option(help="Also write each person's number to this .csv or .parquet file (default: print only)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the predictions that a few liars cannot change.

    A prediction is certified if it stands whatever some of a person's friends answer.
    """
    from privet.errors import InvalidData
    from privet.systems import Fitted

    fitted = Fitted.load(model)
    certificate = fitted.certificate
    if certificate is None:
        raise InvalidData(f"The model in {model.name} has no certificate: its system makes none.")
    if out is not None:
        fitted.write_predictions(out)
    if as_json:
        shares = {liars: certificate.share(liars) for liars in certificate.numbers()}
        typer.echo(json.dumps({**certificate.to_dict(), "withstands": shares, "in_words": certificate.in_words()}))
        return
    for liars in certificate.numbers():
        typer.echo(f"{certificate.share(liars):6.1%} of predictions stand against {certificate.counted(liars)}")
    typer.echo(certificate.in_words())
