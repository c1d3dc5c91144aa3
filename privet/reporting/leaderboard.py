"""A leaderboard as one self-contained page: sortable tables by unit, curves by dataset, verdicts and versions."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidParameter
from privet.evaluation.ceiling import CEILING
from privet.evaluation.leaderboard import BESIDE, Entry, Leaderboard
from privet.evaluation.results import Figures, Result
from privet.evaluation.verdict import effect
from privet.reporting.curves import systems_figure
from privet.reporting.drawing import ON_PAGES
from privet.reporting.figures import ReportFigure
from privet.reporting.report import environment, inline_figures, slug

__all__ = ["leaderboard_page", "write_leaderboard"]


def write_leaderboard(board: Leaderboard, out: Path) -> None:
    """Write the page, whole or not at all."""
    with atomic_file(out) as file:
        file.write_text(leaderboard_page(board), encoding="utf-8")


def leaderboard_page(board: Leaderboard) -> str:
    """Return the page; the same figures give the same bytes."""
    if not board.measured:
        raise InvalidParameter("No contender could be measured, so there is no leaderboard to show.")
    from markupsafe import Markup

    figures: list[ReportFigure] = []
    inline = inline_figures(figures)
    datasets = list(dict.fromkeys(each.dataset for each in board.entries))
    ordered = sorted(board.measured, key=_promise)
    units = [_unit(list(members), datasets) for _, members in groupby(ordered, key=_promise)]
    refused = {(each.label, each.dataset, each.refusal) for each in board.entries if each.result is None}
    templates = environment()
    script = Markup(templates.get_template("sort.js").render())
    page = templates.get_template("leaderboard.html").render(
        script=script,
        script_digest="sha256-" + b64encode(sha256(script.encode()).digest()).decode(),
        board=board,
        palette=ON_PAGES,
        datasets=datasets,
        metrics={each.dataset: each.result.metric for each in board.measured if each.result is not None},
        units=units,
        seeds=sorted({len(each.result.seeds) for each in board.measured if each.result is not None}),
        curves=[_curves(dataset, board.measured, inline) for dataset in datasets],
        refused=sorted(refused),
    )
    return page + "\n"


def _promise(entry: Entry) -> tuple[str, str]:
    return ("", "") if entry.result is None else (entry.result.guarantee.model, str(entry.result.guarantee.unit))


def _unit(entries: Sequence[Entry], datasets: Sequence[str]) -> dict[str, Any]:
    """Collect the table of one unit: what stands beside all, then a row for each contender and epsilon."""
    results = [each.result for each in entries if each.result is not None]
    places: dict[tuple[str, float], dict[str, Result]] = {}
    for each in entries:
        if each.result is not None:
            places.setdefault((each.label, each.epsilon), {})[each.dataset] = each.result
    best = {
        (dataset, epsilon): max(
            row[dataset].mean for (_, own), row in places.items() if own == epsilon and dataset in row
        )
        for (_, epsilon), found in places.items()
        for dataset in found
    }
    return {
        "title": str(results[0].guarantee.unit),
        "trust": results[0].guarantee.trust,
        "id": slug(f"{results[0].guarantee.model}-{results[0].guarantee.unit}"),
        "beside": [(key, _beside(key, entries, datasets)) for key in BESIDE if any(key in r.controls for r in results)],
        "rows": [
            (label, epsilon, [_cell(row.get(each), best.get((each, epsilon))) for each in datasets])
            for (label, epsilon), row in sorted(places.items(), key=lambda item: (item[0][1], item[0][0]))
        ],
    }


def _beside(key: str, entries: Sequence[Entry], datasets: Sequence[str]) -> dict[str, Any]:
    """Return what depends on the data alone, by dataset."""
    found: dict[str, Figures] = {}
    for each in entries:
        if each.result is not None and key in each.result.controls:
            found.setdefault(each.dataset, each.result.controls[key])
    first = next(iter(found.values()))
    return {"title": first.title, "figures": [found.get(dataset) for dataset in datasets]}


def _cell(result: Result | None, best: float | None) -> dict[str, Any] | None:
    """Return one figure with its gain over the strongest of what needs no private data."""
    if result is None:
        return None
    free = [figures for key, figures in result.controls.items() if key != CEILING.key]
    strongest = max(free, key=lambda each: each.mean, default=None)
    return {
        "mean": result.mean,
        "half_width": result.figures.half_width,
        "gain": None if strongest is None else result.mean - strongest.mean,
        "words": "" if strongest is None else effect(result.values, strongest.values),
        "verdict": result.verdict,
        "is_best": best is not None and result.mean >= best,
        "claim": result.guarantee.published_epsilon,
    }


def _curves(dataset: str, entries: Sequence[Entry], inline: Callable[[ReportFigure], str]) -> dict[str, Any]:
    """Draw accuracy against epsilon for one dataset, a figure for each unit."""
    own = sorted((each for each in entries if each.dataset == dataset), key=_promise)
    drawn = []
    for (_, unit), members in groupby(own, key=_promise):
        results = [each.result for each in members if each.result is not None]
        drawn.append((unit, inline(systems_figure(results, slug(f"board-{dataset}-{unit}")))))
    return {"dataset": dataset, "figures": drawn}
