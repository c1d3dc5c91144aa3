"""What `privet table` does: one table, all of them, or their list."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from privet.errors import InvalidParameter
from privet.evaluation.cache import Store
from privet.evaluation.outputs import check_writable, write_json
from privet.reporting.drawing import check_format
from privet.reporting.table_plot import plot_table
from privet.reproduction.catalogue import TABLES, PublishedTable, published_table
from privet.reproduction.runner import print_table, run_table

__all__ = ["all_tables_command", "print_tables", "refuse_for_all", "table_command"]


def table_command(
    name: str,
    root: Path | None,
    seeds: int,
    only: str | None,
    condition: str | None,
    store: Path,
    *,
    controls: bool,
    quick: bool,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure what the store does not have yet, print the table, perhaps write and draw it."""
    for path in (out, plot):
        check_writable(path)
    if plot is not None:
        check_format(plot)
    if name not in TABLES and not as_json:
        print_tables()
    table = published_table(name).only(only.split(",") if only else (), condition)
    with _store(store, quick) as figures:
        result = _run(table, root, seeds, figures, controls=controls, quick=quick)
    if out is not None:
        write_json(result, out)
    if plot is not None:
        plot_table(result, plot)
    print(json.dumps(result)) if as_json else print_table(result)


def all_tables_command(
    root: Path | None, seeds: int, store: Path, *, controls: bool, quick: bool, out: Path | None, as_json: bool
) -> bool:
    """Every table in turn. One that fails does not stop the others; says whether all went well."""
    check_writable(out)
    messages, results, failures = Console(stderr=True), [], {}
    with _store(store, quick) as figures:
        for table in TABLES.values():
            try:
                result = _run(table, root, seeds, figures, controls=controls, quick=quick)
            except Exception as error:  # whatever it is, the other tables are worth having
                failures[table.name] = f"{type(error).__name__}: {error}"
                messages.print(f"{table.name} failed: {failures[table.name]}", markup=False)
                continue
            results.append(result)
            if not as_json:
                print_table(result)
    document = {"tables": results, "failures": failures}
    if out is not None:
        write_json(document, out)
    if as_json:
        print(json.dumps(document))
    else:
        done = f"{len(results)} of {len(TABLES)} tables printed."
        print(f"{done} Failed: {', '.join(failures)}." if failures else done)
    return not failures


def print_tables() -> None:
    """Every id and what it is, one line each."""
    width = max(map(len, TABLES))
    print("\n".join(f"{table.name:<{width}}  {table.title}" for table in TABLES.values()))


def _run(
    table: PublishedTable, root: Path | None, seeds: int, store: Store, *, controls: bool, quick: bool
) -> dict[str, Any]:
    show = Console(stderr=True).is_terminal
    return run_table(table, root, seeds, store, controls=controls, show_progress=show, quick=quick)


@contextmanager
def _store(folder: Path, quick: bool) -> Iterator[Store]:
    """The directory of finished figures; what a quick run finds is thrown away, lest it be taken for a measurement."""
    if not quick:
        yield Store(folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Store(temporary)


def refuse_for_all(**options: object) -> None:
    """``privet table all`` is about everything: no option that picks or draws one table."""
    for name, value in options.items():
        if value is not None:
            raise InvalidParameter(f"--{name}", "privet table all", "left out, or used with one table", str(value))
