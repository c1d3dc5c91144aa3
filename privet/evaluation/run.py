"""`privet run`: one system on one dataset, with its controls, as one result document."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import privet
from privet.data import Graph
from privet.data.files import atomic_file
from privet.errors import InvalidParameter
from privet.evaluation.ledger import ledger
from privet.evaluation.measure import summary
from privet.evaluation.per_class import collect_classes, is_class_figure
from privet.evaluation.tasks import KIND_TITLES, TASKS, task_of
from privet.evaluation.verdict import needless, verdict
from privet.privacy.statement import write_statement
from privet.systems import AnySystem

__all__ = ["print_result", "run_system", "write_result"]


_SCORES = ("test", "validation", "seconds")


def run_system(
    system: AnySystem,
    graph: Graph,
    dataset: str,
    seeds: int,
    *,
    controls: bool = True,
    done: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure a system and its controls over ``seeds`` splits; ``done`` is called after each figure."""
    began = time.perf_counter()
    guarantee = system.promise(graph)
    if guarantee is None:
        raise InvalidParameter("noise_multiplier", "privet run", "above 0; the run without noise is a control", 0)
    task = TASKS[task_of(system.name)]
    kinds = task.kinds if controls else task.kinds[:1]
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    for seed in range(seeds):
        for kind in kinds:
            found[kind].append(task.measure(kind, system, graph, seed))
            done()
    values = {kind: [one["test"] for one in found[kind]] for kind in kinds}
    last = found[task.kinds[0]][-1]
    result: dict[str, Any] = {
        "system": system.name,
        "dataset": dataset,
        "task": task.title,
        "settings": system.settings(),
        "mechanisms": system.mechanism_names(graph),
        "seeds": list(range(seeds)),
        "metric": task.metric,
        **summary(values["private"]),
        "controls": {kind: summary(values[kind]) for kind in kinds[1:]},
        "per_class": collect_classes(found),
        "guarantee": guarantee.to_dict(),
        "ledger": ledger(system, graph),
        "facts": {name: last[name] for name in last if name not in _SCORES and not is_class_figure(name)},
        "seconds": time.perf_counter() - began,
        "peak_rss_mb": peak_rss_mb(),
        "version": privet.__version__,
    }
    if controls:
        sentences = [
            verdict(result["values"], result["controls"][kind]["values"], subject, KIND_TITLES[kind][1])
            for kind, subject in task.questions
        ]
        if "label_propagation" in result["controls"]:
            simpler = result["controls"]["label_propagation"]["values"]
            sentences.append(needless(result["values"], simpler, "label propagation, which needs no features,"))
        result["verdict"] = " ".join(filter(None, sentences))
    return result


def print_result(result: dict[str, Any]) -> None:
    """The figures beside their controls, the verdict and the guarantee."""
    console = Console()
    guarantee = result["guarantee"]
    table = Table(title=f"{result['system']} on {result['dataset']}: {result['task']}", title_justify="left")
    for column in ("", result["metric"], "std", "epsilon"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row(
        f"[bold]{result['system']}", f"[bold]{result['mean']:.1f}", f"{result['std']:.1f}", _epsilon(guarantee)
    )
    for kind, figures in result["controls"].items():
        epsilon = {"structure_only": "features 0", "non_private": "none"}.get(kind, "")
        table.add_row(KIND_TITLES[kind][1], f"{figures['mean']:.1f}", f"{figures['std']:.1f}", epsilon)
    console.print(table)
    if "verdict" in result:
        console.print(result["verdict"])
    if "reported_pairs" in result["facts"]:
        pairs, noise = (result["facts"][name] for name in ("reported_pairs", "expected_noise"))
        noise = min(noise, pairs)
        console.print(f"Of {pairs:,.0f} reported edges about {noise:,.0f} are noise ({noise / max(pairs, 1):.0%}).")
    console.print(
        f"Protected: {guarantee['unit']} ({guarantee['model']} model), true epsilon {guarantee['epsilon']:.4g}"
        + (f", delta {guarantee['delta']:.2g}." if guarantee["delta"] else ".")
        + f" Not protected: {'; '.join(guarantee['unprotected'])}."
    )


def write_result(result: dict[str, Any], path: str | Path) -> None:
    """``result.json`` and, beside it, the privacy statement; nothing half-written stays behind."""
    target = Path(path)
    with atomic_file(target) as file:
        file.write_text(json.dumps(result, indent=2, sort_keys=True, allow_nan=False) + "\n")
    write_statement(result, target.with_name(target.stem + ".privacy.yaml"))


def peak_rss_mb() -> float:
    """The process's largest resident memory so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _epsilon(guarantee: dict[str, Any]) -> str:
    published = guarantee.get("published_epsilon")
    return f"{guarantee['epsilon']:.4g}" + (f" (paper: {published:.3g})" if published is not None else "")
