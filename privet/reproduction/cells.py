"""A table or figure of a paper: its cells, and what the paper prints in them or says of them."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from privet.errors import InvalidParameter

__all__ = ["Cell", "PublishedTable"]


@dataclass(frozen=True)
class Cell:
    """One figure of a table: a system under some settings on a dataset, and what the paper prints (per cent).

    ``paper`` is None where the paper prints nothing; ``available`` is False where the dataset cannot be had.
    ``protocol`` is what the evaluation does differently, such as a smaller ``label_rate``. In a plot the cell stands
    ``at`` a place of the horizontal axis (called ``tick`` there, if not by its number), on the line of its ``series``,
    in a ``panel`` (that of the dataset, if not named). Without ``controls`` only the system itself is measured.
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


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper; ``task`` is one of ``privet.evaluation.tasks``, ``kinds`` those of its figures to measure
    (all, if none is named). ``statement`` is what the paper says where it prints no numbers, ``remark`` our own word.
    """

    name: str
    title: str
    system: str
    cells: tuple[Cell, ...]
    task: str = "nodes"
    remark: str = ""
    axis: str = "epsilon"
    statement: str = ""
    kinds: tuple[str, ...] = ()

    def only(self, datasets: Sequence[str] = (), condition: str | None = None) -> PublishedTable:
        """The cells of some datasets (all, if none is named) whose conditions match a pattern such as gin*."""
        cells = self.cells
        for option, patterns, field_name in (
            ("--only", datasets, "dataset"),
            ("--condition", [condition] if condition else [], "label"),
        ):
            known = list(dict.fromkeys(getattr(cell, field_name) for cell in cells))
            unknown = [pattern for pattern in patterns if not fnmatch.filter(known, pattern)]
            if unknown:
                raise InvalidParameter(option, "privet table", "among " + "; ".join(known), ", ".join(unknown))
            wanted = (
                {name for pattern in patterns for name in fnmatch.filter(known, pattern)} if patterns else set(known)
            )
            cells = tuple(cell for cell in cells if getattr(cell, field_name) in wanted)
        return replace(self, cells=cells)
