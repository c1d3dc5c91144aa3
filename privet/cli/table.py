"""``privet table``: one published table, all of them, or their list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.app import AsJson, BadOption, app, check_writable, examples, show
from privet.cli.options import Controls, Data, Fresh, KeptFigures, Out, Plot, Seeds, Workers, figure_store, names_of

if TYPE_CHECKING:
    from privet.reproduction.measured import Table
    from privet.reproduction.published import PublishedTable


def _list(asked: bool) -> None:
    if asked:
        print_tables()
        raise typer.Exit


@app.command(
    epilog=examples(
        "privet table --list", "privet table lpgnn-3 --quick", "privet table lpgnn-3 --data DIR --only cora"
    )
)
def table(
    name: Annotated[
        str, typer.Argument(metavar="ID", help="For example lpgnn-3; --list names every id, 'all' measures them all.")
    ],
    data: Data = None,
    seeds: Seeds = 5,
    only: Annotated[str | None, typer.Option(help="Datasets, comma separated (default: all).")] = None,
    condition: Annotated[
        str | None, typer.Option(help='Conditions that match a pattern, such as "eps 1" or "gin*" (default: all).')
    ] = None,
    controls: Controls = True,
    workers: Workers = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Only see that it runs: made-up graphs, one seed; no measurement (default: measure)."
        ),
    ] = False,
    store: KeptFigures = None,
    fresh: Fresh = False,
    plot: Plot = None,
    out: Out = None,
    as_json: AsJson = False,
    listed: Annotated[
        bool,
        typer.Option(
            "--list", help="Name every table and figure, and exit (default: no).", is_eager=True, callback=_list
        ),
    ] = False,
) -> None:
    """Measure a published table, beside the paper's figures.

    The controls and the true epsilon stand in columns of their own.

    With 'all', exit code 1 says that some tables failed; they are named at the end.
    """
    from privet.cli.render.measurements import print_table
    from privet.cli.render.screen import figure_progress
    from privet.evaluation.cache import Store, usual_store
    from privet.reporting.table_plot import plot_table
    from privet.reproduction.papers import TABLES, published_table
    from privet.reproduction.runner import figures_needed, run_table

    # What a quick run finds is not kept, lest it be taken for a measurement.
    figures = Store(None) if quick else figure_store(store, fresh) or usual_store()

    def measured(chosen: PublishedTable) -> Table:
        with figure_progress(figures_needed(chosen, seeds, controls=controls, quick=quick)) as advance:
            return run_table(
                chosen, data, seeds, figures, controls=controls, workers=workers, quick=quick, progress=advance
            )

    check_writable(out, plot=plot)
    if name == "all":
        for option, value in {"only": only, "condition": condition, "plot": plot}.items():
            if value is not None:
                raise BadOption(f"--{option} is for one table; leave it out with 'all'.")
        if not all_tables(measured, out, as_json):
            raise typer.Exit(1)
        return
    if name not in TABLES and not as_json:
        print_tables()
    result = measured(published_table(name).only(names_of(only), condition))
    if out is not None:
        result.save(out)
    if plot is not None:
        plot_table(result, plot)
    show(result, print_table, as_json)


def all_tables(measured: Callable[[PublishedTable], Table], out: Path | None, as_json: bool) -> bool:
    """Measure every table in turn; one that fails does not stop the others. Return whether all went well."""
    from rich.console import Console

    from privet.cli.render.measurements import print_table
    from privet.data.files import atomic_file
    from privet.reproduction.papers import TABLES

    messages, results, failures = Console(stderr=True), [], {}
    for each in TABLES.values():
        try:
            result = measured(each)
        except Exception as error:  # whatever it is, the other tables are worth having
            failures[each.name] = f"{type(error).__name__}: {error}"
            messages.print(f"{each.name} failed: {failures[each.name]}", markup=False)
            continue
        results.append(result)
        if not as_json:
            print_table(result)
    document: dict[str, Any] = {"tables": [result.to_dict() for result in results], "failures": failures}
    if out is not None:
        with atomic_file(out) as file:
            file.write_text(json.dumps(document, indent=2, sort_keys=True, allow_nan=False) + "\n")
    done = f"{len(results)} of {len(TABLES)} tables printed."
    told = f"{done} Failed: {', '.join(failures)}." if failures else done
    typer.echo(json.dumps(document) if as_json else told)
    return not failures


def print_tables() -> None:
    """Print every id and what it is, one line each."""
    from privet.reproduction.papers import TABLES

    width = max(map(len, TABLES))
    typer.echo("\n".join(f"{each.name:<{width}}  {each.title}" for each in TABLES.values()))
