"""`privet report`: results as one self-contained HTML file, for people who decide and for papers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidData, InvalidParameter, PrivetError
from privet.evaluation.tasks import KIND_TITLES
from privet.evaluation.verdict import confidence_margin
from privet.privacy import Guarantee
from privet.privacy.rounding import at_most
from privet.privacy.statement import statement
from privet.reporting.figures import (
    DECIDING,
    ReportFigure,
    accuracy_figure,
    classes_figure,
    short_title,
    tradeoff_figure,
)

__all__ = ["build_report", "read_results", "write_report"]

_NEEDED = ("system", "dataset", "task", "metric", "mean", "std", "values", "settings", "controls", "guarantee")
_BUDGETS = {"epsilon_features", "epsilon_labels", "epsilon_edges", "target_epsilon", "noise_multiplier", "seed"}
_OPTIONAL: dict[str, Any] = {"ledger": [], "tuning": [], "seconds": None, "peak_rss_mb": None}
_MOST_CLASSES = 40  # more rows than this are a table's, not a figure's


def write_report(paths: Sequence[Path], out: Path, figures: Path | None = None) -> int:
    """Write the page, and each figure as SVG and PDF if a directory for them is named; how many results there are."""
    results = read_results(paths)
    page, drawn = build_report(results)
    if figures is not None:
        if figures.exists() and not figures.is_dir():
            raise InvalidParameter("--figures", "privet report", "a directory", f"the file {figures}")
        figures.mkdir(exist_ok=True)
        for figure in drawn:
            figure.write(figures)
    with atomic_file(out) as file:
        file.write_text(page, encoding="utf-8")
    return len(results)


def read_results(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The result documents in files of `privet run --out` and of `privet sweep --out`, in the order given."""
    results: list[dict[str, Any]] = []
    for path in paths:
        where = f"file '{path.name}'"
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise InvalidData(where, "a result of privet run or privet sweep", "no JSON") from None
        if isinstance(document, dict) and isinstance(document.get("points"), list):
            if not document["points"]:
                raise InvalidData(where, "a sweep with at least one point", "none")
            results += [_checked(point, f"point {i} of {where}") for i, point in enumerate(document["points"])]
        else:
            results.append(_checked(document, where))
    if not results:
        raise InvalidParameter("RESULT", "privet report", "at least one file", "none")
    return results


def build_report(results: Sequence[Mapping[str, Any]]) -> tuple[str, list[ReportFigure]]:
    """The page, and the figures in it; the same results give the same bytes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    figures: list[ReportFigure] = []

    def inline(figure: ReportFigure) -> str:
        figures.append(figure)
        return Markup(figure.inline(f"f{len(figures)}"))  # its words are escaped, the rest is matplotlib's

    environment = Environment(
        loader=PackageLoader("privet.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"at_most": at_most, "one": _one_digit, "upper_first": _upper_first}
    page = environment.get_template("report.html").render(
        results=[_view(result, number, inline) for number, result in enumerate(results, 1)],
        curves=[_curve(points, number, inline) for number, points in enumerate(_curves(results), 1)],
    )
    return page + "\n", figures


def _checked(document: object, where: str) -> dict[str, Any]:
    """A result document, or one sentence that says what is missing."""
    expected = "a result of privet run or privet sweep"
    if not isinstance(document, dict):
        raise InvalidData(where, expected, f"a JSON {type(document).__name__}")
    missing = [name for name in _NEEDED if name not in document]
    if missing:
        raise InvalidData(where, expected, f"one without {', '.join(missing)}")
    try:
        Guarantee.from_dict(document["guarantee"])
        figures = [document, *document["controls"].values()]
        plain = all(isinstance(f["mean"], int | float) and f["values"] for f in figures)
        plain = plain and all(isinstance(value, int | float) for f in figures for value in f["values"])
        plain = plain and isinstance(document["settings"], dict)
    except (PrivetError, TypeError, KeyError, AttributeError):
        plain = False
    if not plain:
        raise InvalidData(where, expected, "one whose guarantee or figures cannot be read")
    order = {kind: place for place, kind in enumerate(KIND_TITLES)}
    controls = sorted(document["controls"].items(), key=lambda item: order.get(item[0], len(order)))
    return {**document, "controls": dict(controls)}


def _view(result: Mapping[str, Any], number: int, inline: Any) -> dict[str, Any]:
    """What the template shows of one result."""
    guarantee = Guarantee.from_dict(dict(result["guarantee"]))
    name = _slug(f"{number}-{result['system']}-{result['dataset']}")
    described = {"version": "unknown", "mechanisms": ["unknown"], **result}
    classes = result.get("per_class", [])
    main = next((kind for kind in (*DECIDING, *result["controls"]) if kind in result["controls"]), None)
    shown = [row for row in classes if row["recall"] is not None]
    return {
        "id": f"result-{number}",
        "result": _OPTIONAL | dict(result),
        "verdict": result.get("verdict", "").replace("+-", "±"),
        "title": f"{result['system']} on {result['dataset']}",
        "guarantee": guarantee,
        "factor": _factor(guarantee),
        "words": guarantee.in_words(),
        "statement": statement(described),
        "interval": _interval(result["values"]),
        "rows": [_row(kind, figures) for kind, figures in result["controls"].items()],
        "accuracy": inline(accuracy_figure(result, f"accuracy-{name}")),
        "classes": classes,
        "main": main,
        "main_short": short_title(main) if main else "",
        "main_title": _title(main) if main else "",
        "class_figure": inline(classes_figure(result, main, f"classes-{name}"))
        if 0 < len(shown) <= _MOST_CLASSES
        else None,
        "settings": sorted((key, _plain(value)) for key, value in result["settings"].items()),
    }


def _row(kind: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "short": short_title(kind),
        "title": _title(kind),
        "mean": figures["mean"],
        "interval": _interval(figures["values"]),
    }


def _curves(results: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Results of one system under one setting on one dataset that differ in epsilon, each group by epsilon."""

    def key(result: Mapping[str, Any]) -> str:
        rest = {name: value for name, value in result["settings"].items() if name not in _BUDGETS}
        what = [result["system"], result["dataset"], result["task"], result["metric"], result["guarantee"]["unit"]]
        return json.dumps([what, rest], sort_keys=True, default=str)

    groups = []
    for _, members in groupby(sorted(results, key=key), key=key):
        by_epsilon = {point["guarantee"]["epsilon"]: point for point in members}
        if len(by_epsilon) > 1:
            groups.append([by_epsilon[epsilon] for epsilon in sorted(by_epsilon)])
    return groups


def _curve(points: list[Mapping[str, Any]], number: int, inline: Any) -> dict[str, Any]:
    first = points[0]
    name = _slug(f"tradeoff-{number}-{first['system']}-{first['dataset']}")
    return {
        "title": f"{first['system']} on {first['dataset']}",
        "metric": first["metric"],
        "unit": first["guarantee"]["unit"],
        "figure": inline(tradeoff_figure(points, name)),
        "kinds": [(kind, _title(kind)) for kind in first["controls"]],
        "points": [
            {
                "epsilon": point["guarantee"]["epsilon"],
                "factor": _factor(Guarantee.from_dict(dict(point["guarantee"]))),
                "mean": point["mean"],
                "interval": _interval(point["values"]),
                "controls": point["controls"],
            }
            for point in points
        ],
    }


def _factor(guarantee: Guarantee) -> str:
    return at_most(guarantee.odds(), 3) if guarantee.epsilon < 50 else f"e^{at_most(guarantee.epsilon)}"


def _interval(values: Sequence[float]) -> str:
    return f"± {confidence_margin(values):.1f}" if len(values) > 1 else "one seed"


def _title(kind: str) -> str:
    return KIND_TITLES[kind][1] if kind in KIND_TITLES else kind.replace("_", " ")


def _plain(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def _one_digit(figure: float | None) -> str:
    return "no nodes" if figure is None else f"{figure:.1f}"


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
