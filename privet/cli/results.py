"""``privet compare``, ``report`` and ``statement``: results that were written before, and what they promise."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, app, check_writable, examples, show
from privet.cli.options import Out
from privet.errors import InvalidData

OPEN = "**OPEN"  # marks what the controller must answer


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
    from privet.evaluation.compare import compare as paired
    from privet.evaluation.results import Result

    check_writable(out)
    found = paired(Result.load(first), Result.load(second))
    if out is not None:
        found.save(out)
    show(found, lambda found: typer.echo(f"{found.metric}: {found.sentence}"), as_json)


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
        Path | None, typer.Option(help="Also write each figure as SVG and PDF to this directory (default: no).")
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(help="Also write a LaTeX table to this file: mean and deviation, booktabs (default: no)."),
    ] = None,
) -> None:
    """Make one HTML page of results that needs no other file.

    It has the guarantee in words, the ledger, controls, verdict, classes and figures.
    """
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


@app.command(
    epilog=examples(
        "privet statement result.json",
        "privet statement model --markdown > statement.md",
        "privet statement --dpia STUDY --out dpia.md",
    )
)
def statement(
    source: Annotated[
        Path, typer.Argument(help="A result.json, a privacy.yaml, or a directory with one; with --dpia a study.")
    ],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown (default: text wrapped at the width of the terminal).")
    ] = False,
    dpia: Annotated[
        bool,
        typer.Option("--dpia", help="The data-protection impact assessment of a study (default: a privacy statement)."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write (default: print it).")] = None,
) -> None:
    """Print the privacy statement of a run.

    It says what is promised, to whom, what is not, and under which conditions.
    """
    from privet.data.files import atomic_file

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
