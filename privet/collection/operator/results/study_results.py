"""Results of a study: shares, means and tables of what people answered, from reports and public data alone."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from privet.collection.operator.results.sources import CLASS, Item, RoundReports, Source, read_rounds
from privet.collection.study.manifest import Study
from privet.data.files import atomic_file
from privet.errors import InvalidParameter, PrivetError
from privet.estimation.statistics.findings import Finding, Scale
from privet.estimation.statistics.friends import list_length, mixing
from privet.estimation.statistics.readings import Reading

__all__ = ["ENDINGS", "QuestionResult", "StudyResults", "results_of"]

ENDINGS = (".html", ".csv", ".parquet", ".json")
_LISTS = {"neighbours": "Number of people on their list", "length": "Number of people on their list"}
_MIXING = "The classes of the people with whom they are linked"


@dataclass(frozen=True)
class QuestionResult:
    """The estimated answers to one question, of everybody or of one group.

    Attributes:
        key: The question's key: "class", the number of a feature, "list", "links", or the name of another question.
        words: The question as people read it.
        finding: The figures.
        asked: The number of people who were asked.
        answered: The number of those who sent a report.
        shown: True if a panel showed its answers as they are.
        drawn: The number of features in a report, and of all features, if a report is not about all of them.
        group: The group, in a table by groups; empty for everybody.
    """

    key: str
    words: str
    finding: Finding
    asked: int
    answered: int
    shown: bool = False
    drawn: tuple[int, int] | None = None
    group: str = ""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row of plain values for each figure."""
        for place, each in enumerate(self.finding.estimates):
            names = self.finding.scale.names
            yield {
                "question": self.key,
                "words": self.words,
                "group": self.group,
                "answer": names[place] if names else "mean",
                "estimate": each.value,
                "low": each.low,
                "high": each.high,
                "unbiased": each.unbiased,
                "people": self.finding.people,
                "as_open": self.finding.as_open,
                "asked": self.asked,
                "answered": self.answered,
                "shown_by_panel": self.shown,
            }


@dataclass(frozen=True)
class StudyResults:
    """The estimated answers to all questions of a study.

    Attributes:
        study: The first round of the study.
        asked: The number of people who were asked anything.
        answered: The number of those who reported anything.
        erasures: The number of people whose reports were erased, and are in no figure.
        questions: The questions, in the order in which they are asked; a panel's stand by themselves.
        links: List lengths, friends of each class, and which classes are linked with which.
        by: The question whose groups ``groups`` are about; empty without one.
        groups: The questions again, for each group.
    """

    study: Study
    asked: int
    answered: int
    erasures: int
    questions: tuple[QuestionResult, ...]
    links: tuple[QuestionResult, ...] = ()
    by: str = ""
    groups: tuple[QuestionResult, ...] = field(default=())

    def __repr__(self) -> str:
        """Show what there is on one line."""
        by = f", by {self.by}" if self.by else ""
        return f"StudyResults({self.study.title!r}, {self.answered} of {self.asked} answered{by})"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one row of plain values for each figure."""
        for each in (*self.questions, *self.links, *self.groups):
            yield from each.rows()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        rows = [{name: None if _is_nan(value) else value for name, value in row.items()} for row in self.rows()]
        counts = {"asked": self.asked, "answered": self.answered, "erasures": self.erasures}
        return {"study": self.study.id, "title": self.study.title, **counts, "by": self.by, "rows": rows}

    def to_frame(self) -> Any:
        """Return the figures as a pandas data frame, one row a figure; pandas must be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise PrivetError("to_frame needs pandas: pip install 'privet[learning]'.") from None
        return pandas.DataFrame(list(self.rows()))

    def save(self, path: Path, language: str = "en") -> None:
        """Write the results to a file.

        Args:
            path: The file, whose ending says how: .html, .csv, .parquet or .json.
            language: The language of a page's own words: en, de, fr or es.
        """
        from privet.collection.operator.results.page import results_page

        ending = path.suffix.lower()
        if ending not in ENDINGS:
            raise InvalidParameter(f"{path.name} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")
        with atomic_file(path) as file:
            if ending == ".html":
                file.write_text(results_page(self, language), encoding="utf-8")
            elif ending == ".csv":
                file.write_text(self._csv(), encoding="utf-8")
            elif ending == ".json":
                file.write_text(self._json(), encoding="utf-8")
            else:
                self.to_frame().to_parquet(file)

    def _csv(self) -> str:
        rows, out = list(self.rows()), io.StringIO()
        writer = csv.DictWriter(out, rows[0].keys() if rows else ["question"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def _json(self) -> str:
        return json.dumps(self.to_dict(), indent=2) + "\n"


def results_of(rounds: Sequence[RoundReports], by: str | None = None) -> StudyResults:
    """Estimate what people answered.

    Args:
        rounds: The rounds of a study so far, oldest first.
        by: "class", the number of a question as people count (1 is the first), or its words: each question is then told
            for each group, too, by inverting both randomisations.
    """
    sources = read_rounds(rounds)
    questions = [_result(item, source, item.find()) for source in sources for item in _own(source)]
    links = [_result(item, source, item.find()) for source in sources for item in _counted(source)]
    links += [*_lists(rounds), *_mixed(rounds, sources[0])]
    words, groups = ("", []) if by is None else _tables(rounds[0].study, sources, by)
    users = {int(user) for each in rounds for user in (*each.answers.users, *each.shown.users)}
    asked = max(each.asked + each.panel for each in rounds)
    erasures = rounds[-1].erasures
    return StudyResults(
        rounds[0].study, asked, len(users), erasures, tuple(questions), tuple(links), words, tuple(groups)
    )


def _own(source: Source) -> list[Item]:
    """Return the questions about people themselves, the features before the class."""
    items = [each for each in source.items.values() if not each.scale.counts]
    return sorted(items, key=lambda item: item.key == CLASS)


def _counted(source: Source) -> list[Item]:
    return [each for each in source.items.values() if each.scale.counts]


def _result(item: Item, source: Source, finding: Finding, group: str = "") -> QuestionResult:
    asked = source.asked[item.key]
    return QuestionResult(item.key, item.words, finding, asked, item.answered, source.shown, item.drawn, group)


def _lists(rounds: Sequence[RoundReports]) -> Iterator[QuestionResult]:
    """Yield the mean length of lists, where they or their lengths were asked for."""
    for each in rounds:
        for question in each.answers.release.questions:
            if question.name in _LISTS:
                part = each.answers[question.name]
                found = list_length(part.users, part.reports, question.mechanism, each.study.nodes)
                yield QuestionResult("list", _LISTS[question.name], found, each.asked, len(part))


def _mixed(rounds: Sequence[RoundReports], source: Source) -> Iterator[QuestionResult]:
    """Yield which classes are linked with which, where links are public."""
    study, classes, edges = rounds[0].study, source.classes, rounds[0].edges
    if edges is None or classes is None or not len(classes):
        return
    names = study.class_names or tuple(map(str, range(study.declared.classes)))
    asked = source.asked.get(CLASS, len(classes))
    for name, found in zip(names, mixing(edges, classes, names), strict=True):
        yield QuestionResult("links", _MIXING, found, asked, len(classes), group=name)


def _tables(study: Study, sources: Sequence[Source], by: str) -> tuple[str, list[QuestionResult]]:
    """Return the words of the grouping question, and each other question for each group."""
    key = _key(study, by)
    words, found = "", []
    for source in sources:
        grouping, scale = _grouping(study, source, key)
        if grouping is None or scale is None:
            continue
        words = study.class_question or "Class" if key == CLASS else study.question(int(key) - 1)
        for place, name in enumerate(scale.names):
            members = _column(grouping, place)
            others = (each for each in (*_own(source), *_counted(source)) if each.key != key)
            found += [_result(each, source, each.find_within(members), name) for each in others]
    if not words:
        raise InvalidParameter(f"The study's reports do not tell which group of '{by}' people are in.")
    return words, found


def _grouping(study: Study, source: Source, key: str) -> tuple[Reading | None, Scale | None]:
    """Return what is known about the groups that people are in."""
    if key in source.items:
        item = source.items[key]
        if not item.scale.shares:
            raise InvalidParameter(
                f"'{item.words}' was reported as a number, which does not tell groups of people. Name another question."
            )
        return item.reading, item.scale
    if key == CLASS and source.known is not None:
        names = study.class_names or tuple(map(str, range(study.declared.classes)))
        return source.known, Scale(names, shares=True)
    return None, None


def _column(reading: Reading, place: int) -> Reading:
    one = slice(place, place + 1)
    return Reading(reading.users, reading.symbols[:, one], reading.scale[one], reading.offset[one])


def _key(study: Study, by: str) -> str:
    """Return the key of the question that somebody names."""
    words = [study.question(column) for column in range(study.declared.dimension)]
    known: Mapping[str, str] = {text.casefold(): str(column + 1) for column, text in enumerate(words)}
    wanted = by.strip().casefold()
    if wanted == CLASS or wanted == (study.class_question or CLASS).casefold():
        return CLASS
    if wanted in known:
        return known[wanted]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(words):
        return str(int(wanted))
    raise InvalidParameter(f"There is no question '{by}'. Say class, or a number from 1 to {len(words)}.")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
