"""``privet compare``: two results, seed by seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, app, examples
from privet.cli.options import Out


@app.command(epilog=examples("privet compare lpgnn.json privge.json"))
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json", help="A file of privet run --out.")],
    second: Annotated[Path, typer.Argument(metavar="B.json", help="Another, of the same seeds and test nodes.")],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Test whether two results differ.

    It prints the paired difference with its interval and p-value.
    """
    from privet.cli.files import check_writable
    from privet.evaluation.compare import compare as paired
    from privet.evaluation.results import Result

    check_writable(out)
    found = paired(Result.load(first), Result.load(second))
    if out is not None:
        found.save(out)
    typer.echo(json.dumps(found.to_dict()) if as_json else f"{found.metric}: {found.sentence}")
