"""Results in notebooks: the command line's tables, with means, intervals and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from privet.evaluation.notes import notes, promise

if TYPE_CHECKING:
    from privet.evaluation.results import Figures, Result, Sweep

__all__ = ["result_html", "sweep_html", "table_html"]

_NUMBER = ' style="text-align: right; white-space: nowrap"'
_TEXT = ' style="text-align: left"'


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, texts: int = 1) -> str:
    """Write a table.

    Args:
        head: The names of the columns.
        rows: The cells; those of a row that begins with ``*`` are bold.
        caption: The table's title.
        texts: The number of columns on the left that are texts; the others are numbers, on the right.
    """

    def cells(row: Sequence[str], kind: str) -> str:
        bold = row[0].startswith("*")
        words = [escape(cell.removeprefix("*")) for cell in row]
        shown = [f"<b>{word}</b>" if bold else word for word in words]
        aligned = [_TEXT if place < texts else _NUMBER for place in range(len(row))]
        return "".join(f"<{kind}{align}>{cell}</{kind}>" for align, cell in zip(aligned, shown, strict=True))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    title = f'<caption style="text-align: left">{escape(caption)}</caption>'
    return f"<table>{title}<thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def result_html(result: Result) -> str:
    """Show the system and its controls by their titles, then the verdict, remarks and the promise."""
    rows = [(f"*{result.system}", result.figures), *((each.title, each) for each in result.controls.values())]
    seeds = "one seed" if len(result.seeds) == 1 else f"{len(result.seeds)} seeds"
    table = table_html(
        ("", result.metric, "95 % interval", "std"),
        [(title, f"{each.mean:.1f}", _interval(each), _number(each.std)) for title, each in rows],
        f"{result.system} on {result.dataset}: {result.task}, {seeds}",
    )
    told = filter(None, (result.verdict, *notes(result.facts), promise(result.guarantee)))
    return table + "".join(f"<p>{escape(sentence.replace('+-', '±'))}</p>" for sentence in told)


def sweep_html(sweep: Sweep) -> str:
    """Show a row for each budget: the system's mean with its interval, and the controls' means."""
    first = sweep.points[0]
    controls = list(first.controls)
    head = (sweep.budget, "true epsilon", sweep.system, *(each.short for each in first.controls.values()))
    rows = [
        (
            f"{epsilon:g}",
            f"{point.guarantee.epsilon:.4g}",
            f"{point.mean:.1f} {_interval(point.figures)}",
            *(f"{point.controls[key].mean:.1f}" for key in controls),
        )
        for epsilon, point in zip(sweep.epsilons, sweep.points, strict=True)
    ]
    table = table_html(head, rows, f"{sweep.system} on {sweep.dataset}: {first.metric}", texts=0)
    said = [f"{each.short}: {each.title}" for each in first.controls.values()]
    said = [f"{'; '.join(said)}."] if said else []
    said += [f"At {e:g}: {p.verdict}" for e, p in zip(sweep.epsilons, sweep.points, strict=True) if p.verdict]
    return table + "".join(f"<p>{escape(sentence.replace('+-', '±'))}</p>" for sentence in said)


def _interval(figures: Figures) -> str:
    return "" if figures.half_width is None else f"± {figures.half_width:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
