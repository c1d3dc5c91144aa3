"""A measured table on the screen."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as Grid

from privet.cli.render.whole import print_whole
from privet.reproduction.measured import Table, TableCell
from privet.reproduction.runner import NO_MEASUREMENT

__all__ = ["print_table"]


def print_table(table: Table) -> None:
    """Print the paper's figures, ours, the controls and the true epsilon side by side."""
    console = Console()
    shown = {key: figures for cell in table.cells for key, figures in cell.controls.items()}
    references = list(dict.fromkeys(name for cell in table.cells for name in cell.references))
    seeds = "one seed" if table.seeds == 1 else f"{table.seeds} seeds"
    grid = Grid(title=f"{table.title} ({table.metric}, {seeds})", title_justify="left", box=box.SIMPLE_HEAD)
    grid.add_column("dataset", no_wrap=True)
    grid.add_column("condition")
    printed = [table.printed] if any(cell.paper is not None for cell in table.cells) else []
    for column in ("true eps", *printed, "ours", *(each.short for each in shown.values()), *references):
        grid.add_column(column, justify="right", no_wrap=True)
    for cell in table.cells:
        grid.add_row(cell.dataset, cell.condition, *_figures(table, cell, bool(printed), list(shown), references))
    print_whole(console, grid, keys=2)
    if shown:
        console.print("; ".join(f"{each.short}: {each.title}" for each in shown.values()) + ".")
    if table.statement:
        console.print(f"The paper says: {table.statement}")
    if table.remark:
        console.print(table.remark)
    missing = sorted({cell.dataset for cell in table.cells if cell.measured is None})
    if missing:
        console.print("Not measured: " + ", ".join(missing) + " cannot be had.")
    if table.quick:
        console.print(f"[bold]{NO_MEASUREMENT}[/]")


def _figures(table: Table, cell: TableCell, printed: bool, shown: list[str], references: list[str]) -> list[str]:
    paper = ["" if cell.paper is None else f"{cell.paper:.1f}"] if printed else []
    others = [f"{cell.references[name]:.1f}" if name in cell.references else "" for name in references]
    if cell.measured is None:
        return ["", *paper, "not measured", *[""] * len(shown), *others]
    judged = cell.difference is not None and not table.quick
    colour = "" if not judged else "[green]" if (cell.difference or 0.0) >= -1e-9 else "[red]"
    spread = "" if cell.measured.std is None else f" +- {table.shown(cell.measured.std)}"
    epsilon = "none" if cell.guarantee is None else f"{cell.guarantee.epsilon:.4g}"
    controls = [table.shown(cell.controls[key].mean) if key in cell.controls else "" for key in shown]
    return [epsilon, *paper, f"{colour}{table.shown(cell.measured.mean)}{spread}", *controls, *others]
