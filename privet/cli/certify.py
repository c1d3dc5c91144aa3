"""``privet certify``: how many lies a model's predictions withstand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, app, examples


@app.command(epilog=examples("privet certify model", "privet certify model --out certified.csv"))
def certify(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL_DIR", help="A model's directory, from 'privet train' or Fitted.save.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write each person's number to this .csv or .parquet file (default: print only).",
            show_default=False,
        ),
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
        raise InvalidData(f"The model in {model.name} has no certificate: of the systems, only inquiry makes one.")
    if out is not None:
        fitted.write_predictions(out)
    if as_json:
        shares = {liars: certificate.share(liars) for liars in certificate.numbers()}
        typer.echo(json.dumps({**certificate.to_dict(), "withstands": shares, "in_words": certificate.in_words()}))
        return
    for liars in certificate.numbers():
        typer.echo(f"{certificate.share(liars):6.1%} of predictions stand against {certificate.counted(liars)}")
    typer.echo(certificate.in_words())
