"""``privet statement``: the privacy statement of a run as prose."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app, examples


@app.command(epilog=examples("privet statement result.json", "privet statement model --markdown > statement.md"))
def statement(
    source: Annotated[
        Path, typer.Argument(help="A result.json, a privacy.yaml, or a directory with one.", show_default=False)
    ],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown (default: text wrapped at the width of the terminal).")
    ] = False,
) -> None:
    """Print the privacy statement of a run: what is promised, to whom, what is not, and under which conditions."""
    from privet.privacy.prose import as_markdown, as_text
    from privet.privacy.statement import read_statement

    document = read_statement(source)
    width = min(shutil.get_terminal_size().columns, 100)
    typer.echo(as_markdown(document) if markdown else as_text(document, width), nl=False)
