"""Figures in files: the same input gives the same bytes, text stays text, and nothing is left half-written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidParameter

__all__ = ["CONTROL_COLOURS", "OURS", "PAPER", "SERIES_COLOURS", "check_format", "figure_in"]

_FORMATS = (".svg", ".pdf", ".png")
# Okabe and Ito's colours, which colour-blind readers can tell apart.
OURS, PAPER = "#0072B2", "#000000"
CONTROL_COLOURS = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
SERIES_COLOURS = (OURS, "#D55E00", "#009E73", "#CC79A7", "#56B4E9")


def check_format(path: Path) -> None:
    """Refuse a file name before anything is measured for it."""
    if path.suffix not in _FORMATS:
        raise InvalidParameter("--plot", "privet", "a file name ending in " + ", ".join(_FORMATS), path.name)


@contextmanager
def figure_in(path: Path, width: float, height: float) -> Iterator[Any]:
    """A figure of so many inches to draw on; it is written when the block ends well."""
    check_format(path)
    # Not pyplot: no global state, and no window system is looked for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "privet", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        with atomic_file(path) as file:
            kind = path.suffix[1:]
            no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
            figure.savefig(file, format=kind, dpi=150, metadata=no_date)
