"""Figures in files: the same bytes for the same input, text as text, nothing left half-written."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from privet.data.files import atomic_file
from privet.errors import InvalidParameter
from privet.reporting.palette import INK, LINE

__all__ = ["check_format", "drawn", "write_figure"]

_FORMATS = (".svg", ".pdf", ".png")
_STYLE: Any = {
    "svg.hashsalt": "privet",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 8.5,
    "text.parse_math": False,  # a name with dollars is a name
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


def check_format(path: Path) -> None:
    """Refuse a file name before anything is measured for it; figures are SVG, PDF or PNG files."""
    if path.suffix not in _FORMATS:
        raise InvalidParameter(f"A figure is a {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]} file, not {path.name}.")


def drawn(draw: Callable[[Any], None], width: float, height: float, kind: str) -> bytes:
    """Draw on a matplotlib figure and return the file's bytes.

    Args:
        draw: Called with the empty figure.
        width: Inches.
        height: Inches.
        kind: svg, pdf or png.
    """
    # Not pyplot: no global state, and no window system is looked for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(stream, format=kind, dpi=150, transparent=kind != "png", metadata=no_date)
    return stream.getvalue()


def write_figure(draw: Callable[[Any], None], width: float, height: float, path: Path) -> None:
    """Draw and write one file, whose ending names the format."""
    check_format(path)
    content = drawn(draw, width, height, path.suffix[1:])
    with atomic_file(path) as file:
        file.write_bytes(content)
