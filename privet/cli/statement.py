"""``privet statement``: the privacy statement of a run as prose, or the impact assessment of a study."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import app, examples
from privet.errors import InvalidData

OPEN = "**OPEN"  # marks what the controller must answer


@app.command(
    epilog=examples(
        "privet statement result.json",
        "privet statement model --markdown > statement.md",
        "privet statement --dpia STUDY --out dpia.md",
    )
)
def statement(
    source: Annotated[
        Path,
        typer.Argument(
            help="A result.json, a privacy.yaml, or a directory with one; with --dpia a study.", show_default=False
        ),
    ],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown (default: text wrapped at the width of the terminal).")
    ] = False,
    dpia: Annotated[
        bool,
        typer.Option("--dpia", help="The data-protection impact assessment of a study (default: a privacy statement)."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write (default: print it).", show_default=False)] = None,
) -> None:
    """Print the privacy statement of a run.

    It says what is promised, to whom, what is not, and under which conditions.
    """
    from privet.data.files import atomic_file, check_writable

    if out is not None:
        check_writable(out)
    text = _assessment(source) if dpia else _statement(source, markdown)
    if out is None:
        typer.echo(text, nl=False)
        return
    with atomic_file(out) as file:
        file.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {out}{f': {text.count(OPEN) - 1} questions are left open' if dpia else ''}.")


def _statement(source: Path, markdown: bool) -> str:
    from privet.privacy.prose import as_markdown, as_text
    from privet.privacy.statement import read_statement

    document = read_statement(source)
    width = min(shutil.get_terminal_size().columns, 100)
    return as_markdown(document) if markdown else as_text(document, width)


def _assessment(source: Path) -> str:
    """Return the assessment of a study: of its directory with all rounds, or of a manifest."""
    from privet.collection.operator.dpia.assessment import impact_assessment
    from privet.collection.study.chain import Chain
    from privet.collection.study.manifest import Study

    if not source.is_dir():
        try:
            return impact_assessment(Chain((Study.from_bytes(source.read_bytes()),)))
        except OSError as error:
            reason = error.strerror
            raise InvalidData(f"{source} is no study's directory and no study.json: {reason}.") from None
    from privet.collection.operator.folder import StudyFolder

    store = StudyFolder.open(source).store()
    try:
        return impact_assessment(store.chain())
    finally:
        store.dispose()
