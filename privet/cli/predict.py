"""``privet predict``: from a model to classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app, examples


@app.command(epilog=examples("privet predict model --nodes 1,2,3", "privet predict model --out predictions.csv"))
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL_DIR", help="A model's directory, from 'privet train' or Fitted.save.")
    ],
    nodes: Annotated[
        str | None, typer.Option(help="Nodes, comma separated (default: all).", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write to this .csv or .parquet file (default: print).", show_default=False)
    ] = None,
) -> None:
    """Print the class of each node and how probable each class is."""
    import sys

    import numpy as np
    from pyarrow import csv

    from privet.collection.models import TrainedModel
    from privet.errors import InvalidParameter
    from privet.systems import Fitted

    chosen = None
    if nodes is not None:
        words = [word.strip() for word in nodes.split(",")]
        if not all(word.isdecimal() for word in words):
            raise InvalidParameter("--nodes", "privet predict", "node numbers, such as 1,2,3", nodes)
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
