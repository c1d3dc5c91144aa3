"""``privet report``, ``statement`` and ``advise``: from results to documents, and advice before there are any."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.app import AsJson, Data, app


@app.command()
def statement(
    source: Annotated[
        Path, typer.Argument(help="A result.json, a privacy.yaml, or a directory with one.", show_default=False)
    ],
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown (default: text wrapped at the width of the terminal).")
    ] = False,
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
    from privet.reporting.report import write_report

    count = write_report(results, out, figures)
    typer.echo(f"Wrote {count} {'result' if count == 1 else 'results'} to {out}.")


@app.command()
def advise(
    budget: Annotated[float, typer.Option(help="Total epsilon of a person, for all that is collected from them.")],
    graph: Annotated[
        str | None,
        typer.Option(
            help="Edge list (.csv, .parquet), npz file, directory or known name; features are not read (no default).",
            show_default=False,
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=60, help="Instead of --graph: number of people (no default).", show_default=False)
    ] = None,
    degree: Annotated[
        float | None, typer.Option(help="With --nodes: mean number of contacts (no default).", show_default=False)
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(help="The schema.json of the features (default: the graph's own).", show_default=False),
    ] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Number of classes (default: the schema's).", show_default=False)
    ] = None,
    features: Annotated[
        int | None,
        typer.Option(
            min=1, help="Instead of --schema: number of features, from 0 to 1 (no default).", show_default=False
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            help="Their number of categories, one for all or comma separated (default: numbers).", show_default=False
        ),
    ] = None,
    protect: Annotated[
        str, typer.Option(help="What shares the budget: features; features,labels; or features,edges.")
    ] = "features,labels",
    seeds: Annotated[int, typer.Option(min=2, help="Fresh draws of each world for the final comparison.")] = 5,
    limit: Annotated[int, typer.Option(min=60, help="Simulate a region of at most so many people.")] = 2000,
    worth: Annotated[float, typer.Option(min=0, help="Points of accuracy below which a gain counts as none.")] = 1.0,
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the advice to this JSON file (default: no).", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Before anything is collected: which system, mechanism, split and hops, and whether the data is needed at all.

    Synthetic people of the declared schema are simulated on the topology. Nothing private is read.
    """
    from privet.advice.advise import Question
    from privet.cli.advise_command import advise_command, declared_schema, topology_for

    topology = topology_for(graph, data, nodes, degree)
    declared = declared_schema(topology, schema, classes, features, categories)
    question = Question(topology, declared, budget, protect, seeds, limit, worth)
    advise_command(question, out=out, as_json=as_json)
