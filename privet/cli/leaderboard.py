"""``privet leaderboard``: every system on many datasets at equal true epsilon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import BadOption, app, check_writable, examples
from privet.cli.options import Data, Fresh, KeptFigures, Seeds, Workers, figure_store, names_of

if TYPE_CHECKING:
    from privet.data import Graph
    from privet.evaluation.cache import Store
    from privet.evaluation.leaderboard import Leaderboard

_QUICK = ("student", "german", "acm")


@app.command(
    epilog=examples(
        "privet leaderboard --data DIR --only cora,pubmed --systems lpgnn,inquiry --out board.html",
        "privet leaderboard --from board.json --add mine.json --out board.html",
    )
)
def leaderboard(
    data: Data = None,
    only: Annotated[str | None, typer.Option(help="Datasets, comma separated (default: every known one).")] = None,
    systems: Annotated[str | None, typer.Option(help="Systems, comma separated (default: all of them).")] = None,
    epsilons: Annotated[str, typer.Option(help="True epsilons, comma separated.")] = "1,2,4",
    seeds: Seeds = 3,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three small datasets and one epsilon (default: as the other options say).")
    ] = False,
    before: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Begin with the JSON file of a leaderboard, and measure nothing (default: measure)."
        ),
    ] = None,
    add: Annotated[
        list[Path] | None,
        typer.Option(help="Add results of privet run --out or privet sweep --out, repeatable (default: none)."),
    ] = None,
    workers: Workers = None,
    store: KeptFigures = None,
    fresh: Fresh = False,
    out: Annotated[Path, typer.Option(help="The page to write; its data are written beside it as JSON.")] = Path(
        "leaderboard.html"
    ),
    csv: Annotated[Path | None, typer.Option(help="Also write all figures as CSV (default: no).")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Also write all figures as Parquet (default: no).")] = None,
) -> None:
    """Compare systems on many datasets at equal true epsilon.

    One page: a sortable table for each unit of privacy, curves, verdicts. Finished figures are kept, so that an
    interrupted leaderboard goes on.
    """
    from privet.data.files import atomic_file
    from privet.evaluation.leaderboard import Leaderboard
    from privet.reporting.leaderboard import write_leaderboard
    from privet.reporting.report import read_results

    kept = out.with_suffix(".json")
    check_writable(out, kept, csv, parquet)
    results = read_results(add or [])
    if before is not None:
        board = Leaderboard.load(before)
    else:
        chosen = names_of(only) or (_QUICK if quick else ())
        budgets = _numbers("2" if quick else epsilons)
        board = _measured(chosen, data, names_of(systems), budgets, seeds, workers, figure_store(store, fresh))
    board = board.added(results)
    board.save(kept)
    write_leaderboard(board, out)
    for path, write in ((csv, "to_csv"), (parquet, "to_parquet")):
        if path is not None:
            with atomic_file(path) as file:
                getattr(board.to_frame(), write)(file, index=False)
    typer.echo(f"Wrote {len(board.measured)} results to {out}, and their data to {kept}.")


def _measured(
    names: tuple[str, ...],
    root: Path | None,
    systems: tuple[str, ...],
    epsilons: list[float],
    seeds: int,
    workers: int | None,
    store: Store | None,
) -> Leaderboard:
    """Load the datasets and measure, with a bar."""
    from privet.cli.render.screen import figure_progress
    from privet.data import KNOWN, load
    from privet.evaluation.leaderboard import contenders, measure_leaderboard
    from privet.evaluation.workers import usual_workers

    graphs: dict[str, Graph] = {name: load(name, root) for name in names or KNOWN}
    for name, graph in graphs.items():
        graph.require("features", "schema", "labels", owner=f"A leaderboard on {name}")
    taking_part = contenders(systems)
    count = len(graphs) * len(taking_part) * len(set(epsilons))
    usual = max(usual_workers(graph, seeds) for graph in graphs.values())
    with figure_progress(count) as advance:
        return measure_leaderboard(
            graphs, taking_part, epsilons, seeds, store=store, workers=workers or usual, progress=advance
        )


def _numbers(text: str) -> list[float]:
    try:
        found = [float(part) for part in names_of(text)]
    except ValueError:
        found = []
    if not found or not all(0 < each < float("inf") for each in found):
        raise BadOption(f"--epsilons takes numbers above 0, comma separated, such as 1,2,4, not {text}.")
    return found
