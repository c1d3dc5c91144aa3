"""Results as one self-contained HTML page, for people who decide and for papers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidParameter
from privet.evaluation.documents import read_json
from privet.evaluation.results import Figures, Result
from privet.evaluation.sweep import Sweep
from privet.privacy import Guarantee
from privet.privacy.rounding import at_most
from privet.privacy.statement import statement
from privet.reporting.curves import marks, plain, systems_figure, tradeoff_figure
from privet.reporting.drawing import ON_PAGES
from privet.reporting.figures import (
    ReportFigure,
    accuracy_figure,
    asked_figure,
    certified_figure,
    classes_figure,
    deciding,
)
from privet.systems import Fitted

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["build_report", "environment", "inline_figures", "read_results", "slug", "write_report"]

_BUDGETS = {
    "claimed_epsilon",
    "epsilon_edges",
    "epsilon_features",
    "epsilon_labels",
    "epsilon_person",
    "noise_multiplier",
    "seed",
    "target_epsilon",
}
_MOST_CLASSES = 40  # more rows than this are a table's, not a figure's


def write_report(results: Sequence[Result], out: Path, figures: Path | None = None) -> None:
    """Write the page.

    Args:
        results: The results, in the order of the page.
        out: The HTML file.
        figures: A directory to which each figure is also written as SVG and PDF (default: none).
    """
    page, drawn = build_report(results)
    if figures is not None:
        if figures.exists() and not figures.is_dir():
            raise InvalidParameter(f"Figures are written to a directory, and {figures} is a file.")
        figures.mkdir(exist_ok=True)
        for figure in drawn:
            for ending in ("svg", "pdf"):
                figure.write(figures / f"{figure.name}.{ending}")
    with atomic_file(out) as file:
        file.write_text(page, encoding="utf-8")


def read_results(paths: Sequence[Path]) -> list[Result]:
    """Read files of results and of sweeps, whose points are results, and models' directories, in the order given."""
    results: list[Result] = []
    for path in paths:
        if path.is_dir():
            results.append(_of_model(path))
            continue
        document, where = read_json(path), f"file '{path.name}'"
        if isinstance(document, dict) and "points" in document:
            results += Sweep.from_dict({"swept": "epsilon", **document}, where).points
        else:
            results.append(Result.from_dict(document, where))
    return results


def _of_model(path: Path) -> Result:
    """Describe a trained model by its accuracy on the validation labels that the server saw."""
    fitted = Fitted.load(path)
    if fitted.guarantee is None or fitted.validation_score is None:
        raise InvalidData(f"The model in {path.name} has no guarantee or no validation score to report.")
    return Result(
        system=fitted.system,
        dataset=path.name,
        task="a trained model",
        metric="validation accuracy (%)",
        settings=fitted.settings,
        seeds=(0,),
        figures=Figures((100 * fitted.validation_score,)),
        controls={},
        guarantee=fitted.guarantee,
        ledger=fitted.lines,
        mechanisms=tuple(line.mechanism for line in fitted.lines),
        facts={} if fitted.certificate is None else fitted.certificate.facts(),
        version=fitted.version,
        build=fitted.build,
    )


def build_report(results: Sequence[Result]) -> tuple[str, list[ReportFigure]]:
    """Return the page and the figures in it; the same results give the same bytes."""
    if not results:
        raise InvalidParameter("A report needs at least one result.")
    figures: list[ReportFigure] = []
    inline = inline_figures(figures)
    titled = zip(results, marks(results), strict=True)
    page = (
        environment()
        .get_template("report.html")
        .render(
            results=[_view(result, mark, number, inline) for number, (result, mark) in enumerate(titled, 1)],
            palette=ON_PAGES,
            together=[_together(members, number, inline) for number, members in enumerate(_several(results), 1)],
            curves=[_curve(points, number, inline) for number, points in enumerate(_curves(results), 1)],
        )
    )
    return page + "\n", figures


def environment() -> Environment:
    """Return the templates of pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("privet.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"at_most": at_most, "one": _one_digit, "upper_first": _upper_first}
    return made


def inline_figures(figures: list[ReportFigure]) -> Callable[[ReportFigure], str]:
    """Return a function that draws a figure into a page, and notes it in a list.

    Args:
        figures: The figures of the page so far.
    """
    from markupsafe import Markup

    def inline(figure: ReportFigure) -> str:
        figures.append(figure)
        return Markup(figure.inline(f"f{len(figures)}"))  # its words are escaped, the rest is matplotlib's

    return inline


def _view(result: Result, mark: str, number: int, inline: Callable[[ReportFigure], str]) -> dict[str, Any]:
    """Collect what the template shows of one result."""
    name = slug(f"{number}-{result.system}-{result.dataset}")
    main, asked = deciding(result), asked_figure(result, f"asked-{name}")
    certified = certified_figure(result, f"certified-{name}")
    shown = [row for row in result.classes if row.recall is not None]
    classes = 0 < len(shown) <= _MOST_CLASSES
    return {
        "id": f"result-{number}",
        "result": result,
        "verdict": result.verdict.replace("+-", "±"),
        "mark": mark,
        "title": f"{result.system} on {result.dataset}{mark}",
        "guarantee": result.guarantee,
        "factor": _factor(result.guarantee),
        "words": result.guarantee.in_words(),
        "statement": statement(result.to_dict()),
        "interval": _interval(result.figures),
        "rows": [(each, _interval(each)) for each in result.controls.values()],
        "accuracy": inline(accuracy_figure(result, f"accuracy-{name}")),
        "asked": None if asked is None else inline(asked),
        "certified": None if certified is None else inline(certified),
        "main": None if main is None else result.controls[main],
        "main_key": main,
        "class_figure": inline(classes_figure(result, main, f"classes-{name}")) if classes else None,
        "settings": sorted((key, plain(value)) for key, value in result.settings.items()),
    }


def _curves(results: Sequence[Result]) -> list[list[Result]]:
    """Results of one system under one setting on one dataset that differ in epsilon, each group by epsilon."""

    def key(result: Result) -> str:
        rest = {name: value for name, value in result.settings.items() if name not in _BUDGETS}
        what = [result.system, result.dataset, result.task, result.metric, str(result.guarantee.unit)]
        return json.dumps([what, rest], sort_keys=True, default=str)

    groups = []
    for _, members in groupby(sorted(results, key=key), key=key):
        by_epsilon = {point.guarantee.epsilon: point for point in members}
        if len(by_epsilon) > 1:
            groups.append([by_epsilon[epsilon] for epsilon in sorted(by_epsilon)])
    return groups


def _several(results: Sequence[Result]) -> list[list[Result]]:
    """Results of several systems on one dataset in one metric."""

    def key(result: Result) -> tuple[str, str]:
        return result.dataset, result.metric

    groups = (list(members) for _, members in groupby(sorted(results, key=key), key=key))
    return [members for members in groups if len({each.system for each in members}) > 1]


def _together(members: list[Result], number: int, inline: Callable[[ReportFigure], str]) -> dict[str, Any]:
    first = members[0]
    return {
        "title": f"Several systems on {first.dataset}",
        "metric": first.metric,
        "units": len({(each.guarantee.unit, each.guarantee.model) for each in members}),
        "figure": inline(systems_figure(members, slug(f"systems-{number}-{first.dataset}"))),
    }


def _curve(points: list[Result], number: int, inline: Callable[[ReportFigure], str]) -> dict[str, Any]:
    first = points[0]
    name = slug(f"tradeoff-{number}-{first.system}-{first.dataset}")
    return {
        "title": f"{first.system} on {first.dataset}",
        "metric": first.metric,
        "unit": first.guarantee.unit,
        "figure": inline(tradeoff_figure(points, name)),
        "columns": [(key, figures.short) for key, figures in first.controls.items()],
        "points": [(point, _factor(point.guarantee), _interval(point.figures)) for point in points],
    }


def _factor(guarantee: Guarantee) -> str:
    return at_most(guarantee.odds(), 3) if guarantee.epsilon < 50 else f"e^{at_most(guarantee.epsilon)}"


def _interval(figures: Figures) -> str:
    return "one seed" if figures.half_width is None else f"± {figures.half_width:.1f}"


def _one_digit(figure: float | None, missing: str = "no nodes") -> str:
    return missing if figure is None else f"{figure:.1f}"


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def slug(text: str) -> str:
    """Return a text as part of an address or a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
