"""``privet study results``: what people answered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from privet.cli.app import AsJson, check_writable, examples, show
from privet.cli.study import study

if TYPE_CHECKING:
    from privet.collection.operator.results.study_results import QuestionResult, StudyResults


class Language(StrEnum):
    """The language of a page's own words."""

    en = "en"
    de = "de"
    fr = "fr"
    es = "es"


@study.command(
    epilog=examples(
        "privet study results STUDY",
        "privet study results STUDY --by class --out results.html",
        "privet study results reports.parquet --by 3 --out results.csv",
    )
)
def results(
    source: Annotated[
        Path, typer.Argument(metavar="STUDY", help="A study's directory, its public record, or an export of it.")
    ],
    by: Annotated[
        str | None,
        typer.Option(metavar="class|QUESTION", help="Tell each question by group, too (default: for everybody only)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A file to write: .html, .csv, .parquet or .json (default: print).")
    ] = None,
    language: Annotated[Language, typer.Option(help="The language of an HTML page's own words.")] = Language.en,
    as_json: AsJson = False,
) -> None:
    """Estimate what people answered, from their reports alone.

    Every share and mean has a 95 % interval that knows how answers were randomised and which were drawn.
    """
    from privet.collection.operator.results.reading import results_at

    check_writable(out)
    found = results_at(source, by)
    if out is not None:
        found.save(out, language.value)
        typer.echo(f"Wrote what {found.answered:,} people answered to {out}.")
        return
    show(found, _print, as_json)


def _print(found: StudyResults) -> None:
    out = Console(highlight=False, soft_wrap=True)
    out.print(found.study.title, style="bold", markup=False)
    if not found.answered:
        out.print("Nobody has answered yet.")
        return
    silent = found.asked - found.answered
    rate = found.answered / found.asked
    out.print(f"{found.answered:,} of {found.asked:,} people who were asked answered ({rate:.0%}).")
    if silent:
        out.print(f"What the other {silent:,} would have said is in no figure and in no interval.")
    if found.erasures:
        people = "1 person" if found.erasures == 1 else f"{found.erasures:,} people"
        out.print(f"The reports of {people} were erased, and are in no figure.")
    for each in (*found.questions, *found.links):
        _table(out, [each])
    if found.groups:
        out.print(f"\nBy group: {found.by}", style="bold", markup=False)
        for _, some in groupby(_ordered(found.groups), key=lambda each: (each.shown, each.key)):
            _table(out, list(some))


def _ordered(groups: Sequence[QuestionResult]) -> list[QuestionResult]:
    order = list(dict.fromkeys((each.shown, each.key) for each in groups))
    return sorted(groups, key=lambda each: order.index((each.shown, each.key)))


def _table(out: Console, results: Sequence[QuestionResult]) -> None:
    """Print one question, for everybody or for each group."""
    first = results[0]
    out.print(f"\n{first.words}{' (who answered it)' if first.key.endswith('-own') else ''}", markup=False)
    out.print(f"  {_basis(first)}", style="dim", markup=False)
    table = Table(box=None, pad_edge=True, padding=(0, 2))
    grouped = any(each.group for each in results)
    for heading in (*(["Group"] * grouped), "Answer"):
        table.add_column(heading)
    for heading in ("Share" if first.finding.scale.in_percent else "Mean", "95 % interval"):
        table.add_column(heading, justify="right")
    for result in results:
        for row in _rows(result):
            table.add_row(*(([result.group] if grouped else []) + row))
    out.print(table, markup=False)


def _basis(result: QuestionResult) -> str:
    finding = result.finding
    told = f"{finding.people:,} {'people on a panel, who show their answers' if result.shown else 'reports'}"
    if result.drawn is not None:
        drawn, of = result.drawn
        told += f", each about {drawn} of {of} questions, drawn at random"
    if not finding.told:
        return f"{told}: too few, or too noisy, to tell anything"
    if not result.shown and not result.group and math.isfinite(finding.as_open):
        count = math.floor(finding.as_open)
        told += f"; {f'as exact as {count:,}' if count > 1 else 'less exact than 2'} people asked openly"
    return told


def _rows(result: QuestionResult) -> Iterator[list[str]]:
    scale = result.finding.scale
    for name, each in zip(scale.names or ("mean",), result.finding.estimates, strict=True):
        figures = [
            f"{value:.1%}" if scale.in_percent else f"{value:.2f}" for value in (each.value, each.low, each.high)
        ]
        yield [name, figures[0] if each.told else "-", f"{figures[1]} to {figures[2]}"]
