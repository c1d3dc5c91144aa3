"""A page of results as HTML without scripts: a file for anybody, a part of the operator's page, and what is published.

Every chart is a table, whose bars are pictures beside the figures that they show. Colours, dark mode and the layout on
phones come from the sheet of the collector's pages, so that there is one palette.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from privet.collection.operator.results.features import ANSWERED, NOT_ASKED, SKIPPED
from privet.collection.operator.results.sources import OTHER
from privet.collection.operator.results.study_results import QuestionResult, StudyResults
from privet.collection.operator.results.words import Words
from privet.estimation.statistics.findings import Scale
from privet.estimation.statistics.intervals import Estimate

__all__ = ["results_page", "results_part"]

_WEB = files("privet.collection.server.http") / "web"
_FEW = 3  # answers whose table stands beside another one


def results_page(results: StudyResults, language: str, *, linked: bool = False) -> str:
    """Return a whole page.

    Args:
        results: The results.
        language: The language of the words around the study's own.
        linked: True to name the collector's sheets, False to put them into the page, which then is one file.
    """
    words = Words(language)
    title = escape(words("title", title=results.study.title))
    sheets = ("style.css", "results.css")
    head = "".join(
        f'<link rel="stylesheet" href="/web/{name}">'
        if linked
        else f"<style>\n{(_WEB / name).read_text(encoding='utf-8')}</style>\n"
        for name in sheets
    )
    foot = words("footer", count=words.number(results.answered), title=results.study.title, id=results.study.id[:12])
    return (
        f'<!doctype html>\n<html lang="{words.tag}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="robots" content="noindex">\n'
        f"<title>{title}</title>\n{head}</head>\n"
        f'<body class="wide">\n<header class="top"><div class="bar"><span class="brand">privet</span></div></header>\n'
        f'<main id="main">\n<h1>{escape(results.study.title)}</h1>\n'
        f'<p class="lead">{escape(results.study.purpose)}</p>\n'
        f"<section><h2>{escape(words('heading'))}</h2>\n{results_part(results, language)}</section>\n</main>\n"
        f"<footer><p>{escape(foot)}</p></footer>\n</body>\n</html>\n"
    )


def results_part(results: StudyResults, language: str) -> str:
    """Return the results alone, as a part of a page that uses the same sheets."""
    words = Words(language)
    parts = [*_people(results, words)]
    if results.answered:
        parts += [f'<div class="results">{"".join(_card(each, words) for each in results.questions)}</div>']
    if results.links:
        parts += [_part(words("links")), _cards(results.links, words)]
    if results.groups:
        parts += [_part(words("by", question=results.by)), _paragraph(words("by-how"), "hint")]
        parts.append(_cards(results.groups, words))
    return "\n".join(parts) + "\n"


def _part(heading: str) -> str:
    return f'<h3 class="part">{escape(heading)}</h3>'


def _cards(results: Sequence[QuestionResult], words: Words) -> str:
    return f'<div class="results">{"".join(_card_of_groups(each, words) for each in _by_key(results))}</div>'


def _people(results: StudyResults, words: Words) -> Iterator[str]:
    """Yield who answered and who did not, and how to read the figures."""
    silent = results.asked - results.answered
    tiles = (
        (words("asked"), words.number(results.asked), ""),
        (words("answered"), words.number(results.answered), _share(results.answered, results.asked, words)),
        (words("silent"), words.number(silent), _share(silent, results.asked, words)),
    )
    cells = (
        f'<div class="tile"><dt>{escape(name)}</dt><dd>{value}<small>{escape(note)}</small></dd></div>'
        for name, value, note in tiles
    )
    yield f'<dl class="tiles">{"".join(cells)}</dl>'
    if not results.answered:
        yield _paragraph(words("nobody"))
        return
    counts = {"answered": words.number(results.answered), "silent": words.number(silent)}
    yield _paragraph(words("nonresponse", **counts) if silent else words("everybody"), "strong-note")
    if results.erasures:
        yield _paragraph(words("erased", count=words.number(results.erasures)))
    yield "".join(_paragraph(words(key), "hint") for key in ("how", "interval", "as-open"))


def _share(part: int, whole: int, words: Words) -> str:
    return words("share-of", share=words.percent(part / whole)) if whole else ""


def _card(result: QuestionResult, words: Words) -> str:
    """Return one question with a bar for each figure."""
    scale = result.finding.scale
    heading = f"<h3>{escape(_question(result, words))}</h3>"
    names = _names(scale, words)
    first = words("answer") if scale.in_percent else ""
    rows = list(zip(names, result.finding.estimates, strict=True))
    body = f"{_basis(result, words)}{_bars(first, rows, scale, result, words)}"
    return f'<article class="card result">{heading}{body}</article>'


def _card_of_groups(results: Sequence[QuestionResult], words: Words) -> str:
    """Return one question, told for each group of people."""
    result = results[0]
    scale = result.finding.scale
    heading = f"<h3>{escape(_question(result, words))}</h3>{_basis(result, words)}"
    if not result.group:
        return _card(result, words)
    wide = " spread" if len(scale.names) > _FEW else ""
    if len(scale.names) > 1:
        body = _matrix(results, words)
    else:
        rows = [(each.group, each.finding.estimates[0]) for each in results]
        body = _bars(words("group"), rows, scale, result, words)
    return f'<article class="card result{wide}">{heading}{body}</article>'


def _basis(result: QuestionResult, words: Words) -> str:
    """Return the sentence that says how many reports there are, and how exact they are."""
    finding = result.finding
    key = "from-panel" if result.shown else "from"
    told: dict[str, object] = {"people": words.number(finding.people)}
    if result.drawn is not None:
        key = "from-drawn" if result.drawn[0] == 1 else "from-drawn-many"
        told |= {"sampled": words.number(result.drawn[0]), "all": words.number(result.drawn[1])}
    parts = [words(key, **told)]
    if not finding.told:
        return _paragraph(f"{parts[0]}. {words('cannot')}", "hint notable")
    if not result.shown and not result.group and math.isfinite(finding.as_open):
        count = math.floor(finding.as_open)
        parts.append(words("exact", count=words.number(count)) if count > 1 else words("exact-few"))
    scale = finding.scale
    if scale.ends is not None:
        parts.append(words("codes", first=scale.ends[0], most=words.number(scale.high), last=scale.ends[1]))
    elif not scale.shares and not scale.counts:
        parts.append(words("of", low=_figure(scale.low, scale, words), high=_figure(scale.high, scale, words)))
    sentence = "; ".join(parts)
    return _paragraph(f"{sentence}.", "hint")


def _bars(first: str, rows: Sequence[tuple[str, Estimate]], scale: Scale, result: QuestionResult, words: Words) -> str:
    """Return a table with a bar and an interval in each row."""
    low, high = _axis(scale, [each for _, each in rows])
    kind = words("share") if scale.in_percent else words("mean")
    head = f'{_heading(first)}{_heading(kind)}<td role="cell"></td>{_heading(words("range"))}'
    body = "".join(
        f'<tr role="row">{_row_heading(name)}<td role="cell" class="figure">{_figure(each.value, scale, words)}</td>'
        f'<td role="cell" class="picture">{_bar(each, low, high, _named(each, scale, words))}</td>'
        f'<td role="cell" class="ends">{_ends(each, scale, words)}</td></tr>'
        for name, each in rows
    )
    return _table("bars", _question(result, words), head, body)


def _matrix(results: Sequence[QuestionResult], words: Words) -> str:
    """Return a table of groups and answers, with the interval below each figure."""
    scale = results[0].finding.scale
    head = "".join(map(_heading, (words("group"), *_names(scale, words))))
    rows = []
    for each in results:
        axis = _axis(scale, each.finding.estimates)
        cells = "".join(
            f'<td role="cell" data-answer="{escape(name)}">{_figure(one.value, scale, words)}'
            f"<small>{_ends(one, scale, words)}</small>{_bar(one, *axis, _named(one, scale, words))}</td>"
            for name, one in zip(_names(scale, words), each.finding.estimates, strict=True)
        )
        rows.append(f'<tr role="row">{_row_heading(each.group)}{cells}</tr>')
    name = _question(results[0], words)
    table = _table("matrix", name, head, "".join(rows))
    return f'<div class="wide-table" role="region" tabindex="0" aria-label="{escape(name)}">{table}</div>'


def _table(kind: str, name: str, head: str, body: str) -> str:
    """Return a table; roles are spelled out because a phone's style sheet lays rows out as blocks."""
    return (
        f'<table role="table" class="{kind}"><caption class="unseen">{escape(name)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def _heading(text: str) -> str:
    if not text:  # no heading, and a reader of the page is told of none
        return '<td role="cell"></td>'
    return f'<th scope="col" role="columnheader">{escape(text)}</th>'


def _row_heading(text: str) -> str:
    return f'<th scope="row" role="rowheader">{escape(text)}</th>'


def _bar(estimate: Estimate, low: float, high: float, name: str) -> str:
    """Return the picture of an estimate and its interval, from the low to the high end of an axis."""

    def place(value: float) -> float:
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)

    left, right = place(estimate.low), place(estimate.high)
    bar = f'<rect class="after" x="0" y="7" width="{place(estimate.value)}" height="10"/>' if estimate.told else ""
    marks = "".join(
        f'<line class="interval" x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}" vector-effect="non-scaling-stroke"/>'
        for x1, x2, y1, y2 in ((left, right, 12, 12), (left, left, 6, 18), (right, right, 6, 18))
    )
    return (
        f'<svg role="img" aria-label="{escape(name)}" class="bar-picture" viewBox="0 0 100 24" '
        'preserveAspectRatio="none">'
        f'<rect class="track" x="0" y="7" width="100" height="10"/>{bar}{marks}</svg>'
    )


def _axis(scale: Scale, estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return the ends of the bars' axis: all that is possible, or as far as counts of people reach."""
    low, high = scale.bounds
    if scale.counts:
        high = max([each.high for each in estimates if math.isfinite(each.high)], default=high) or 1.0
    return low, high


def _figure(value: float, scale: Scale, words: Words) -> str:
    if scale.in_percent:
        return words.percent(value)
    span = scale.high - scale.low
    return words.number(value, 2 if scale.counts or span <= 20 else 1 if span <= 200 else 0)


def _ends(estimate: Estimate, scale: Scale, words: Words) -> str:
    low, high = (_figure(each, scale, words) for each in (estimate.low, estimate.high))
    return words("to", low=low, high=high)


def _names(scale: Scale, words: Words) -> tuple[str, ...]:
    ours = {OTHER: "resemblance-other", ANSWERED: "own-answered", SKIPPED: "own-skipped", NOT_ASKED: "own-not-asked"}
    told = (next((words(key) for name, key in ours.items() if name is each), each) for each in scale.names)
    return tuple(told) or (words("mean"),)


def _named(estimate: Estimate, scale: Scale, words: Words) -> str:
    return f"{_figure(estimate.value, scale, words)} ({_ends(estimate, scale, words)})"


def _question(result: QuestionResult, words: Words) -> str:
    """Return the study's own words of a question, or ours for what a study has no words for."""
    if result.finding.scale.names[:1] == (OTHER,):
        return words("resemblance", name=result.finding.scale.names[1])
    if result.key.endswith("-own"):
        return words("own", question=result.words)
    ours = {"list": "list", "links": "mixing", "friends": "friends", "friends-again": "friends"}
    return words(ours[result.key]) if result.key in ours else result.words


def _by_key(results: Sequence[QuestionResult]) -> list[list[QuestionResult]]:
    """Put the groups of one question together, in the order of the questions."""
    order = list(dict.fromkeys((each.shown, each.key) for each in results))
    ranked = sorted(results, key=lambda each: order.index((each.shown, each.key)))
    return [list(some) for _, some in groupby(ranked, key=lambda each: (each.shown, each.key))]


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"
