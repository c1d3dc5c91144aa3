"""``privet report``: results as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app, examples


@app.command(
    epilog=examples(
        "privet report lpgnn.json sweep.json --out report.html --figures figures",
        "privet report lpgnn.json solitude.json --latex table.tex",
    )
)
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Files of privet run --out or privet sweep --out.")
    ],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None,
        typer.Option(help="Also write each figure as SVG and PDF to this directory (default: no).", show_default=False),
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            help="Also write a LaTeX table to this file: mean and deviation, booktabs (default: no).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make one HTML page of results that needs no other file.

    It has the guarantee in words, the ledger, controls, verdict, classes and figures.
    """
    from privet.cli.files import check_writable
    from privet.reporting.latex import latex_table, write_latex
    from privet.reporting.report import read_results, write_report

    check_writable(out, latex)
    found = read_results(results)
    if latex is not None:
        latex_table(found)  # what no table can show is refused before anything is written
    write_report(found, out, figures)
    if latex is not None:
        write_latex(found, latex)
    table = "" if latex is None else f", and a table to {latex}"
    typer.echo(f"Wrote {len(found)} {'result' if len(found) == 1 else 'results'} to {out}{table}.")
