"""``privet predict``: from a model to classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import BadOption, app, examples
from privet.cli.options import ClusterName, InsecureCluster


@app.command(
    epilog=examples(
        "privet predict model --nodes 1,2,3",
        "privet predict model --out predictions.csv",
        "privet predict model --out predictions --cluster local:2",
    )
)
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL_DIR", help="A model's directory, from 'privet train' or Fitted.save.")
    ],
    nodes: Annotated[
        str | None, typer.Option(help="Nodes, comma separated (default: all).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write to this .csv or .parquet file, or with --cluster to a new directory (default: print).",
            show_default=False,
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
    import sys

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
    from privet.cli.render.progress import phase_progress
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
