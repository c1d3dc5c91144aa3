"""``privet report``, ``statement`` and ``advise``: from results to documents, and advice before there are any."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app


@app.command()
def statement(
    source: Annotated[
        Path, typer.Argument(help="A result.json, a privacy.yaml, or a directory with one.", show_default=False)
    ],
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown instead of wrapped text.")] = False,
) -> None:
    """The privacy statement of a run as prose: what is promised, to whom, what is not, and under which conditions."""
    from privet.privacy.prose import as_markdown, as_text
    from privet.privacy.statement import read_statement

    document = read_statement(source)
    width = min(shutil.get_terminal_size().columns, 100)
    typer.echo(as_markdown(document) if markdown else as_text(document, width), nl=False)


@app.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Files of privet run --out or privet sweep --out.")
    ],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None,
        typer.Option(help="Also write each figure as SVG and PDF to this directory (default: no).", show_default=False),
    ] = None,
) -> None:
    """Results as one self-contained HTML page: guarantee in words, ledger, controls and verdict, classes, figures."""
    from privet.experiments.report import write_report

    count = write_report(results, out, figures)
    typer.echo(f"Wrote {count} {'result' if count == 1 else 'results'} to {out}.")
