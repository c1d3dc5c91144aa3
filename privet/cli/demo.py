"""`privet demo`: mechanisms, broken claims, all systems with controls, a live study and an HTML report in minutes."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from privet.cli.demo_mechanisms import show_broken_claims, show_mechanisms
from privet.cli.demo_study import show_study
from privet.cli.demo_systems import show_systems
from privet.data import social_graph
from privet.data.files import atomic_file
from privet.errors import InvalidParameter
from privet.evaluation.outputs import check_writable
from privet.evaluation.run import write_result
from privet.evaluation.threads import threads_for
from privet.reporting.report import build_report

__all__ = ["run_demo"]

_FEATURES = 16


def run_demo(
    nodes: int, seed: int, out: Path, *, seeds: int = 4, people: int = 1500, canary_runs: int = 15_000
) -> None:
    """Show everything on one synthetic society, and leave the results and their report in a directory."""
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
        ("privet run lpgnn --dataset DIRECTORY", "your own data (the README says what a directory holds)"),
        ("privet table list", "every table and figure of the five papers"),
        (f"privet statement {out / 'lpgnn.json'}", "the privacy statement as prose"),
    ):
        console.print(f"  [bold]{command}[/]  {text}", soft_wrap=True)


def _check_directory(out: Path) -> None:
    """Two minutes of work should not end with a directory that cannot be written."""
    if out.exists() and not out.is_dir():
        raise InvalidParameter("--out", "privet demo", "a directory", f"the file {out}")
    check_writable((out if out.exists() else out.parent) / "report.html")


def _write(results: list[dict[str, Any]], out: Path) -> Path:
    out.mkdir(exist_ok=True)
    for result in results:
        labels = "-labels" if result["settings"].get("epsilon_labels") and result["system"] == "lpgnn" else ""
        write_result(result, out / f"{result['system']}{labels}.json")
    page, _ = build_report([json.loads(json.dumps(result)) for result in results])
    with atomic_file(out / "report.html") as file:
        file.write_text(page, encoding="utf-8")
    return out / "report.html"
