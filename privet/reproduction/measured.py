"""A measured table: the paper's figures, ours, and what stands beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privet.errors import InvalidData, PrivetError
from privet.evaluation.documents import Document, demand
from privet.evaluation.results import Figures
from privet.privacy import Guarantee

__all__ = ["Table", "TableCell"]

_PLAIN = ("dataset", "condition", "paper", "paper_std", "panel", "series", "at", "tick")
_TEXTS = ("title", "statement", "remark", "task", "metric", "axis", "seeds", "quick", "version")


@dataclass(frozen=True)
class TableCell:
    """One measured cell; the fields up to ``references`` are those of :class:`~privet.reproduction.published.Cell`.

    Attributes:
        measured: Our figures; None where the dataset cannot be had.
        controls: What stands beside them, by key.
        guarantee: The system's promise; None without noise.
    """

    dataset: str
    condition: str
    paper: float | None
    paper_std: float | None
    panel: str
    series: str
    at: float | None
    tick: str
    references: Mapping[str, float] = field(default_factory=dict)
    measured: Figures | None = None
    controls: Mapping[str, Figures] = field(default_factory=dict)
    guarantee: Guarantee | None = None

    @property
    def difference(self) -> float | None:
        """Our figure, rounded as papers print it, minus the paper's; None unless there are both."""
        return None if self.paper is None or self.measured is None else round(self.measured.mean, 1) - self.paper

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        plain = {name: getattr(self, name) for name in _PLAIN} | {"references": dict(self.references)}
        if self.measured is None:
            return {**plain, "measured": None}
        return {
            **plain,
            "measured": self.measured.to_dict(),
            "difference": self.difference,
            "controls": {key: figures.to_dict() for key, figures in self.controls.items()},
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> TableCell:
        """Read what :meth:`to_dict` made."""
        measured, guarantee = document["measured"], document.get("guarantee")
        return cls(
            **{name: document[name] for name in _PLAIN},
            references=document.get("references", {}),  # tables of older versions have none
            measured=None if measured is None else Figures.from_dict(measured),
            controls={key: Figures.from_dict(value, key) for key, value in document.get("controls", {}).items()},
            guarantee=None if guarantee is None else Guarantee.from_dict(guarantee),
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class Table(Document):
    """A published table beside our figures.

    Attributes:
        name: The table's id.
        title: Its title.
        statement: What the paper says where it prints no numbers.
        remark: Our own remark.
        task: The name of the measure.
        metric: The metric and its unit.
        axis: The name of a plot's horizontal axis.
        seeds: The number of seeds.
        quick: Whether the figures only show that the program works.
        percent: Whether figures are in per cent.
        cells: One for each condition and dataset.
        version: The version of privet.
        printed: The name of the column of published figures.
    """

    name: str
    title: str
    statement: str
    remark: str
    task: str
    metric: str
    axis: str
    seeds: int
    quick: bool
    percent: bool
    cells: tuple[TableCell, ...]
    version: str
    printed: str = "paper"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        rest = {"printed": self.printed, "percent": self.percent, "cells": [cell.to_dict() for cell in self.cells]}
        return {"table": self.name, **texts, **rest}

    @classmethod
    def from_dict(cls, document: Any, where: str = "table") -> Table:
        """Read what :meth:`to_dict` made."""
        found = demand(document, ("table", "percent", "cells", *_TEXTS), where, "a table that privet measured")
        try:
            cells = tuple(TableCell.from_dict(cell) for cell in found["cells"])
        except (PrivetError, TypeError, KeyError, ValueError, AttributeError):
            raise InvalidData(f"The cells of {where} cannot be read. Measure the table again.") from None
        texts = {name: found[name] for name in _TEXTS} | {"printed": found.get("printed", "paper")}
        return cls(name=found["table"], percent=found["percent"], cells=cells, **texts)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each cell and column."""
        return [
            {"dataset": cell.dataset, "condition": cell.condition, "figure": key, "paper": cell.paper, "mean": f.mean,
             "std": f.std}
            for cell in self.cells
            if cell.measured is not None
            for key, f in {"ours": cell.measured, **cell.controls}.items()
        ]  # fmt: skip

    def shown(self, figure: float) -> str:
        """Return a figure as tables show it: tenths of a per cent, or three digits."""
        return f"{figure:.1f}" if self.percent else f"{figure:.3g}"

    def __repr__(self) -> str:
        measured = sum(cell.measured is not None for cell in self.cells)
        return f"Table({self.name}: {measured} of {len(self.cells)} cells measured)"
