"""Results as documents: JSON files and data frames, tables in notebooks, and remarks that figures alone do not tell."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from privet.data.files import atomic_file
from privet.errors import InvalidData, PrivetError
from privet.evaluation.verdict import seeds_in_words
from privet.privacy import Guarantee
from privet.privacy.rounding import at_most

if TYPE_CHECKING:
    from privet.evaluation.results import Figures, Result
    from privet.evaluation.sweep import Sweep

__all__ = ["Document", "demand", "notes", "promise", "read_json", "result_html", "sweep_html", "table_html"]

_NUMBER = ' style="text-align: right; white-space: nowrap"'
_TEXT = ' style="text-align: left"'


class Document(ABC):
    """A result that is kept as a JSON file."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""

    @classmethod
    @abstractmethod
    def from_dict(cls, document: Any, where: str = "document") -> Self:
        """Read what :meth:`to_dict` made.

        Args:
            document: The plain values.
            where: The document's name in error messages.
        """

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of :meth:`to_frame`, each with the same columns."""

    def to_frame(self) -> Any:
        """Return the figures as a pandas data frame, one row a figure; pandas must be installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise PrivetError("to_frame needs pandas: pip install 'privet[learning]'.") from None
        return pandas.DataFrame(self.rows())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, all of it or nothing."""
        with atomic_file(path) as file:
            file.write_text(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")  # controls keep their order

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote."""
        return cls.from_dict(read_json(path), f"file '{Path(path).name}'")

    def _repr_html_(self) -> str:
        rows = self.rows()
        head = [str(name) for name in rows[0]] if rows else [""]
        return table_html(head, [[_shown(value) for value in row.values()] for row in rows], repr(self))


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file; another file is an error that names it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InvalidData(f"{Path(path).name} is no JSON file. Give a result that privet wrote.") from None


def demand(document: Any, names: tuple[str, ...], where: str, expected: str) -> Mapping[str, Any]:
    """Return the document if it is an object with the named fields; otherwise raise one sentence."""
    if not isinstance(document, dict):
        raise InvalidData(f"The {where} is not {expected}: it is a JSON {type(document).__name__}, not an object.")
    missing = [name for name in names if name not in document]
    if missing:
        raise InvalidData(f"The {where} is not {expected}: it has no {', no '.join(missing)}.")
    return document


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
    table = table_html(
        ("", result.metric, "95 % interval", "std"),
        [(title, f"{each.mean:.1f}", _interval(each), _number(each.std)) for title, each in rows],
        f"{result.system} on {result.dataset}: {result.task}, {seeds_in_words(len(result.seeds))}",
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


def notes(facts: Mapping[str, float]) -> list[str]:
    """Return the remarks on a training, one sentence each.

    Args:
        facts: Public figures of the training, by name.

    >>> notes({"asked": 0.25, "never_offered_7": 1.0, "never_offered_3": 1.0})[1]
    'Classes 3 and 7 were never offered, since nobody of them showed features (last seed).'
    """
    found = []
    if "asked" in facts:
        found.append(f"{100 * facts['asked']:.0f} % of people were asked.")
    absent = sorted(int(name.removeprefix("never_offered_")) for name in facts if name.startswith("never_offered_"))
    if absent:
        *first, last = map(str, absent)
        subject = f"Classes {', '.join(first)} and {last} were" if first else f"Class {last} was"
        whom = "them" if first else "it"
        found.append(f"{subject} never offered, since nobody of {whom} showed features (last seed).")
    certified = [100 * facts.get(f"certified_accuracy_{liars}", 0.0) for liars in (1, 2, 3)]
    if any(certified):
        told = ", ".join(f"{figure:.1f}" for figure in certified)
        found.append(f"Right, and against 1, 2 or 3 lies about friends: {told} % of test nodes (certified, last seed).")
    if "reported_pairs" in facts:
        pairs = facts["reported_pairs"]
        noise = min(facts["expected_noise"], pairs)
        found.append(f"Of {pairs:,.0f} reported edges about {noise:,.0f} are noise ({noise / max(pairs, 1):.0%}).")
    return found


def promise(guarantee: Guarantee) -> str:
    """Say what is protected with which epsilon, and what is not protected."""
    left = "; ".join(guarantee.unprotected)
    if not guarantee.epsilon:
        return f"Nothing private was collected. Not protected: {left}."
    published = guarantee.published_epsilon
    return (
        f"Protected: {guarantee.unit} ({guarantee.trust}), true epsilon at most {at_most(guarantee.epsilon)}"
        + (f" (the paper's claim: {published:.3g})" if published is not None else "")
        + (f", delta at most {at_most(guarantee.delta, 3)}." if guarantee.delta else ".")
        + f" Not protected: {left}."
    )


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _interval(figures: Figures) -> str:
    return "" if figures.half_width is None else f"± {figures.half_width:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
