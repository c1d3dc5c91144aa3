"""``privet demo``: one story in about a minute, or everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.app import BadOption, app, check_writable, examples

if TYPE_CHECKING:
    from privet.evaluation.results import Result

__all__ = ["demo", "run_demo"]


@app.command(epilog=examples("privet demo", "privet demo --all", "privet demo --nodes 500 --out my-demo"))
def demo(
    nodes: Annotated[int, typer.Option(min=100, max=100_000, help="People in each synthetic graph.")] = 1200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    everything: Annotated[
        bool, typer.Option("--all", help="Also every mechanism and every system, in some minutes (default: the story).")
    ] = False,
    out: Annotated[Path, typer.Option(help="Directory for the report and the results.")] = Path("privet-demo"),
) -> None:
    """Show what privet does, on synthetic people, in a minute.

    The demo has private answers, friend lists, audits and a live study.
    """
    run_demo(nodes, seed, out, everything=everything)


def run_demo(
    nodes: int,
    seed: int,
    out: Path,
    *,
    everything: bool = False,
    seeds: int = 3,
    people: int = 300,
    audit_runs: int = 200,
) -> None:
    """Tell the demo's story, and leave the results and their report in a directory.

    Args:
        nodes: People in each synthetic graph.
        seed: The seed of the simulation.
        out: The directory for the report and the results.
        everything: True to show every mechanism and every system too.
        seeds: Seeds of each measurement.
        people: People in the live study.
        audit_runs: The most training runs of the attack on a published claim.
    """
    import time

    from rich.console import Console

    began, console = time.perf_counter(), Console(highlight=False)
    _check_directory(out)
    console.print(
        "People, their friends and their secrets, all made up; everything else is real and is computed now. Each part "
        "ends with what was seen."
    )
    with console.status("loading torch and SciPy") as status:
        results = _parts(console, lambda text: status.update(text), nodes, seed, everything, seeds, people, audit_runs)
        _heading(console, "A report")
        status.update("drawing the report")
        page = _write(results, out)
    console.print(
        f"[bold]Seen:[/] {page} opens in a browser.\nResults and privacy statements lie beside it.", soft_wrap=True
    )
    _next_steps(console, out, time.perf_counter() - began)


def _parts(
    console: Any,
    progress: Callable[[str], None],
    nodes: int,
    seed: int,
    everything: bool,
    seeds: int,
    people: int,
    audit_runs: int,
) -> list[Result]:
    """Show every part in turn, and return the results."""
    _heading(console, "One answer a person, instead of a noisy copy")
    from privet.cli.demo import story

    results = story.show_answers(console, nodes, seed, seeds, progress)
    _heading(console, "Friend lists that never leave devices")
    results += story.show_friends(console, nodes, seed, seeds, progress)
    _heading(console, "A trusted holder")
    results += story.show_holder(console, nodes, seed, seeds, progress)
    _heading(console, "Published claims put to the test")
    story.show_claims(console, seed, audit_runs, progress)
    _heading(console, "A live study: from devices over HTTP to a model")
    from privet.cli.demo.study import show_study

    show_study(console, people, seed, progress)
    if everything:
        results += _everything(console, progress, nodes, seed, seeds)
    return results


def _everything(console: Any, progress: Callable[[str], None], nodes: int, seed: int, seeds: int) -> list[Result]:
    from privet.cli.demo.everything import show_mechanisms, show_systems
    from privet.data import social_graph

    graph = social_graph(nodes, features=128, seed=seed)
    _heading(console, "Every mechanism")
    show_mechanisms(console, graph, seed, progress)
    _heading(console, "Every system, beside every control")
    return show_systems(console, graph, seeds, progress)


def _heading(console: Any, text: str) -> None:
    console.print(f"\n[bold underline]{text}[/]")


def _next_steps(console: Any, out: Path, seconds: float) -> None:
    import shutil

    if not shutil.which("privet"):
        console.print("The command is in .venv/bin: [bold]. .venv/bin/activate[/]")
    console.print(f"\nThat took {seconds:.0f} seconds. What to try next:")
    for command, text in (
        ("privet demo --all", "every mechanism and every system"),
        ("privet advise --help", "does your study need private data at all?"),
        ("privet study new --help", "declare a study, then serve it"),
        ("privet run inquiry --dataset DIRECTORY", "your own data"),
        (f"privet statement {out / 'inquiry.json'}", "the privacy statement as prose"),
    ):
        console.print(f"  [bold]{command}[/]  {text}", soft_wrap=True)


def _check_directory(out: Path) -> None:
    """A minute of work should not end with a directory that cannot be written."""
    if out.exists() and not out.is_dir():
        raise BadOption(f"--out takes a directory, and {out} is a file.")
    check_writable((out if out.exists() else out.parent) / "report.html")


def _write(results: list[Result], out: Path) -> Path:
    """Write results and report beside the directory first, so that nothing in it is ever half of a demo."""
    import tempfile

    from privet.reporting.report import write_report

    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".privet-demo-") as unfinished:
        for result in results:
            result.save(Path(unfinished) / f"{_name(result, results)}.json")
        write_report(results, Path(unfinished) / "report.html")
        out.mkdir(exist_ok=True)
        for file in sorted(Path(unfinished).iterdir()):
            file.replace(out / file.name)
    return out / "report.html"


def _name(result: Result, results: list[Result]) -> str:
    """Name a result after its system and, where a system has several, after what they ask for and where."""
    names: dict[str, list[Result]] = {}
    for each in results:
        names.setdefault(each.system, []).append(each)
    number = next(i for i, each in enumerate(names[result.system]) if each is result)
    return result.system if number == 0 else f"{result.system}-{number + 1}"
