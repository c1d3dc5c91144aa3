"""A table or figure of a paper: its cells, and what the paper prints in them or says of them."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from privet.errors import InvalidParameter
from privet.reproduction.measures import ACCURACY, Measure

__all__ = ["Cell", "PublishedTable"]


@dataclass(frozen=True)
class Cell:
    """One figure of a table.

    Attributes:
        dataset: The dataset's name.
        label: The condition in words.
        settings: The system's settings, on top of the dataset's preset.
        paper: The paper's figure, in per cent; None where it prints nothing.
        paper_std: The paper's standard deviation.
        condition: The variant of the preset.
        available: Whether the dataset can be had.
        at: The cell's place on a plot's horizontal axis.
        panel: The plot's panel (default: the dataset's).
        series: The line that the cell belongs to in a plot.
        tick: The name of its place, where it is not a number.
        protocol: What the evaluation does differently, such as a smaller ``label_rate``.
        controls: Whether anything is measured beside the system itself.
        system: The name of the system that is measured (default: the table's).
        references: Other published figures of the same condition, in per cent, by a short name.
    """

    dataset: str
    label: str
    settings: dict[str, Any] = field(hash=False)
    paper: float | None
    paper_std: float | None = None
    condition: str | None = None
    available: bool = True
    at: float | None = None
    panel: str = ""
    series: str = ""
    tick: str = ""
    protocol: dict[str, Any] = field(default_factory=dict, hash=False)
    controls: bool = True
    system: str = ""
    references: dict[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PublishedTable:
    """A table or a figure of a paper.

    Attributes:
        name: Its id, such as ``lpgnn-3``.
        title: Its title.
        system: The name of the system that it is about.
        cells: Its cells.
        measure: What is measured in them.
        remark: Our own remark about it.
        axis: The name of a plot's horizontal axis.
        statement: What the paper says where it prints no numbers.
        beside: The keys of the columns beside the system's own (default: all that the measure has).
        printed: The name of the column of published figures.
    """

    name: str
    title: str
    system: str
    cells: tuple[Cell, ...]
    measure: Measure = ACCURACY
    remark: str = ""
    axis: str = "epsilon"
    statement: str = ""
    beside: tuple[str, ...] | None = None
    printed: str = "paper"

    def only(self, datasets: Sequence[str] = (), condition: str | None = None) -> PublishedTable:
        """Return the table with fewer cells.

        Args:
            datasets: Patterns of datasets' names (default: all).
            condition: A pattern of conditions, such as ``gin*`` (default: all).
        """
        cells = self.cells
        for parameter, patterns, attribute in (
            ("datasets", datasets, "dataset"),
            ("condition", [condition] if condition else [], "label"),
        ):
            known = list(dict.fromkeys(getattr(cell, attribute) for cell in cells))
            unknown = [pattern for pattern in patterns if not fnmatch.filter(known, pattern)]
            if unknown:
                raise InvalidParameter(parameter, "among " + "; ".join(known), ", ".join(unknown))
            wanted = {name for pattern in patterns or ["*"] for name in fnmatch.filter(known, pattern)}
            cells = tuple(cell for cell in cells if getattr(cell, attribute) in wanted)
        return replace(self, cells=cells)
