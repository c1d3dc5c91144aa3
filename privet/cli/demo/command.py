"""Mechanisms, broken claims, all systems with controls, a live study and an HTML report in two minutes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.app import BadOption, app, examples

if TYPE_CHECKING:
    from privet.evaluation.results import Result

__all__ = ["demo", "run_demo"]

_FEATURES = 16


@app.command(epilog=examples("privet demo", "privet demo --nodes 500 --out my-demo"))
def demo(
    nodes: Annotated[int, typer.Option(min=100, max=100_000, help="People in the synthetic graph.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the report and the results.")] = Path("privet-demo"),
) -> None:
    """Show everything on a synthetic society: mechanisms, broken claims, systems, controls, a live study, a report."""
    run_demo(nodes, seed, out)


def run_demo(
    nodes: int, seed: int, out: Path, *, seeds: int = 4, people: int = 1500, canary_runs: int = 15_000
) -> None:
    """Show everything on one synthetic society, and leave the results and their report in a directory.

    Args:
        nodes: People in the synthetic graph.
        seed: The seed of the simulation.
        out: The directory for the report and the results.
        seeds: Seeds of each measurement.
        people: People in the live study.
        canary_runs: Training runs of the attack on a published claim.
    """
    import shutil
    import time

    from rich.console import Console

    from privet.cli.demo.mechanisms import show_broken_claims, show_mechanisms
    from privet.cli.demo.study import show_study
    from privet.cli.demo.systems import show_systems
    from privet.data import social_graph
    from privet.evaluation.threads import threads_for

    began = time.perf_counter()
    console = Console(highlight=False)
    _check_directory(out)
    graph = social_graph(nodes, features=_FEATURES, active_features=4, seed=seed)
    console.print(
        f"A synthetic society: {graph.num_nodes:,} people, {graph.num_edges:,} friendships, "
        f"{_FEATURES} yes/no features, 4 classes. Nothing raw leaves a person's device."
    )
    with threads_for(graph):
        show_mechanisms(console, graph, seed)
        show_broken_claims(console, canary_runs)
        results = show_systems(console, graph, seeds)
        show_study(console, people, seed)
    page = _write(results, out)
    console.print(f"\nThe report: [bold]{page}[/] (open it in a browser); results and privacy statements beside it.")
    if not shutil.which("privet"):
        console.print("The command is in .venv/bin: [bold]. .venv/bin/activate[/]")
    console.print(f"That took {time.perf_counter() - began:.0f} seconds. What to try next:")
    for command, text in (
        ("privet advise --help", "does your study need private data at all, and how much budget?"),
        ("privet study new --help", "declare a study, then serve it"),
        ("privet run inquiry --dataset DIRECTORY", "your own data (the README says what a directory holds)"),
        ("privet table list", "every table and figure of the papers"),
        (f"privet statement {out / 'inquiry.json'}", "the privacy statement as prose"),
    ):
        console.print(f"  [bold]{command}[/]  {text}", soft_wrap=True)


def _check_directory(out: Path) -> None:
    """Two minutes of work should not end with a directory that cannot be written."""
    from privet.cli.files import check_writable

    if out.exists() and not out.is_dir():
        raise BadOption(f"--out takes a directory, and {out} is a file.")
    check_writable((out if out.exists() else out.parent) / "report.html")


def _write(results: list[Result], out: Path) -> Path:
    from privet.reporting.report import write_report

    out.mkdir(exist_ok=True)
    for result in results:
        twins = [other for other in results if other is not result and other.system == result.system]
        parts = [part for part in ("labels", "edges") if twins and result.settings.get(f"epsilon_{part}")]
        result.save(out / ("-".join([result.system, *parts]) + ".json"))
    page = out / "report.html"
    write_report(results, page)
    return page
